"""Recall and speed of neighbour indexes."""
