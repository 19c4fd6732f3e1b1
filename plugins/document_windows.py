"""Steps of a document and a context window that together predict a word, for `embeddings.plugins.paragraph_dm`."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.hidden_layer import (
    backprop_to_contexts,
    backprop_to_document,
    backprop_to_slots,
    combine_contexts,
    concatenate_contexts,
)
from embeddings.kernels.jit import inline
from embeddings.kernels.row_cache import cached_row
from embeddings.kernels.row_operations import address, sum_rows
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.tag_rows import SINGLE_ROWS, TagRows, gather_tags
from embeddings.kernels.window import gather_contexts, gather_slots, prefetch_context
from embeddings.kernels.window_batch import backprop_to_first_rows, compute_batch_steps, learn_batch, select_batch
from embeddings.objectives.objective import infer_input, predict

COMBINATIONS = ("mean", "sum", "concat")
MEAN, SUM, CONCAT = range(3)  # of `Operands.combine`


class Operands(NamedTuple):
    """Vectors of documents and words (rows, padded dim), the objective, and how they are combined.

    nothing: (1, padded dim), with CONCAT the learned vector of empty positions.
    batch: concatenated windows that learn in one step.
    past_only: whether the context is only the words before the centre.
    tags: the rows of documents with several tags; with CONCAT each document has `tag_count`.
    averages_tags: whether the rows of a document count as one, their mean, or as one each.
    """

    documents: np.ndarray
    words: np.ndarray
    nothing: np.ndarray
    objective: Any
    combine: int
    batch: int
    past_only: bool = False
    tags: TagRows = SINGLE_ROWS
    tag_count: int = 1
    averages_tags: bool = True


@inline
def learn_combined(block: Block, operands: Operands, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """CBOW with the document's rows as more contexts; if `frozen`, only the first one of these is updated."""
    width = operands.words.shape[1]
    cut_windows(block, operands)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_contexts(block, operands.words, buffers, i)
        t = gather_tags(block, operands.documents, operands.tags, buffers.contexts, i, m)
        if operands.averages_tags and t > 1:
            factor = 1 / (m + 1) if operands.combine == MEAN else 1.0
            combine_contexts(buffers, m, width, factor)
            buffers.factor[0] = factor / t
            sum_rows(buffers.factor, buffers.inputs[0], buffers.contexts[m:], t, width)
        else:
            combine_contexts(buffers, m + t, width, 1 / (m + t) if operands.combine == MEAN else 1.0)
        if frozen:
            infer_input(operands.objective, block, buffers, i, rate)
            backprop_to_document(buffers, m + 1, width)
        else:
            predict(operands.objective, block, buffers, i, 1, rate)
            backprop_to_contexts(buffers, m + t, width, 1.0)


@inline
def learn_windows(block: Block, operands: Operands, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """Batches of concatenated windows; if `frozen`, only document vectors are updated."""
    output, width = operands.objective.output, operands.words.shape[1]
    slots = output.shape[1] // width
    spacing = 2 * context_slots(operands, slots) + 1
    cut_windows(block, operands)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = select_batch(block, buffers, i, spacing, operands.batch, True)
        for k in range(m):
            gather_window(block, operands, buffers, buffers.inputs, buffers.centres[k], k * slots, slots)
        if m > 0 and frozen:
            compute_batch_steps(block, output, buffers, m, slots, rate)
            backprop_to_first_rows(buffers, m, block.noise.shape[1], slots, width)
        elif m > 0:
            learn_batch(block, output, buffers, m, slots, rate)


@inline
def learn_window(block: Block, operands: Operands, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """Concatenated windows one by one; if `frozen`, only document vectors are updated."""
    slots, width = buffers.contexts.shape[0], operands.words.shape[1]
    cut_windows(block, operands)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        gather_window(block, operands, buffers, buffers.contexts, i, 0, slots)
        concatenate_contexts(buffers, slots, width)
        if frozen:
            infer_input(operands.objective, block, buffers, i, rate)
        else:
            predict(operands.objective, block, buffers, i, 1, rate)
        backprop_to_slots(buffers, 1 if frozen else slots, width)


@inline
def gather_window(
    block: Block, operands: Operands, buffers: StepBuffers, rows: np.ndarray, i: int, first: int, slots: int
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
        rows[first + slot] = empty if is_empty else cached_row(operands.words, buffers.input_cache, block.inputs[c])
    prefetch_context(block, operands.words, buffers.input_cache, i)


@inline
def cut_windows(block: Block, operands: Operands) -> None:
    """Remove the words after each centre from its window, if only those before it count."""
    if operands.past_only:
        for i in range(block.cursor[FIRST], block.cursor[LAST]):
            block.stop[i] = i + 1


@inline
def context_slots(operands: Operands, slots: int) -> int:
    """The window of concatenated rows: how many words there are on each side."""
    return (slots - operands.tag_count) // (1 if operands.past_only else 2)
