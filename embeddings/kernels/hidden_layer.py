"""Hidden rows that are the mean, the sum or the concatenation of context rows, and backpropagation to contexts."""

import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import inline
from embeddings.kernels.row_operations import address, copy_row, scatter_add, sum_rows
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen, new_step_buffers

HIDDEN, GRADIENT = 0, 1  # of `StepBuffers.hidden_rows`
NO_ROW = 0  # the address of an empty slot, which is zero


@inline
def combine_contexts(buffers: StepBuffers, m: int, width: int, factor: float) -> None:
    """Set the input to h = factor * (x_1 + ... + x_m) of m context rows, and its gradient to zero."""
    hidden, gradient = address(buffers.hidden_rows, HIDDEN), address(buffers.hidden_rows, GRADIENT)
    buffers.hidden_rows[:] = 0
    buffers.factor[0] = factor
    sum_rows(buffers.factor, hidden, buffers.contexts, m, width)
    buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, gradient


@inline
def backprop_to_contexts(buffers: StepBuffers, m: int, width: int, factor: float) -> None:
    """Add the hidden row's gradient g to each of m context rows: x_i += factor * g."""
    buffers.factor[0] = factor
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.contexts, m)
    scatter_add(buffers.factor, address(buffers.hidden_rows, GRADIENT), buffers.contexts, m, width)


@inline
def backprop_to_document(buffers: StepBuffers, m: int, width: int) -> None:
    """Add the hidden row's gradient to the last of m context rows only, the document. Overwrites `inputs[0]`."""
    buffers.inputs[0], buffers.factor[0] = buffers.contexts[m - 1], 1
    scatter_add(buffers.factor, address(buffers.hidden_rows, GRADIENT), buffers.inputs, 1, width)


def new_slot_buffers(targets: int, slots: int, width: int, dtype: type = np.float32) -> StepBuffers:
    """Step buffers for a hidden row that consists of `slots` rows of `width` numbers."""
    buffers = new_step_buffers(1, targets, slots * width, contexts=slots, rows=2, dtype=dtype)
    register_rows(buffers.hidden_rows.reshape(2 * slots, width), buffers.hidden_rows)
    return buffers


@inline
def concatenate_contexts(buffers: StepBuffers, slots: int, width: int) -> None:
    """Set the input to h = [x_1, ..., x_slots], the context rows one after another, and its gradient to zero."""
    hidden, gradient = address(buffers.hidden_rows, HIDDEN), address(buffers.hidden_rows, GRADIENT)
    buffers.hidden_rows[:] = 0
    for slot in range(slots):
        if buffers.contexts[slot] != NO_ROW:
            offset = slot * width * buffers.hidden_rows.itemsize
            copy_row(buffers.hidden_rows, hidden + offset, buffers.contexts[slot], width)
    buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, gradient


@inline
def backprop_to_slots(buffers: StepBuffers, slots: int, width: int) -> None:
    """Add the parts of the hidden row's gradient g to the context rows: x_s += g[s * width : (s + 1) * width].

    Overwrites `inputs[0]`.
    """
    buffers.factor[0] = 1
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.contexts, slots)
    for slot in range(slots):
        if buffers.contexts[slot] != NO_ROW:
            buffers.inputs[0] = buffers.contexts[slot]
            offset = slot * width * buffers.hidden_rows.itemsize
            scatter_add(buffers.factor, address(buffers.hidden_rows, GRADIENT) + offset, buffers.inputs, 1, width)
