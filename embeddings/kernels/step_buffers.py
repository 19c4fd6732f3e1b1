"""One SGD step of negative sampling, for any model: input rows H, target rows O, labels Y and weights W.

    S = H O'    G = rate W (Y - sigmoid(S))    O += G' H    and H's gradient, G O, is added to the gradient rows

A model writes row addresses into its buffers and calls `learn`. Input rows may be table rows, updated in place, or
hidden rows that the model computes from several rows (a mean or a sum) and whose gradient it propagates back to them.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import inline, noinline
from embeddings.kernels.logistic import logistic_loss, scores_to_steps
from embeddings.kernels.matrix_products import SCORE_TILE, UPDATE_TILE
from embeddings.kernels.row_cache import MAX_CACHED_ROWS, RowCache
from embeddings.kernels.row_operations import PADDING, address, copy_row, score, sum_rows, update

LOSS_INTERVAL = 64  # steps from one loss measurement to the next
LOSS, PAIRS, UNTIL_SAMPLE, STEPS = range(4)  # of `StepBuffers.tally`
TABLE_ADDRESS, ROW_BYTES, SINK_ADDRESS = range(3)  # of `StepBuffers.frozen_sink`
SINK_START = 8  # int64 items before the sink row: a cache line
NO_ROW_FROZEN = np.zeros(0, np.bool_)


class StepBuffers(NamedTuple):
    """A thread's scratch memory. Rows are given by address.

    inputs: (inputs,) rows of H; input_gradient_rows: (inputs,) rows that their gradients are added to.
    targets: (targets,) rows of O; weights: (targets,) W, one weight per target.
    scores: S, then G.
    contexts: (contexts,) rows that a hidden row is computed from.
    hidden_rows: (rows, width) hidden rows and their gradients.
    input_copies: (inputs, width) inputs before the step, if targets need more than one tile.
    factor: (1,) scalar argument of the row operations.
    tally: the loss and the positive pairs of sampled steps, steps until the next sample, and all steps.
    centres: (inputs,) positions in the block of the words that a batch of windows predicts.
    frozen: (rows,) which rows of one table are frozen; empty if none are.
    frozen_sink: address and row size of that table, and a row that absorbs the updates of frozen rows.
    input_cache, output_cache: the thread's copies of frequent rows; see `embeddings.kernels.row_cache`.
    """

    inputs: np.ndarray
    input_gradient_rows: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    contexts: np.ndarray
    hidden_rows: np.ndarray
    input_copies: np.ndarray
    factor: np.ndarray
    tally: np.ndarray
    centres: np.ndarray
    frozen: np.ndarray
    frozen_sink: np.ndarray
    input_cache: RowCache
    output_cache: RowCache


def aligned_zeros(rows: int, width: int, dtype: type = np.float32) -> np.ndarray:
    """Zeros (rows, width) whose rows start at a cache line if `width` is a multiple of `PADDING`."""
    size = rows * width * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    table: np.ndarray = raw[start : start + size].view(dtype).reshape(rows, width)
    return table


def new_step_buffers(
    inputs: int, targets: int, width: int, *, contexts: int = 0, rows: int = 0, dtype: type = np.float32
) -> StepBuffers:
    """Buffers for up to this many inputs, targets, contexts and hidden rows; rows are `width` numbers long."""
    stride = -(-targets // SCORE_TILE) * SCORE_TILE
    return StepBuffers(
        inputs=np.zeros(inputs, np.int64),
        input_gradient_rows=np.zeros(inputs, np.int64),
        targets=np.zeros(targets, np.int64),
        weights=np.ones(targets, dtype),
        scores=np.zeros(inputs * stride + PADDING, dtype),
        contexts=np.zeros(contexts, np.int64),
        hidden_rows=aligned_zeros(rows, width, dtype),
        input_copies=aligned_zeros(inputs if targets > UPDATE_TILE else 0, width, dtype),
        factor=np.ones(1, dtype),
        tally=np.zeros(4),
        centres=np.zeros(inputs, np.int64),
        frozen=NO_ROW_FROZEN,
        frozen_sink=np.zeros(3, np.int64),
        input_cache=new_row_cache(0, width, dtype),
        output_cache=new_row_cache(0, width, dtype),
    )


def new_row_cache(rows: int, width: int, dtype: type = np.float32) -> RowCache:
    """An empty cache for the first `rows` rows of a table."""
    copies = aligned_zeros(2 * rows, width, dtype)
    return RowCache(copies, np.zeros(rows, np.int64), np.ones(1, dtype), np.zeros(1, np.int64))


def with_row_cache(
    buffers: StepBuffers, threads: int, *, inputs: np.ndarray | None = None, outputs: np.ndarray | None = None
) -> StepBuffers:
    """The buffers with copies of the most frequent rows of these tables, if there are several threads."""
    if threads == 1:
        return buffers
    width, dtype = buffers.hidden_rows.shape[1], buffers.hidden_rows.dtype.type
    input_cache, output_cache = (
        new_row_cache(0, width, dtype)
        if table is None
        else new_row_cache(min(MAX_CACHED_ROWS, len(table)), table.shape[1], dtype)
        for table in (inputs, outputs)
    )
    return buffers._replace(input_cache=input_cache, output_cache=output_cache)


def with_frozen_rows(buffers: StepBuffers, table: np.ndarray, frozen: np.ndarray) -> StepBuffers:
    """The buffers for steps that leave the `frozen` (rows,) rows of a table unchanged; they cache no rows."""
    words = table.shape[1] * table.itemsize // 8
    sink = aligned_zeros(1, SINK_START + words, np.int64).reshape(-1)
    sink[TABLE_ADDRESS], sink[ROW_BYTES] = table.ctypes.data, table.strides[0]
    sink[SINK_ADDRESS] = sink.ctypes.data + SINK_START * 8
    cache = new_row_cache(0, buffers.hidden_rows.shape[1], buffers.hidden_rows.dtype.type)
    return buffers._replace(frozen=frozen, frozen_sink=sink, input_cache=cache, output_cache=cache)


@inline
def learn(buffers: StepBuffers, m: int, p: int, n: int, width: int, rate: float) -> None:
    """One step with m inputs and n targets, of which the first p are positive for every input.

    The caller sets `weights[:n]`.
    """
    compute_steps(buffers, m, p, n, width, rate)
    if n > UPDATE_TILE:
        copy_inputs(buffers, m, width)
    mask_frozen(buffers, buffers.input_gradient_rows, m)
    update(buffers.scores, buffers.inputs, buffers.input_gradient_rows, m, buffers.targets, n, width)


@inline
def learn_input(buffers: StepBuffers, p: int, n: int, width: int, rate: float) -> None:
    """`learn` for a single input, with the targets fixed. Overwrites `inputs[0]` and `factor`."""
    compute_steps(buffers, 1, p, n, width, rate)
    for j in range(n):
        buffers.factor[0], buffers.inputs[0] = buffers.scores[j], buffers.targets[j]
        sum_rows(buffers.factor, buffers.input_gradient_rows[0], buffers.inputs, 1, width)


@inline
def compute_steps(buffers: StepBuffers, m: int, p: int, n: int, width: int, rate: float) -> None:
    """Compute G into `scores`, and tally the loss of sampled steps."""
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    if count_step(buffers):
        tally_loss(buffers, m, p, n)
    scores_to_steps(buffers.scores, m, p, n, buffers.weights, rate)


@inline
def count_step(buffers: StepBuffers) -> bool:
    """Count a step; returns whether its loss is to be tallied."""
    tally = buffers.tally
    tally[STEPS] += 1
    tally[UNTIL_SAMPLE] -= 1
    if tally[UNTIL_SAMPLE] < 0:
        tally[UNTIL_SAMPLE] += LOSS_INTERVAL
        return True
    return False


@inline
def tally_loss(buffers: StepBuffers, m: int, p: int, n: int) -> None:
    """Add the loss of S and its number of positive pairs to the tally."""
    buffers.tally[LOSS] += logistic_loss(buffers.scores, m, p, n, buffers.weights)
    buffers.tally[PAIRS] += m * p


@inline
def copy_inputs(buffers: StepBuffers, m: int, width: int) -> None:
    """Copy the inputs and read the copies, so that every target tile sees the values before the step."""
    for i in range(m):
        copy_row(buffers.scores, address(buffers.input_copies, i), buffers.inputs[i], width)
        buffers.inputs[i] = address(buffers.input_copies, i)


@inline
def mask_frozen(buffers: StepBuffers, rows: np.ndarray, m: int) -> None:
    """Prevent updates of the frozen rows among m rows."""
    if buffers.frozen.shape[0] > 0:
        redirect_frozen(buffers.frozen, buffers.frozen_sink, rows, m)


@noinline
def redirect_frozen(frozen: np.ndarray, sink: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Replace the addresses of frozen rows by the address of the sink row."""
    for j in range(m):
        row = (rows[j] - sink[TABLE_ADDRESS]) // sink[ROW_BYTES]
        if 0 <= row < frozen.shape[0] and frozen[row]:
            rows[j] = sink[SINK_ADDRESS]
