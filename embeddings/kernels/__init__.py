"""The compiled heart: every piece a trainer is made of, each written once."""
