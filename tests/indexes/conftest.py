"""Vectors that several tests of indexes search."""

from clustered_vectors import clusters as clusters
from clustered_vectors import shifted_vectors as shifted_vectors
