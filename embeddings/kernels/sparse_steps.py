"""Steps of Adam and AdaGrad on single rows of a table, as for rows whose gradient is sparse.

A row that has no gradient in a batch is left as it is, and so is its state: its moments do not decay, and its steps are
not counted. Adam corrects the bias of each row by the number of its own steps. If every row has a gradient in every
batch, this is Adam as it was published.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import dispatched, implements, inline
from embeddings.kernels.row_operations import address, prefetch

MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999  # of Adam
ADAM_EPSILON, ADAGRAD_EPSILON = 1e-8, 1e-10


class AdamRows(NamedTuple):
    """A table and the state of Adam (Kingma and Ba 2015).

    values: (rows, width), the parameters.
    moments: (rows, 2 width), the moving averages of their gradients, then those of the squares.
    powers: (rows, 16), the decay rates of both to the power of the number of steps, 1 before the first one.
    """

    values: np.ndarray
    moments: np.ndarray
    powers: np.ndarray


class AdaGradRows(NamedTuple):
    """A table and the state of AdaGrad (Duchi, Hazan and Singer 2011): `moments`, the sums of squared gradients."""

    values: np.ndarray
    moments: np.ndarray


@dispatched
def step_row(rows: AdamRows | AdaGradRows, i: int, gradient: np.ndarray, rate: float) -> None:
    """One step of row i against its gradient, (width,)."""
    raise NotImplementedError


@implements(AdamRows)
@inline
def step_adam_row(rows: AdamRows, i: int, gradient: np.ndarray, rate: float) -> None:
    """One step of Adam."""
    x, width = rows.values[i], rows.values.shape[1]
    means, squares = rows.moments[i, :width], rows.moments[i, width:]
    real = x.dtype.type
    keep_mean, keep_square, one = real(MEAN_DECAY), real(SQUARE_DECAY), real(1)
    rows.powers[i, 0] *= keep_mean
    rows.powers[i, 1] *= keep_square
    scale = real(rate) / (one - rows.powers[i, 0])
    correction, epsilon = one / np.sqrt(one - rows.powers[i, 1]), real(ADAM_EPSILON)
    for d in range(width):
        g = gradient[d]
        mean = keep_mean * means[d] + (one - keep_mean) * g
        square = keep_square * squares[d] + (one - keep_square) * g * g
        means[d], squares[d] = mean, square
        x[d] -= scale * mean / (np.sqrt(square) * correction + epsilon)


@implements(AdaGradRows)
@inline
def step_adagrad_row(rows: AdaGradRows, i: int, gradient: np.ndarray, rate: float) -> None:
    """One step of AdaGrad."""
    x, squares = rows.values[i], rows.moments[i]
    scale, epsilon = x.dtype.type(rate), x.dtype.type(ADAGRAD_EPSILON)
    for d in range(x.shape[0]):
        g = gradient[d]
        square = squares[d] + g * g
        squares[d] = square
        x[d] -= scale * g / (np.sqrt(square) + epsilon)


@inline
def prefetch_row(rows: AdamRows | AdaGradRows, i: int) -> None:
    """Prefetch row i and its moments."""
    prefetch(address(rows.values, i), rows.values.shape[1] * rows.values.itemsize)
    prefetch(address(rows.moments, i), rows.moments.shape[1] * rows.moments.itemsize)
