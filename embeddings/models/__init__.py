"""Trained models: the folder format, vectors of unseen words, document vectors and inference."""
