"""Trained models: the folder format, composition of unseen words, document vectors and inference."""
