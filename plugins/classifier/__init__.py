"""Text classification: the mean of the rows of words and n-grams predicts labels (Joulin et al. 2017)."""
