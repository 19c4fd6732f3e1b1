"""Trains concatenated windows in batches: disjoint windows that share negative samples.

Each window is scored against its own centre and the shared negative samples in one step, so that a negative sample's
row is read and written once for all of them. A negative sample equal to a window's centre is ignored, as in word2vec.

A model calls `select_batch`, writes the rows of each window into `inputs`, and calls `learn_batch`.

A window is `slots` rows of `width` numbers; a target is one row of `slots * width` numbers. No hidden row is built:
each slot is multiplied with its part of a target in place. All windows share the negative samples o_j; window i also
has its own centre c_i, the first column of the score matrix. `targets` are the negative samples, then the centres.

    score_windows    s_i0 = x_i c_i,  s_ij = x_i o_j
    update_windows   slot by slot:  c_i += g_i0 x_i,  o_j += sum_i g_ij x_i,  x_i += g_i0 c_i + sum_j g_ij o_j

with o_j and c_i from before the step. Rows may repeat: each is read just before use, and includes the updates of
earlier slots and windows.
"""

from typing import Any

import numpy as np

from embeddings.compilation.jit import inline
from embeddings.compilation.vector_emitter import Emitter, int64
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.integers import smaller
from embeddings.kernels.logistic import logistic_loss, scores_to_steps
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import (
    SCORE_TILE,
    UPDATE_TILE,
    address,
    emitted,
    load_int64,
    prefetch_l2,
    row_stride,
    score_offset,
    sum_rows,
    switch_on_count,
)
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen, new_step_buffers


@emitted
def _score(
    emit: Emitter, scores: Any, inputs: Any, targets: Any, noise: Any, i: Any, k: Any, j: Any, centres: Any,
    stride: Any, slots: Any, width: Any,
) -> None:  # fmt: skip
    """Scores of windows i and k with their centres and with `noise` negative samples from j on."""
    # The centre takes one column of the tile, so a tile holds one negative sample fewer than its width.
    numbers = i, k, j, centres, stride, slots, width
    switch_on_count(write_score_block, SCORE_TILE - 1, emit, noise, scores, inputs, targets, *numbers)


def write_score_block(columns: int, emit: Emitter, *args: Any) -> None:
    """`_score` for a constant number of negative samples: one accumulator per pair, over all slots."""
    scores, inputs, targets, i, k, j, centres, stride, slots, width = args
    builder, windows = emit.builder, (i, k)
    noise = [load_int64(emit, targets, builder.add(j, int64(c))) for c in range(columns)]
    own = [load_int64(emit, targets, builder.add(centres, w)) for w in windows]
    sums = [[emit.variable() for _ in range(1 + columns)] for _ in windows]
    with emit.for_range(slots) as slot:
        start = slot_offset(emit, slot, width)
        rows = [load_int64(emit, inputs, builder.add(builder.mul(w, slots), slot)) for w in windows]
        with emit.for_each_vector(width) as at:
            along = builder.add(start, at)
            # Loaded once for both windows: this is what sharing negative samples saves.
            right = [emit.load(row, along) for row in noise]
            for row, centre, accumulators in zip(rows, own, sums, strict=True):
                left = emit.load(row, at)
                for other, accumulator in zip([emit.load(centre, along), *right], accumulators, strict=True):
                    builder.store(emit.fma(left, other, builder.load(accumulator)), accumulator)
    for w, accumulators in zip(windows, sums, strict=True):
        for first in range(0, 1 + columns, emit.lanes):
            part = accumulators[first : first + emit.lanes]
            totals = emit.reduce_transpose([builder.load(accumulator) for accumulator in part])
            offset = score_offset(emit, w, stride, builder.add(j, int64(first)))
            emit.store(emit.shuffle(totals, totals, range(min(SCORE_TILE, emit.lanes))), scores, offset)


@emitted
def _update(
    emit: Emitter, steps: Any, inputs: Any, gradients: Any, targets: Any, noise: Any, m: Any, j: Any, centres: Any,
    stride: Any, slots: Any, width: Any,
) -> None:  # fmt: skip
    """Gradients of all windows, their centres and `noise` negative samples from j on."""
    numbers = m, j, centres, stride, slots, width
    switch_on_count(write_update_block, UPDATE_TILE - 1, emit, noise, steps, inputs, gradients, targets, *numbers)


