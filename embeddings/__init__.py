"""Word vectors: train, judge, search, export."""
