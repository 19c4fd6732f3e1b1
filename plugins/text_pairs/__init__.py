"""Static text vectors from pairs of texts: the mean of word vectors, trained so that the texts of a pair are near."""
