"""A thread's scratch memory for the steps of a model: row addresses, scores, hidden rows and copies of rows."""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.checked_build import register_rows
from embeddings.compilation.jit import inline, noinline
from embeddings.kernels.row_cache import RowCache, cache_of, new_row_cache
from embeddings.kernels.row_operations import PADDING, SCORE_TILE, SINGLE_TILE
from embeddings.kernels.separate_arrays import separate_ones, separate_zeros

TABLE_ADDRESS, ROW_BYTES, SINK_ADDRESS = range(3)  # of `StepBuffers.frozen_sink`
SINK_START = 8  # int64 items before the sink row: a cache line
NO_ROW_FROZEN = np.zeros(0, np.bool_)


def sink_of(table: np.ndarray) -> np.ndarray:
    """The `frozen_sink` of a table."""
    words = table.shape[1] * table.itemsize // 8
    sink = separate_zeros((1, SINK_START + words), np.int64).reshape(-1)
    sink[TABLE_ADDRESS], sink[ROW_BYTES] = table.ctypes.data, table.strides[0]
    sink[SINK_ADDRESS] = sink.ctypes.data + SINK_START * 8
    register_rows(sink[SINK_START:].reshape(1, -1), sink)
    return sink


@inline
def mask_frozen(frozen: np.ndarray, sink: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Prevent updates of the frozen rows among m rows."""
    if frozen.shape[0] > 0:
        redirect_frozen(frozen, sink, rows, m)


@noinline
def redirect_frozen(frozen: np.ndarray, sink: np.ndarray, rows: np.ndarray, m: int) -> None:
    """Replace the addresses of frozen rows by the address of the sink row."""
    for j in range(m):
        # From the address back to the row number; addresses outside the table, as those of hidden rows, give a row out
        # of range.
        row = (rows[j] - sink[TABLE_ADDRESS]) // sink[ROW_BYTES]
        if 0 <= row < frozen.shape[0] and frozen[row]:
            rows[j] = sink[SINK_ADDRESS]


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
    projection_gradient_rows: (inputs,) rows that the gradients of projected inputs are added to.
    factor: (1,) scalar argument of the row operations.
    tally: the loss and the number of examples of sampled steps, steps until the next sample, and all steps.
    centres: (windows,) positions in the block of the words that a batch of windows predicts.
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
    projection_gradient_rows: np.ndarray
    factor: np.ndarray
    tally: np.ndarray
    centres: np.ndarray
    frozen: np.ndarray
    frozen_sink: np.ndarray
    input_cache: RowCache
    output_cache: RowCache


def new_step_buffers(
    inputs: int, targets: int, width: int, *, contexts: int = 0, rows: int = 0, dtype: type = np.float32
) -> StepBuffers:
    """Buffers for up to this many inputs, targets, contexts and hidden rows; rows are `width` numbers long.

    The buffers of two threads share no cache line.
    """
    # Scores are written in whole tiles, so each row of the matrix has room for them.
    stride = -(-targets // SCORE_TILE) * SCORE_TILE
    return StepBuffers(
        inputs=separate_zeros(inputs, np.int64),
        input_gradient_rows=separate_zeros(inputs, np.int64),
        targets=separate_zeros(targets, np.int64),
        weights=separate_ones(targets, dtype),
        offsets=separate_zeros(targets, dtype),
        scores=separate_zeros(inputs * stride + PADDING, dtype),
        contexts=separate_zeros(contexts, np.int64),
        hidden_rows=separate_zeros((rows, width), dtype),
        input_copies=separate_zeros((3 * inputs if targets > SINGLE_TILE else 0, width), dtype),
        projection_gradient_rows=separate_zeros(inputs if targets > SINGLE_TILE else 0, np.int64),
        factor=separate_ones(1, dtype),
        tally=separate_zeros(4, np.float64),
        centres=separate_zeros(0, np.int64),
        frozen=NO_ROW_FROZEN,
        frozen_sink=separate_zeros(3, np.int64),
        input_cache=new_row_cache(0, width, dtype),
        output_cache=new_row_cache(0, width, dtype),
    )


def with_row_caches(buffers: StepBuffers, inputs: np.ndarray | None, outputs: np.ndarray | None) -> StepBuffers:
    """The buffers with caches of the most frequent rows of a table of inputs and a table of outputs."""
    if inputs is not None:
        buffers = buffers._replace(input_cache=cache_of(inputs))
    return buffers if outputs is None else buffers._replace(output_cache=cache_of(outputs))


def with_frozen_rows(buffers: StepBuffers, table: np.ndarray, frozen: np.ndarray) -> StepBuffers:
    """The buffers for steps that leave the `frozen` (rows,) rows of a table unchanged; they cache no rows."""
    # A cached copy would have another address than the table's row and escape the redirection.
    cache = new_row_cache(0, buffers.hidden_rows.shape[1], buffers.hidden_rows.dtype.type)
    return buffers._replace(frozen=frozen, frozen_sink=sink_of(table), input_cache=cache, output_cache=cache)


@inline
def replace_frozen(buffers: StepBuffers, frozen: np.ndarray, sink: np.ndarray) -> StepBuffers:
    """The buffers, in a kernel, for steps that leave the `frozen` rows of the table of this sink unchanged."""
    return StepBuffers(
        buffers.inputs, buffers.input_gradient_rows, buffers.targets, buffers.weights, buffers.offsets, buffers.scores,
        buffers.contexts, buffers.hidden_rows, buffers.input_copies, buffers.projection_gradient_rows, buffers.factor,
        buffers.tally, buffers.centres, frozen, sink, buffers.input_cache, buffers.output_cache,
    )  # fmt: skip
