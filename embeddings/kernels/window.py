"""The rows of a window in step buffers: contexts, centre and negative samples are gathered, and later ones prefetched.

Contexts become a hidden row, their mean, sum or concatenation, whose gradient goes back to them.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import inline
from embeddings.kernels.block import FIRST, LAST, SPACING, Block
from embeddings.kernels.integers import Int, larger, smaller
from embeddings.kernels.row_cache import RowCache, row_address
from embeddings.kernels.row_operations import address, copy_row, prefetch, scatter_add, sum_rows
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen, new_step_buffers

PREFETCH_DISTANCE = 8  # centres between the prefetch of a context and the first window it is in
MAX_TARGET_DISTANCE = 3  # centres between the prefetch of targets and their use
TARGET_BYTES = 8192  # of targets that are prefetched ahead: more would leave the first-level cache before their use


class OutputSlot(NamedTuple):
    """Which of the output rows of each word is used: row `word * per_word + number` of the output table."""

    per_word: int
    number: int


ONLY_SLOT = OutputSlot(1, 0)  # of words with one output row each


@inline
def gather_inputs(block: Block, table: np.ndarray, buffers: StepBuffers, i: int) -> int:
    """Make centre i's contexts, left to right, the inputs of the next step; returns how many there are."""
    return gather_rows(block, table, buffers.input_cache, buffers.inputs, buffers.input_gradient_rows, i)


@inline
def gather_inputs_at(block: Block, table: np.ndarray, buffers: StepBuffers, i: int, nearest: int, farthest: int) -> int:
    """Make the contexts at offsets `nearest` to `farthest` from centre i the inputs; returns how many there are."""
    m = 0
    for c in range(larger(block.start[i], i + nearest), smaller(block.stop[i], i + farthest + 1)):
        buffers.inputs[m] = buffers.input_gradient_rows[m] = address(table, block.inputs[c])
        m += 1
    return m


@inline
def gather_contexts(block: Block, table: np.ndarray, buffers: StepBuffers, i: int) -> int:
    """Write the rows of centre i's contexts, left to right, into `contexts`; returns how many there are."""
    return gather_rows(block, table, buffers.input_cache, buffers.contexts, buffers.contexts, i)


@inline
def gather_rows(
    block: Block, table: np.ndarray, cache: RowCache, rows: np.ndarray, gradient_rows: np.ndarray, i: int
) -> int:
    """Write the row addresses of centre i's contexts into two arrays, and prefetch a context of a later centre.

    A single loop, as the end of a loop over windows of random sizes is often mispredicted.
    """
    start = block.start[i]
    m: int = block.stop[i] - start - 1
    for j in range(m):
        # c + (c >= i) skips the centre without a branch.
        c = start + j
        rows[j] = gradient_rows[j] = row_address(table, cache, np.int64(block.inputs[c + (c >= i)]))
    prefetch_context(block, table, cache, i)
    return m


@inline
def slot_index(c: int, i: int, window: int) -> int:
    """The position of context c around centre i: 0 for the leftmost, `2 window - 1` for the rightmost."""
    return c - i + window - (c > i)


@inline
def gather_slots(
    block: Block, table: np.ndarray, buffers: StepBuffers, rows: np.ndarray, i: int, window: int, first: int, empty: int
) -> None:
    """Write the rows of centre i's contexts into `rows`, by position, from slot `first` on; `empty` elsewhere."""
    rows[first : first + 2 * window] = empty
    for c in range(block.start[i], block.stop[i]):
        if c != i:
            row = row_address(table, buffers.input_cache, np.int64(block.inputs[c]))
            rows[first + slot_index(c, i, window)] = row
    prefetch_context(block, table, buffers.input_cache, i)


@inline
def cut_right_contexts(block: Block) -> None:
    """Remove the words after each centre from its window."""
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        block.stop[i] = i + 1


@inline
def prefetch_context(block: Block, table: np.ndarray, cache: RowCache, i: int) -> None:
    """Prefetch a context of a centre after i."""
    # Frequent rows are in the thread's own cache already; the table's row would only evict others.
    if i + PREFETCH_DISTANCE < block.cursor[LAST] and block.inputs[i + PREFETCH_DISTANCE] >= cache.uses.shape[0]:
        prefetch(address(table, block.inputs[i + PREFETCH_DISTANCE]), table.shape[1] * table.itemsize)


@inline
def prefetch_targets(
    block: Block, table: np.ndarray, cache: RowCache, negatives: int, i: int, slot: OutputSlot
) -> None:
    """Prefetch the rows of a centre after i and of its first negative samples, unless they are in the cache already."""
    size, cached = table.shape[1] * table.itemsize, cache.uses.shape[0]
    # Further ahead for short rows, whose step takes less time than a load from memory.
    later = i + larger(1, smaller(MAX_TARGET_DISTANCE, TARGET_BYTES // (size * slot.per_word * (1 + negatives))))
    if later < block.cursor[LAST]:
        earlier = later - block.cursor[SPACING]
        prefetch_target(table, block.words[later] * slot.per_word + slot.number, cached, size)
        # The window `spacing` before may have drawn the same samples; then they are in the cache, unless it was before
        # this block, or one of many threads has written them since.
        is_new = earlier > i or earlier < block.cursor[FIRST] or block.noise[earlier, 0] != block.noise[later, 0]
        if is_new or cached > 0:
            for j in range(negatives):
                prefetch_target(table, block.noise[later, j] * slot.per_word + slot.number, cached, size)


@inline
def prefetch_target(table: np.ndarray, row: Int, cached: int, size: int) -> None:
    """Prefetch a row of the output table, unless the thread has a copy."""
    if row >= cached:
        prefetch(address(table, row), size)


HIDDEN, GRADIENT = 0, 1  # of `StepBuffers.hidden_rows`
NO_ROW = 0  # the address of an empty slot, which is zero


@inline
def combine_contexts(buffers: StepBuffers, m: int, width: int, factor: float) -> None:
    """Set the input to h = factor * (x_1 + ... + x_m) of m context rows, and its gradient to zero."""
    hidden, gradient = address(buffers.hidden_rows, HIDDEN), address(buffers.hidden_rows, GRADIENT)
    # Both rows: `sum_rows` adds to the hidden row, and the step adds to the gradient.
    buffers.hidden_rows[:] = 0
    buffers.factor[0] = factor
    sum_rows(buffers.factor, hidden, buffers.contexts, m, width)
    buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, gradient


@inline
def backprop_to_contexts(buffers: StepBuffers, m: int, width: int, factor: float) -> None:
    """Add the hidden row's gradient g to each of m context rows: x_i += factor * g."""
    # For a mean the factor is 1 in word2vec and fastText, although the derivative is 1 / m; the caller decides.
    buffers.factor[0] = factor
    # Here and not when contexts are gathered: the forward pass needs the frozen rows.
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
