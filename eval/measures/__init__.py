"""Measures of vectors, one module each."""
