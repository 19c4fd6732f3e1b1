"""Paragraph vectors, distributed memory by concatenation (Le and Mikolov 2014), as in their best results.

The hidden row h of equation 1 there holds the vectors of the document and of its context words side by side, in the
order of positions, and the learned vector "nothing" where a window has no word. Each position has a part of an output
vector o of its own. With y = 1 for the centre and y = 0 for a negative sample:

    h = (d, v_1, ..., v_n)
    g = rate * (y - sigmoid(h · o))    or the step of another objective
    o += g * h                         h += sum of g * o, of o before the step: each row gets its own part

Negative sampling learns from a batch of windows that share negative samples in one step, `ConcatenatedBatches`; other
objectives from one window after another, `ConcatenatedWindows`. Inference updates only d.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.document_kernels import SINGLE_ROWS, TagRows, gather_tags
from embeddings.kernels.hidden_layer import backprop_to_slots, concatenate_contexts
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import address
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import cut_right_contexts, gather_slots, prefetch_context
from embeddings.kernels.window_batch import backprop_to_first_rows, compute_batch_steps, learn_batch, select_batch
from embeddings.objectives.objective import infer_input, predict


class ConcatenatedWindows(NamedTuple):
    """Vectors of documents, words and empty positions, (rows, padded dim), and the objective.

    nothing: (1, padded dim).
    past_only: whether the context is only the words before the centre.
    tags: the rows of documents with several tags; each document has `tag_count`.
    """

    documents: np.ndarray
    words: np.ndarray
    nothing: np.ndarray
    objective: Any
    past_only: bool = False
    tags: TagRows = SINGLE_ROWS
    tag_count: int = 1


class ConcatenatedBatches(NamedTuple):
    """The fields of `ConcatenatedWindows`, and how many windows learn in one step: `batch`."""

    documents: np.ndarray
    words: np.ndarray
    nothing: np.ndarray
    objective: Any
    batch: int
    past_only: bool = False
    tags: TagRows = SINGLE_ROWS
    tag_count: int = 1


@implements(ConcatenatedWindows)
@inline
def learn_window(operands: ConcatenatedWindows, block: Block, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """One step for each window, by any objective; if `frozen`, only document vectors are updated."""
    slots, width = buffers.contexts.shape[0], operands.words.shape[1]
    if operands.past_only:
        cut_right_contexts(block)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        gather_window(operands, block, buffers, buffers.contexts, i, 0, slots)
        concatenate_contexts(buffers, slots, width)
        if frozen:
            infer_input(operands.objective, block, buffers, i, rate)
        else:
            predict(operands.objective, block, buffers, i, 1, rate)
        backprop_to_slots(buffers, 1 if frozen else slots, width)


@implements(ConcatenatedBatches)
@inline
def learn_window_batches(
    operands: ConcatenatedBatches, block: Block, buffers: StepBuffers, rate: float, frozen: bool
) -> None:
    """One step for each batch of windows, by negative sampling; if `frozen`, only document vectors are updated."""
    output, width = operands.objective.output, operands.words.shape[1]
    slots = output.shape[1] // width
    spacing = 2 * context_slots(operands, slots) + 1
    if operands.past_only:
        cut_right_contexts(block)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = select_batch(block, buffers, i, spacing, operands.batch, True)
        for k in range(m):
            gather_window(operands, block, buffers, buffers.inputs, buffers.centres[k], k * slots, slots)
        if m > 0 and frozen:
            compute_batch_steps(block, output, buffers, m, slots, rate)
            backprop_to_first_rows(buffers, m, block.noise.shape[1], slots, width)
        elif m > 0:
            learn_batch(block, output, buffers, m, slots, rate)


@inline
def gather_window(
    operands: Any, block: Block, buffers: StepBuffers, rows: np.ndarray, i: int, first: int, slots: int
) -> None:
    """Write the rows of centre i's document and contexts into `rows`, by position, from slot `first` on."""
    window, empty = context_slots(operands, slots), address(operands.nothing, 0)
    first += gather_tags(block, operands.documents, operands.tags, rows, i, first)
    if not operands.past_only:
        gather_slots(block, operands.words, buffers, rows, i, window, first, empty)
        return
    for slot in range(window):
        c = i - window + slot
        is_empty = c < block.start[i]
        rows[first + slot] = empty if is_empty else row_address(operands.words, buffers.input_cache, block.inputs[c])
    prefetch_context(block, operands.words, buffers.input_cache, i)


@inline
def context_slots(operands: Any, slots: int) -> int:
    """The window of concatenated rows: how many words there are on each side."""
    return int((slots - operands.tag_count) // (1 if operands.past_only else 2))
