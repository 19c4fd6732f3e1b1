"""Search over texts: an index of texts on disk that grows, by vectors, by words (BM25) or by both."""
