"""Rows that collect their gradients instead of taking steps, for tests of kernels against numerical gradients.

The class is part of the package so that the cache of compiled kernels, which refers to it, can be read by any process.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline


class GradientRows(NamedTuple):
    """A table, and the gradients of its rows in the place of moments, both (rows, width)."""

    values: np.ndarray
    moments: np.ndarray


@implements(GradientRows)
@inline
def add_gradient(rows: GradientRows, i: int, gradient: np.ndarray, rate: float) -> None:
    """Add to the gradient of row i."""
    for d in range(gradient.shape[0]):
        rows.moments[i, d] += gradient[d]
