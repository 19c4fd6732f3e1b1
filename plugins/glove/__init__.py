"""GloVe: word vectors from weighted co-occurrence counts."""
