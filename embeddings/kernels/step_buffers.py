"""One SGD step on logistic scores, for any model: input rows H, target rows O, labels Y and weights W.

    S = H O'    G = rate W (Y - sigmoid(S))    O += G' H    and H's gradient, G O, is added to the gradient rows

A model writes row addresses into its buffers and calls `learn`. Input rows may be table rows, updated in place, or
hidden rows that the model computes from several rows (a mean or a sum) and whose gradient it propagates back to them.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import inline, noinline, wrapper
from embeddings.kernels.integers import smaller
from embeddings.kernels.logistic import STEP_TILE, UPDATE_PASS, learn_tile, logistic_loss, scores_to_steps
from embeddings.kernels.row_cache import MAX_CACHED_ROWS, RowCache
from embeddings.kernels.row_operations import (
    PADDING,
    SCORE_TILE,
    SINGLE_TILE,
    UPDATE_TILE,
    address,
    copy_row,
    score,
    sum_rows,
    update,
)
from embeddings.kernels.separate_arrays import separate_ones, separate_zeros

LOSS_INTERVAL = 64  # steps from one loss measurement to the next
LOSS, EXAMPLES, UNTIL_SAMPLE, STEPS = range(4)  # of `StepBuffers.tally`
TABLE_ADDRESS, ROW_BYTES, SINK_ADDRESS = range(3)  # of `StepBuffers.frozen_sink`
SINK_START = 8  # int64 items before the sink row: a cache line
NO_ROW_FROZEN = np.zeros(0, np.bool_)
CARRIED = ("weights", "factor", "tally")  # fields of `StepBuffers` that carry values from block to block


class StepBuffers(NamedTuple):
    """A thread's scratch memory. Rows are given by address.

    inputs: (inputs,) rows of H; input_gradient_rows: (inputs,) rows that their gradients are added to.
    targets: (targets,) rows of O; weights: (targets,) W, one weight per target.
    offsets: (targets,) numbers that objectives subtract from the scores of a target.
    scores: S, then G.
    contexts: (contexts,) rows that a hidden row is computed from.
    hidden_rows: (rows, width) hidden rows and their gradients.
    input_copies: (3 inputs, width) inputs before the step, if targets need more than one tile; an objective that
        projects inputs keeps the projections and their gradients there, too.
    factor: (1,) scalar argument of the row operations.
    tally: the loss and the number of examples of sampled steps, steps until the next sample, and all steps.
    centres: (inputs,) positions in the block of the words that a batch of windows predicts.
    frozen: (rows,) which rows of one table are frozen; empty if none are.
    frozen_sink: address and row size of that table, and a row that absorbs the updates of frozen rows.
    input_cache, output_cache: the thread's copies of frequent rows; see `embeddings.kernels.row_cache`.
    """

    inputs: np.ndarray
    input_gradient_rows: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    offsets: np.ndarray
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
    return separate_zeros((rows, width), dtype)


def new_step_buffers(
    inputs: int, targets: int, width: int, *, contexts: int = 0, rows: int = 0, dtype: type = np.float32
) -> StepBuffers:
    """Buffers for up to this many inputs, targets, contexts and hidden rows; rows are `width` numbers long.

    The buffers of two threads share no cache line.
    """
    stride = -(-targets // SCORE_TILE) * SCORE_TILE
    return StepBuffers(
        inputs=separate_zeros(inputs, np.int64),
        input_gradient_rows=separate_zeros(inputs, np.int64),
        targets=separate_zeros(targets, np.int64),
        weights=separate_ones(targets, dtype),
        offsets=separate_zeros(targets, dtype),
        scores=separate_zeros(inputs * stride + PADDING, dtype),
        contexts=separate_zeros(contexts, np.int64),
        hidden_rows=aligned_zeros(rows, width, dtype),
        input_copies=aligned_zeros(3 * inputs if targets > SINGLE_TILE else 0, width, dtype),
        factor=separate_ones(1, dtype),
        tally=separate_zeros(4, np.float64),
        centres=separate_zeros(inputs, np.int64),
        frozen=NO_ROW_FROZEN,
        frozen_sink=separate_zeros(3, np.int64),
        input_cache=new_row_cache(0, width, dtype),
        output_cache=new_row_cache(0, width, dtype),
    )


def new_row_cache(rows: int, width: int, dtype: type = np.float32) -> RowCache:
    """A cache for the first `rows` rows of no table yet."""
    return RowCache(
        table=separate_zeros(2, np.int64),
        rows=aligned_zeros(2 * rows, width, dtype),
        uses=separate_zeros(rows, np.int64),
        factor=separate_ones(1, dtype),
        operand=separate_zeros(1, np.int64),
    )


def cache_of(table: np.ndarray) -> RowCache:
    """A cache for the most frequent rows of a table."""
    cache = new_row_cache(min(MAX_CACHED_ROWS, len(table)), table.shape[1], table.dtype.type)
    register_rows(table, cache.table)
    cache.table[:] = table.ctypes.data, table.strides[0]
    return cache


def with_row_caches(buffers: StepBuffers, inputs: np.ndarray | None, outputs: np.ndarray | None) -> StepBuffers:
    """The buffers with copies of the most frequent rows of these tables."""
    if inputs is not None:
        buffers = buffers._replace(input_cache=cache_of(inputs))
    return buffers if outputs is None else buffers._replace(output_cache=cache_of(outputs))


def with_frozen_rows(buffers: StepBuffers, table: np.ndarray, frozen: np.ndarray) -> StepBuffers:
    """The buffers for steps that leave the `frozen` (rows,) rows of a table unchanged; they cache no rows."""
    cache = new_row_cache(0, buffers.hidden_rows.shape[1], buffers.hidden_rows.dtype.type)
    return buffers._replace(frozen=frozen, frozen_sink=sink_of(table), input_cache=cache, output_cache=cache)


@inline
def replace_frozen(buffers: StepBuffers, frozen: np.ndarray, sink: np.ndarray) -> StepBuffers:
    """The buffers, in a kernel, for steps that leave the `frozen` rows of the table of this sink unchanged."""
    return StepBuffers(
        buffers.inputs, buffers.input_gradient_rows, buffers.targets, buffers.weights, buffers.offsets, buffers.scores,
        buffers.contexts, buffers.hidden_rows, buffers.input_copies, buffers.factor, buffers.tally, buffers.centres,
        frozen, sink, buffers.input_cache, buffers.output_cache,
    )  # fmt: skip


def sink_of(table: np.ndarray) -> np.ndarray:
    """The `frozen_sink` of a table."""
    words = table.shape[1] * table.itemsize // 8
    sink = aligned_zeros(1, SINK_START + words, np.int64).reshape(-1)
    sink[TABLE_ADDRESS], sink[ROW_BYTES] = table.ctypes.data, table.strides[0]
    sink[SINK_ADDRESS] = sink.ctypes.data + SINK_START * 8
    register_rows(sink[SINK_START:].reshape(1, -1), sink)
    return sink


@wrapper
def learn(buffers: StepBuffers, m: int, p: int, n: int, width: int, rate: float) -> None:
    """One step with m inputs and n targets, of which the first p are positive for every input.

    The caller sets `weights[:n]`.
    """
    compute_steps(buffers, m, p, n, width, rate, m * p)
    apply_steps(buffers, m, n, width)


@inline
def apply_steps(buffers: StepBuffers, m: int, n: int, width: int) -> None:
    """Update m inputs and n targets by the steps in `scores`. Overwrites `inputs` and `input_gradient_rows`."""
    if n > (UPDATE_TILE if m > 1 else SINGLE_TILE):
        copy_inputs(buffers.input_copies, buffers.inputs, m, width)
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.input_gradient_rows, m)
    update(buffers.scores, buffers.inputs, buffers.input_gradient_rows, m, buffers.targets, n, width)


@wrapper
def learn_input(buffers: StepBuffers, p: int, n: int, width: int, rate: float) -> None:
    """`learn` for a single input, with the targets fixed. Overwrites `inputs[0]` and `factor`."""
    compute_steps(buffers, 1, p, n, width, rate, p)
    apply_input_steps(buffers, n, width)


@inline
def learn_single(buffers: StepBuffers, p: int, n: int, width: int, rate: float) -> None:
    """`learn` for a single input and different targets of weight 1. Overwrites `factor` and `inputs`."""
    if n > UPDATE_PASS:
        copy_inputs(buffers.input_copies, buffers.inputs, 1, width)
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.input_gradient_rows, 1)
    buffers.factor[0] = rate
    source, gradient = buffers.inputs[0], buffers.input_gradient_rows[0]
    for j in range(0, n, STEP_TILE):
        columns = smaller(STEP_TILE, n - j)
        learn_tile(buffers.scores, buffers.factor, source, gradient, buffers.targets, columns, j, p, width)
    if count_step(buffers.tally):
        tally_loss(buffers.tally, logistic_loss(buffers.scores, 1, p, n, buffers.weights), 1)


@inline
def apply_input_steps(buffers: StepBuffers, n: int, width: int) -> None:
    """Update a single input by the steps in `scores`, with the targets fixed. Overwrites `inputs[0]` and `factor`."""
    for j in range(n):
        buffers.factor[0], buffers.inputs[0] = buffers.scores[j], buffers.targets[j]
        sum_rows(buffers.factor, buffers.input_gradient_rows[0], buffers.inputs, 1, width)


@wrapper
def apply_objective_steps(buffers: StepBuffers, m: int, n: int, width: int, frozen: bool) -> None:
    """Apply the steps in `scores` to m inputs and n targets, or, if `frozen`, to a single input only."""
    if frozen:
        apply_input_steps(buffers, n, width)
    else:
        apply_steps(buffers, m, n, width)


@inline
def compute_steps(buffers: StepBuffers, m: int, p: int, n: int, width: int, rate: float, examples: int) -> None:
    """Compute G into `scores`; the loss of sampled steps is tallied as that of this many examples."""
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    compute_logistic_steps(buffers, m, p, n, rate, examples)


@wrapper
def compute_logistic_steps(buffers: StepBuffers, m: int, p: int, n: int, rate: float, examples: int) -> None:
    """`compute_steps` from the scores."""
    if count_step(buffers.tally):
        tally_loss(buffers.tally, logistic_loss(buffers.scores, m, p, n, buffers.weights), examples)
    scores_to_steps(buffers.scores, m, p, n, buffers.weights, rate)


@inline
def count_step(tally: np.ndarray) -> bool:
    """Count a step; returns whether its loss is to be tallied."""
    tally[STEPS] += 1
    tally[UNTIL_SAMPLE] -= 1
    if tally[UNTIL_SAMPLE] < 0:
        tally[UNTIL_SAMPLE] += LOSS_INTERVAL
        return True
    return False


@inline
def tally_loss(tally: np.ndarray, loss: float, examples: int) -> None:
    """Add the loss of a number of examples to the tally; an example is one input with one word to predict."""
    tally[LOSS] += loss
    tally[EXAMPLES] += examples


def report_loss(buffers: StepBuffers, loss: float, examples: int, steps: int = 1) -> None:
    """Report the sum of the losses of examples learned in a number of steps; for kernels that are Python functions."""
    buffers.tally[LOSS] += loss
    buffers.tally[EXAMPLES] += examples
    buffers.tally[STEPS] += steps


@inline
def copy_inputs(copies: np.ndarray, inputs: np.ndarray, m: int, width: int) -> None:
    """Copy the inputs and read the copies, so that every target tile sees the values before the step."""
    for i in range(m):
        copy_row(copies, address(copies, i), inputs[i], width)
        inputs[i] = address(copies, i)


@inline
def mask_frozen(frozen: np.ndarray, sink: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Prevent updates of the frozen rows among m rows."""
    if frozen.shape[0] > 0:
        redirect_frozen(frozen, sink, rows, m)


@noinline
def redirect_frozen(frozen: np.ndarray, sink: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Replace the addresses of frozen rows by the address of the sink row."""
    for j in range(m):
        row = (rows[j] - sink[TABLE_ADDRESS]) // sink[ROW_BYTES]
        if 0 <= row < frozen.shape[0] and frozen[row]:
            rows[j] = sink[SINK_ADDRESS]