def write_update_block(columns: int, emit: Emitter, *args: Any) -> None:
    """`_update` for a constant number of negative samples; each step is loaded once for two products."""
    steps, inputs, gradients, targets, m, j, centres, stride, slots, width = args
    builder = emit.builder
    noise = [load_int64(emit, targets, builder.add(j, int64(c))) for c in range(columns)]
    with emit.for_range(slots) as slot, emit.for_each_vector(width) as at:
        along = builder.add(slot_offset(emit, slot, width), at)
        before = [emit.load(row, along) for row in noise]
        sums = [emit.variable() for _ in noise]
        with emit.for_range(m) as i:
            row = builder.add(builder.mul(i, slots), slot)
            own = load_int64(emit, targets, builder.add(centres, i))
            x, centre = emit.load(load_int64(emit, inputs, row), at), emit.load(own, along)
            g = emit.broadcast(steps, score_offset(emit, i, stride, int64(0)))
            # The centre belongs to this window only and is updated at once; negative samples are shared, so their
            # changes are summed over all windows and stored at the end.
            step = builder.fmul(g, centre)
            emit.store(emit.fma(g, x, centre), own, along)
            for c, (other, accumulator) in enumerate(zip(before, sums, strict=True)):
                g = emit.broadcast(steps, score_offset(emit, i, stride, builder.add(j, int64(1 + c))))
                step = emit.fma(g, other, step)
                builder.store(emit.fma(g, x, builder.load(accumulator)), accumulator)
            emit.store(builder.fadd(x, step), load_int64(emit, gradients, row), at)
        # Each negative sample is read again before it is written: the same row may be the centre of a window or occur
        # twice.
        for target, accumulator in zip(noise, sums, strict=True):
            emit.store(builder.fadd(emit.load(target, along), builder.load(accumulator)), target, along)


def slot_offset(emit: Emitter, slot: Any, width: Any) -> Any:
    """The offset of a slot in a target, in bytes."""
    return emit.builder.mul(emit.builder.mul(slot, width), int64(emit.size))


@inline
def score_windows(
    scores: np.ndarray, inputs: np.ndarray, targets: np.ndarray, noise: int, i: int, m: int, slots: int, width: int
) -> None:
    """Scores of windows i and i + 1 of m, or of the last one alone, with `noise` negative samples and their centres."""
    stride = row_stride(1 + noise)
    last = (noise - 1) // (SCORE_TILE - 1) * (SCORE_TILE - 1)
    # Backwards: each tile writes the centre's score over the last column of the tile before, which then corrects it.
    for j in range(last, -1, 1 - SCORE_TILE):
        columns = smaller(SCORE_TILE - 1, noise - j)
        _score(scores, inputs, targets, columns, i, smaller(i + 1, m - 1), j, noise, stride, slots, width)


@inline
def update_windows(
    steps: np.ndarray, inputs: np.ndarray, gradients: np.ndarray, m: int, targets: np.ndarray, noise: int, slots: int,
    width: int,
) -> None:  # fmt: skip
    """Both gradients of m windows, `UPDATE_TILE` - 1 negative samples at a time. Overwrites `steps`."""
    stride = row_stride(1 + noise)
    for j in range(0, noise, UPDATE_TILE - 1):
        columns = smaller(UPDATE_TILE - 1, noise - j)
        _update(steps, inputs, gradients, targets, columns, m, j, noise, stride, slots, width)
        # A further tile reads column 0 again, so the step of the centre must be gone.
        for i in range(m):
            steps[i * stride] = 0  # centres are updated once


MAX_BATCH = 4  # windows; with more, shared negative samples would move too far in one step
MASKED_SCORE = -1e30  # its sigmoid and its loss as a negative sample are 0
ZERO_ROW, SINK_ROW = 0, 1  # of `StepBuffers.hidden_rows`: the input of an empty slot, and the target of its gradient


def new_window_buffers(
    batch: int, noise: int, width: int, *, slots: int, weight: float = 1.0, dtype: type = np.float32
) -> StepBuffers:
    """Buffers for `batch` windows of `slots` rows of `width` numbers; negative samples have the given weight."""
    buffers = new_step_buffers(batch * slots, noise + batch, width, contexts=1, rows=2, dtype=dtype)
    buffers.weights[1 : 1 + noise] = weight
    return buffers._replace(centres=separate_zeros(batch, np.int64))


