"""Writes the rows of a window into step buffers - contexts, centre, negative samples - and prefetches later ones."""

import numpy as np

from embeddings.compilation.jit import inline
from embeddings.kernels.block import FIRST, LAST, SPACING, Block
from embeddings.kernels.integers import larger, smaller
from embeddings.kernels.row_cache import RowCache, row_address
from embeddings.kernels.row_operations import address, prefetch
from embeddings.kernels.step_buffers import StepBuffers

PREFETCH_DISTANCE = 8  # centres between the prefetch of a context and the first window it is in
MAX_TARGET_DISTANCE = 3  # centres between the prefetch of targets and their use
TARGET_BYTES = 8192  # of targets that are prefetched ahead: more would leave the first-level cache before their use


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
    if i + PREFETCH_DISTANCE < block.cursor[LAST] and block.inputs[i + PREFETCH_DISTANCE] >= cache.uses.shape[0]:
        prefetch(address(table, block.inputs[i + PREFETCH_DISTANCE]), table.shape[1] * table.itemsize)


@inline
def prefetch_targets(block: Block, table: np.ndarray, negatives: int, i: int, slots: int = 1, slot: int = 0) -> None:
    """Prefetch the rows of a centre after i and of its first negative samples, unless the window uses them already."""
    size = table.shape[1] * table.itemsize
    later = i + larger(1, smaller(MAX_TARGET_DISTANCE, TARGET_BYTES // (size * slots * (1 + negatives))))
    if later < block.cursor[LAST]:
        earlier = later - block.cursor[SPACING]
        prefetch(address(table, block.words[later] * slots + slot), size)
        if earlier > i or earlier < block.cursor[FIRST] or block.noise[earlier, 0] != block.noise[later, 0]:
            for j in range(negatives):
                prefetch(address(table, block.noise[later, j] * slots + slot), size)
