"""Error-correcting output codes: coding matrices, decoders and the criteria that design them."""
