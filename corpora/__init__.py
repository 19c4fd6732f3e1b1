"""Raw text to encoded corpora."""
