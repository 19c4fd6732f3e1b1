"""The local page of `embeddings explore`: search, comparison and a map of vectors, served to one user."""
