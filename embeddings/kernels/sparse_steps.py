"""Steps of Adam and AdaGrad on single rows of a table, as for rows whose gradient is sparse.

A row that has no gradient in a batch is left as it is, and so is its state: its moments do not decay. Adam corrects the
bias of moments by the number of batches, so that the first steps of rare rows are larger, as in SparseAdam of PyTorch.
If every row has a gradient in every batch, this is Adam as it was published.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import dispatched, implements, inline
from embeddings.kernels.row_operations import address, prefetch

MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999  # of Adam
ADAM_EPSILON, ADAGRAD_EPSILON = 1e-8, 1e-10


class AdamRows(NamedTuple):
    """A table and the state of Adam (Kingma and Ba 2015).

    values: (rows, width), the parameters.
    moments: (rows, 2 width), the moving averages of their gradients, then those of the squares.
    """

    values: np.ndarray
    moments: np.ndarray


class AdaGradRows(NamedTuple):
    """A table and the state of AdaGrad (Duchi, Hazan and Singer 2011): `moments`, the sums of squared gradients."""

    values: np.ndarray
    moments: np.ndarray


class StepRates(NamedTuple):
    """The learning rate of a batch, and the bias corrections of Adam: of means, and of the roots of squares."""

    rate: float
    mean_correction: float
    root_correction: float


@inline
def step_rates(rate: float, step: float) -> StepRates:
    """The learning rate and the bias corrections of a batch, given its number from 1 on."""
    return StepRates(rate, 1 / (1 - MEAN_DECAY**step), 1 / np.sqrt(1 - SQUARE_DECAY**step))


@dispatched
def step_row(rows: AdamRows | AdaGradRows, i: int, gradient: np.ndarray, rates: StepRates) -> None:
    """One step of row i against its gradient, (width,)."""
    raise NotImplementedError


@implements(AdamRows)
@inline
def step_adam_row(rows: AdamRows, i: int, gradient: np.ndarray, rates: StepRates) -> None:
    """One step of Adam (Kingma and Ba 2015, algorithm 1) with the gradient g of batch t.

    m = .9 m + .1 g    v = .999 v + .001 g^2    x -= rate * m / (1 - .9^t) / (sqrt(v / (1 - .999^t)) + 1e-8)
    """
    x, width = rows.values[i], rows.values.shape[1]
    means, squares = rows.moments[i, :width], rows.moments[i, width:]
    real = x.dtype.type
    keep_mean, keep_square, one = real(MEAN_DECAY), real(SQUARE_DECAY), real(1)
    # Cast once before the loop: a float64 among float32 numbers would widen every operation.
    scale = real(rates.rate * rates.mean_correction)
    correction, epsilon = real(rates.root_correction), real(ADAM_EPSILON)
    for d in range(width):
        g = gradient[d]
        mean = keep_mean * means[d] + (one - keep_mean) * g
        square = keep_square * squares[d] + (one - keep_square) * g * g
        means[d], squares[d] = mean, square
        # The correction of the root is folded in, so that each number takes one division.
        x[d] -= scale * mean / (np.sqrt(square) * correction + epsilon)


@implements(AdaGradRows)
@inline
def step_adagrad_row(rows: AdaGradRows, i: int, gradient: np.ndarray, rates: StepRates) -> None:
    """One step of AdaGrad (Duchi, Hazan and Singer 2011): s += g^2    x -= rate * g / (sqrt(s) + 1e-10)."""
    x, squares = rows.values[i], rows.moments[i]
    scale, epsilon = x.dtype.type(rates.rate), x.dtype.type(ADAGRAD_EPSILON)
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