@inline
def select_batch(block: Block, buffers: StepBuffers, i: int, spacing: int, batch: int, allow_empty: bool) -> int:
    """Write the centres of the batch that starts at centre i into `centres`; returns how many, 0 if none starts there.

    Centres of a batch are `spacing` apart and share negative samples. Those without context are skipped unless
    `allow_empty`.
    """
    first, last, m = block.cursor[FIRST], block.cursor[LAST], 0
    # Centres i, i + spacing, ... form a batch when the first of them comes up, so every centre is in exactly one batch.
    if (i - first) // spacing % batch == 0:
        for c in range(i, smaller(i + spacing * batch, last), spacing):
            if allow_empty or block.stop[c] - block.start[c] > 1:
                buffers.centres[m] = c
                m += 1
    return m


@inline
def learn_batch(block: Block, output: np.ndarray, buffers: StepBuffers, m: int, slots: int, rate: float) -> None:
    """One step for the rows of m windows, their centres and their negative samples."""
    noise, width = block.noise.shape[1], output.shape[1] // slots
    compute_batch_steps(block, output, buffers, m, slots, rate)
    zero, sink = address(buffers.hidden_rows, ZERO_ROW), address(buffers.hidden_rows, SINK_ROW)
    # An empty slot reads a row of zeros; its gradient must not change that row, so it goes to a row that is never read.
    for row in range(m * slots):
        buffers.input_gradient_rows[row] = sink if buffers.inputs[row] == zero else buffers.inputs[row]
    mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.input_gradient_rows, m * slots)
    update_windows(buffers.scores, buffers.inputs, buffers.input_gradient_rows, m, buffers.targets, noise, slots, width)


@inline
def compute_batch_steps(
    block: Block, output: np.ndarray, buffers: StepBuffers, m: int, slots: int, rate: float
) -> None:
    """Compute the steps of m windows with their centres and negative samples into `scores`."""
    noise, width = block.noise.shape[1], output.shape[1] // slots
    for j in range(noise):
        buffers.targets[j] = row_address(output, buffers.output_cache, np.int64(block.noise[buffers.centres[0], j]))
    for k in range(m):
        centre = np.int64(block.words[buffers.centres[k]])
        buffers.targets[noise + k] = row_address(output, buffers.output_cache, centre)
    for k in range(m):
        # Between the scores, not before them: the processor keeps only about a dozen outstanding loads.
        prefetch_next_batch(block, output, buffers, m, k)
        if k % 2 == 0:
            score_windows(buffers.scores, buffers.inputs, buffers.targets, noise, k, m, slots, width)
    # Masked before the loss and the sigmoid, whose values are then 0.
    set_centre_scores(block, buffers, m, noise, MASKED_SCORE)
    if count_step(buffers.tally):
        tally_loss(buffers.tally, logistic_loss(buffers.scores, m, 1, 1 + noise, buffers.weights), m)
    scores_to_steps(buffers.scores, m, 1, 1 + noise, buffers.weights, rate)
    # The clipped sigmoid of the masked score is not exactly 0, so the step is cleared as well.
    set_centre_scores(block, buffers, m, noise, 0)


@inline
def backprop_to_first_rows(buffers: StepBuffers, m: int, noise: int, slots: int, width: int) -> None:
    """Apply the computed steps to the first row of each of m windows only. Overwrites `factor`."""
    stride = row_stride(1 + noise)
    for k in range(m):
        for j in range(1 + noise):
            buffers.factor[0] = buffers.scores[k * stride + j]
            buffers.contexts[0] = buffers.targets[noise + k if j == 0 else j - 1]
            sum_rows(buffers.factor, buffers.inputs[k * slots], buffers.contexts, 1, width)


@inline
def set_centre_scores(block: Block, buffers: StepBuffers, m: int, noise: int, value: float) -> None:
    """Set the scores of negative samples that equal their window's centre."""
    stride = row_stride(1 + noise)
    for k in range(m):
        centre = block.words[buffers.centres[k]]
        for j in range(noise):
            if block.noise[buffers.centres[0], j] == centre:
                buffers.scores[k * stride + 1 + j] = value


@inline
def prefetch_next_batch(block: Block, output: np.ndarray, buffers: StepBuffers, m: int, k: int) -> None:
    """Prefetch the k-th centre of the batch one word later, and a part of its negative samples.

    The prefetches are spread over the scoring of the m windows, so that they do not wait for each other.
    """
    size, first, own = output.shape[1] * output.itemsize, buffers.centres[0] + 1, buffers.centres[k] + 1
    # Into the second-level cache: the rows of a whole batch would evict the current one from the first.
    if own < block.cursor[LAST]:
        prefetch_l2(address(output, block.words[own]), size)
    if first < block.cursor[LAST]:
        for j in range(k, block.noise.shape[1], m):
            prefetch_l2(address(output, block.noise[first, j]), size)
