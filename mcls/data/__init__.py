"""Data: cards, sources, cache, parsers and CSV reading."""
