"""Evaluation of vectors made by anyone."""
