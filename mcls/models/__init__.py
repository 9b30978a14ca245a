"""Models for the user's own tables: choosing, encoding, saving and loading, predicting, judging."""
