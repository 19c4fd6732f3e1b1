"""Evidence from a corpus about vectors: occurrences and shared contexts of words, and how certain results are."""
