"""Steps of AdaGrad on single rows of a table, as for rows whose gradient is sparse.

A row that has no gradient in a batch is left as it is, and so is its state.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import dispatched, implements, inline
from embeddings.kernels.row_operations import address, prefetch

EPSILON = 1e-10


class AdaGradRows(NamedTuple):
    """A table and the state of AdaGrad (Duchi, Hazan and Singer 2011): `moments`, the sums of squared gradients."""

    values: np.ndarray
    moments: np.ndarray


@dispatched
def step_row(rows: Any, i: int, gradient: np.ndarray, rate: float) -> None:
    """One step of row i against its gradient, (width,)."""


@implements(AdaGradRows)
@inline
def step_adagrad_row(rows: AdaGradRows, i: int, gradient: np.ndarray, rate: float) -> None:
    """One step of AdaGrad (Duchi, Hazan and Singer 2011): s += g^2    x -= rate * g / (sqrt(s) + 1e-10)."""
    x, squares = rows.values[i], rows.moments[i]
    # Cast once before the loop: a float64 among float32 numbers would widen every operation.
    scale, epsilon = x.dtype.type(rate), x.dtype.type(EPSILON)
    for d in range(x.shape[0]):
        g = gradient[d]
        square = squares[d] + g * g
        squares[d] = square
        x[d] -= scale * g / (np.sqrt(square) + epsilon)


@inline
def prefetch_row(rows: Any, i: int) -> None:
    """Prefetch row i and its moments."""
    prefetch(address(rows.values, i), rows.values.shape[1] * rows.values.itemsize)
    prefetch(address(rows.moments, i), rows.moments.shape[1] * rows.moments.itemsize)
