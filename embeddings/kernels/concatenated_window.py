"""Scores and gradients of concatenated windows, computed directly from the rows they consist of.

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
from numba import types

from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import inline, intrinsic
from embeddings.kernels.matrix_products import (
    SCORE_TILE,
    UPDATE_TILE,
    codegen_of,
    load_int64,
    score_offset,
    switch_on_count,
)
from embeddings.kernels.row_operations import row_stride
from embeddings.kernels.vector_emitter import Emitter, int64


def write_scores(emit: Emitter, scores: Any, inputs: Any, targets: Any, noise: Any, *numbers: Any) -> None:
    """Scores of windows i and k with their centres and with `noise` negative samples from j on."""
    switch_on_count(write_score_block, SCORE_TILE - 1, emit, noise, scores, inputs, targets, *numbers)


def write_score_block(columns: int, emit: Emitter, *args: Any) -> None:
    """`write_scores` for a constant number of negative samples: one accumulator per pair, over all slots."""
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


def write_update(
    emit: Emitter, steps: Any, inputs: Any, gradients: Any, targets: Any, noise: Any, *numbers: Any
) -> None:
    """Gradients of all windows, their centres and `noise` negative samples from j on."""
    switch_on_count(write_update_block, UPDATE_TILE - 1, emit, noise, steps, inputs, gradients, targets, *numbers)


def write_update_block(columns: int, emit: Emitter, *args: Any) -> None:
    """`write_update` for a constant number of negative samples; each step is loaded once for two products."""
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
            step = builder.fmul(g, centre)
            emit.store(emit.fma(g, x, centre), own, along)
            for c, (other, accumulator) in enumerate(zip(before, sums, strict=True)):
                g = emit.broadcast(steps, score_offset(emit, i, stride, builder.add(j, int64(1 + c))))
                step = emit.fma(g, other, step)
                builder.store(emit.fma(g, x, builder.load(accumulator)), accumulator)
            emit.store(builder.fadd(x, step), load_int64(emit, gradients, row), at)
        for target, accumulator in zip(noise, sums, strict=True):
            emit.store(builder.fadd(emit.load(target, along), builder.load(accumulator)), target, along)


def slot_offset(emit: Emitter, slot: Any, width: Any) -> Any:
    """The offset of a slot in a target, in bytes."""
    return emit.builder.mul(emit.builder.mul(slot, width), int64(emit.size))


@intrinsic
def _score(typingctx: Any, scores: Any, inputs: Any, targets: Any, noise: Any, i: Any, k: Any, j: Any, centres: Any,
           stride: Any, slots: Any, width: Any) -> Any:  # fmt: skip
    return types.void(scores, inputs, targets, *[types.int64] * 8), codegen_of(write_scores)


@intrinsic
def _update(typingctx: Any, steps: Any, inputs: Any, gradients: Any, targets: Any, noise: Any, m: Any, j: Any,
            centres: Any, stride: Any, slots: Any, width: Any) -> Any:  # fmt: skip
    return types.void(steps, inputs, gradients, targets, *[types.int64] * 7), codegen_of(write_update)


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
        for i in range(m):
            steps[i * stride] = 0  # centres are updated once
