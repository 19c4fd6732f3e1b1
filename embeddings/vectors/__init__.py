"""Words and their vectors: look-up, search, comparison, alignment, merging, data frames and files."""
