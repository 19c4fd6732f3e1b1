"""Hidden rows made of several rows, and their gradient's way back, as a mean or a sum."""

from embeddings.kernels.jit import piece
from embeddings.kernels.row_operations import address, share, total
from embeddings.kernels.step_buffers import Bundle, hold_still

HIDDEN, GRADIENT = 0, 1  # of `Bundle.rows`


@piece
def combine(bundle: Bundle, m: int, width: int, factor: float) -> None:
    """Let the sum of the m rows of `context` times a factor go in, with nothing as its gradient so far."""
    hidden, gradient = address(bundle.rows, HIDDEN), address(bundle.rows, GRADIENT)
    bundle.rows[:] = 0
    bundle.factor[0] = factor
    total(bundle.factor, hidden, bundle.context, m, width)
    bundle.read[0], bundle.moved[0] = hidden, gradient


@piece
def give_all(bundle: Bundle, m: int, width: int, factor: float) -> None:
    """Add the gradient of the hidden row times a factor to each of the m rows of `context`."""
    bundle.factor[0] = factor
    hold_still(bundle, bundle.context, m)
    share(bundle.factor, address(bundle.rows, GRADIENT), bundle.context, m, width)


@piece
def give_last(bundle: Bundle, m: int, width: int) -> None:
    """Add the gradient of the hidden row to the last of m rows of `context` alone. `read[0]` is used up."""
    bundle.read[0], bundle.factor[0] = bundle.context[m - 1], 1
    share(bundle.factor, address(bundle.rows, GRADIENT), bundle.read, 1, width)
