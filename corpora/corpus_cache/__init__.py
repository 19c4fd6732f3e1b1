"""The cache of encoded corpora: entries, eviction, locks and temporary folders."""
