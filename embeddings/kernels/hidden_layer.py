"""Hidden rows that are the mean or sum of context rows, and backpropagation to these."""

from embeddings.kernels.jit import inline
from embeddings.kernels.row_operations import address, scatter_add, sum_rows
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen

HIDDEN, GRADIENT = 0, 1  # of `StepBuffers.hidden_rows`


@inline
def combine_contexts(buffers: StepBuffers, m: int, width: int, factor: float) -> None:
    """Set the input to the sum of m context rows times a factor, and its gradient to zero."""
    hidden, gradient = address(buffers.hidden_rows, HIDDEN), address(buffers.hidden_rows, GRADIENT)
    buffers.hidden_rows[:] = 0
    buffers.factor[0] = factor
    sum_rows(buffers.factor, hidden, buffers.contexts, m, width)
    buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, gradient


@inline
def backprop_to_contexts(buffers: StepBuffers, m: int, width: int, factor: float) -> None:
    """Add the hidden row's gradient times a factor to each of m context rows."""
    buffers.factor[0] = factor
    mask_frozen(buffers, buffers.contexts, m)
    scatter_add(buffers.factor, address(buffers.hidden_rows, GRADIENT), buffers.contexts, m, width)


@inline
def backprop_to_document(buffers: StepBuffers, m: int, width: int) -> None:
    """Add the hidden row's gradient to the last of m context rows only, the document. Overwrites `inputs[0]`."""
    buffers.inputs[0], buffers.factor[0] = buffers.contexts[m - 1], 1
    scatter_add(buffers.factor, address(buffers.hidden_rows, GRADIENT), buffers.inputs, 1, width)
