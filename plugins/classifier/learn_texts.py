"""The kernel of the classifier: the mean of a text's rows predicts its labels."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.hidden_layer import GRADIENT, HIDDEN
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.long_row_lists import scatter_add_row_list, sum_row_list
from embeddings.kernels.row_operations import address, prefetch_l2
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen
from embeddings.objectives.objective import predict
from embeddings.plugins.classifier.text_stream import FILLED, LabelledBlock

TILE = 4096  # rows whose addresses are in memory at a time
ITEM, ROW, DONE = range(3)  # of `Operands.cursor`


class Operands(NamedTuple):
    """What one thread works on.

    inputs: the rows of words and n-grams, (rows, padded dim).
    items, starts, subword_starts, subword_rows: see `TextFeatures`.
    cursor: int64 (3,), scratch: the next item of a text, the next row in it, and how many rows were read.
    objective: the operand of the objective.
    """

    inputs: np.ndarray
    items: np.ndarray
    starts: np.ndarray
    subword_starts: np.ndarray
    subword_rows: np.ndarray
    cursor: np.ndarray
    objective: Any


@entry_point
def learn_texts(block: LabelledBlock, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """One step for each text: h is the mean of its rows, and each row gets its share of the gradient of h."""
    size = block.cursor[FILLED]
    for k in range(size):
        if k + 1 < size:
            prefetch_text(operands, block.texts[k + 1])
        learn_text(operands, block, buffers, k, rate)


@inline
def learn_text(operands: Operands, block: LabelledBlock, buffers: StepBuffers, k: int, rate: float) -> None:
    """One step for text k of the block."""
    text, width = block.texts[k], operands.inputs.shape[1]
    hidden = address(buffers.hidden_rows, HIDDEN)
    buffers.hidden_rows[:] = 0
    buffers.factor[0] = 1
    start_text(operands, text)
    m = gather_rows(operands, buffers.contexts, text)
    count = m
    while m > 0:
        sum_row_list(buffers.factor, hidden, buffers.contexts, m, width)
        if count < TILE:
            break
        m = gather_rows(operands, buffers.contexts, text)
        count += m
    scale = buffers.hidden_rows.dtype.type(1 / count)
    for d in range(width):
        buffers.hidden_rows[HIDDEN, d] *= scale
    buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, address(buffers.hidden_rows, GRADIENT)
    predict(operands.objective, block, buffers, k, 1, rate)  # type: ignore[arg-type]  # it has the same fields
    if count < TILE:  # the addresses are still there
        backprop_to_rows(buffers, count, width, 1 / count)
        return
    start_text(operands, text)
    m = gather_rows(operands, buffers.contexts, text)
    while m > 0:
        backprop_to_rows(buffers, m, width, 1 / count)
        m = gather_rows(operands, buffers.contexts, text)


@inline
def backprop_to_rows(buffers: StepBuffers, m: int, width: int, factor: float) -> None:
    """Add the hidden row's gradient times a factor to each of m rows of a text."""
    buffers.factor[0] = factor
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.contexts, m)
    scatter_add_row_list(buffers.factor, address(buffers.hidden_rows, GRADIENT), buffers.contexts, m, width)


@inline
def start_text(operands: Operands, text: int) -> None:
    """Go to the first row of a text."""
    operands.cursor[ITEM], operands.cursor[ROW] = operands.starts[text], 0


@inline
def gather_rows(operands: Operands, rows: np.ndarray, text: int) -> int:
    """Write the addresses of the next rows of a text; returns how many."""
    m, at, end = 0, operands.cursor[ITEM], operands.starts[text + 1]
    if operands.subword_rows.shape[0] == 0:
        m = smaller(TILE, end - at)
        for k in range(m):
            rows[k] = address(operands.inputs, operands.items[at + k])
        operands.cursor[ITEM] = at + m
        return m  # type: ignore[no-any-return]
    done = operands.cursor[ROW]
    while m < TILE and at < end:
        item = np.int64(operands.items[at])
        if item >= 0:
            rows[m] = address(operands.inputs, item)
            m += 1
            at += 1
            continue
        first, last = operands.subword_starts[~item] + done, operands.subword_starts[~item + 1]
        taken = smaller(TILE - m, last - first)
        for k in range(taken):
            rows[m + k] = address(operands.inputs, operands.subword_rows[first + k])
        m += taken
        done += taken
        if first + taken == last:
            at += 1
            done = 0
    operands.cursor[ITEM], operands.cursor[ROW] = at, done
    return m


@inline
def prefetch_text(operands: Operands, text: int) -> None:
    """Prefetch the first rows of a text."""
    size = operands.inputs.shape[1] * operands.inputs.itemsize
    begin = operands.starts[text]
    for k in range(begin, smaller(operands.starts[text + 1], begin + TILE)):
        item = np.int64(operands.items[k])
        if item >= 0:
            prefetch_l2(address(operands.inputs, item), size)
            continue
        for j in range(operands.subword_starts[~item], operands.subword_starts[~item + 1]):
            prefetch_l2(address(operands.inputs, operands.subword_rows[j]), size)
