"""Windows whose rows stand side by side: scores and gradients straight from the rows they are made of.

A window is `slots` rows of `width` numbers; a target is one row as long as all of them. No hidden row is put together:
each slot meets its part of a target where both lie. All windows share noise targets, and each has a centre of its own,
the first column of the matrix of scores; `targets` are the noise, then the centres.

    score_beside    s_i0 = x_i c_i,  s_ij = x_i o_j
    update_beside   slot by slot:  c_i += g_i0 x_i,  o_j += sum_i g_ij x_i,  x_i += g_i0 c_i + sum_j g_ij o_j

with the o_j and c_i of before. Rows may repeat: each is read where it is used, as the slot and the window before it
left it.
"""

from typing import Any

import numpy as np
from numba import types

from embeddings.kernels.jit import instruction, piece
from embeddings.kernels.matrix_products import COLUMNS, TARGETS, body, cases, item, place
from embeddings.kernels.row_operations import pitch
from embeddings.kernels.vector_emitter import Emitter, integer


def write_scores(emit: Emitter, scores: Any, read: Any, targets: Any, noise: Any, *numbers: Any) -> None:
    """Scores of windows i and k with their centres and `noise` targets from j on."""
    cases(write_score_block, COLUMNS - 1, emit, noise, scores, read, targets, *numbers)


def write_score_block(columns: int, emit: Emitter, *args: Any) -> None:
    """The same for a known number of noise targets; an accumulator for each pair, over all slots."""
    scores, read, targets, i, k, j, centres, gap, slots, width = args
    builder, windows = emit.builder, (i, k)
    noise = [item(emit, targets, builder.add(j, integer(c))) for c in range(columns)]
    own = [item(emit, targets, builder.add(centres, w)) for w in windows]
    sums = [[emit.variable() for _ in range(1 + columns)] for _ in windows]
    with emit.over(slots) as slot:
        start = offset(emit, slot, width)
        inputs = [item(emit, read, builder.add(builder.mul(w, slots), slot)) for w in windows]
        with emit.registers(width) as at:
            along = builder.add(start, at)
            right = [emit.load(row, along) for row in noise]
            for row, centre, line in zip(inputs, own, sums, strict=True):
                left = emit.load(row, at)
                for other, total in zip([emit.load(centre, along), *right], line, strict=True):
                    builder.store(emit.fma(left, other, builder.load(total)), total)
    for w, line in zip(windows, sums, strict=True):
        for first in range(0, 1 + columns, emit.lanes):
            part = line[first : first + emit.lanes]
            totals = emit.totals([builder.load(total) for total in part])
            where = place(emit, w, gap, builder.add(j, integer(first)))
            emit.store(emit.shuffle(totals, totals, range(min(COLUMNS, emit.lanes))), scores, where)


def write_update(emit: Emitter, steps: Any, read: Any, moved: Any, targets: Any, noise: Any, *numbers: Any) -> None:
    """Gradients of all windows, their centres and `noise` targets from j on."""
    cases(write_update_block, TARGETS - 1, emit, noise, steps, read, moved, targets, *numbers)


def write_update_block(columns: int, emit: Emitter, *args: Any) -> None:
    """The same for a known number of noise targets; one load of a step serves the two products it is in."""
    steps, read, moved, targets, m, j, centres, gap, slots, width = args
    builder = emit.builder
    noise = [item(emit, targets, builder.add(j, integer(c))) for c in range(columns)]
    with emit.over(slots) as slot, emit.registers(width) as at:
        along = builder.add(offset(emit, slot, width), at)
        before = [emit.load(row, along) for row in noise]
        sums = [emit.variable() for _ in noise]
        with emit.over(m) as i:
            row, own = builder.add(builder.mul(i, slots), slot), item(emit, targets, builder.add(centres, i))
            x, centre = emit.load(item(emit, read, row), at), emit.load(own, along)
            g = emit.spread(steps, place(emit, i, gap, integer(0)))
            step = builder.fmul(g, centre)
            emit.store(emit.fma(g, x, centre), own, along)
            for c, (other, total) in enumerate(zip(before, sums, strict=True)):
                g = emit.spread(steps, place(emit, i, gap, builder.add(j, integer(1 + c))))
                step = emit.fma(g, other, step)
                builder.store(emit.fma(g, x, builder.load(total)), total)
            emit.store(builder.fadd(x, step), item(emit, moved, row), at)
        for target, total in zip(noise, sums, strict=True):
            emit.store(builder.fadd(emit.load(target, along), builder.load(total)), target, along)


def offset(emit: Emitter, slot: Any, width: Any) -> Any:
    """Where a slot begins in a target, in bytes."""
    return emit.builder.mul(emit.builder.mul(slot, width), integer(emit.size))


@instruction
def _score(typingctx: Any, scores: Any, read: Any, targets: Any, noise: Any, i: Any, k: Any, j: Any, centres: Any,
           gap: Any, slots: Any, width: Any) -> Any:  # fmt: skip
    return types.void(scores, read, targets, *[types.int64] * 8), body(write_scores)


@instruction
def _update(typingctx: Any, steps: Any, read: Any, moved: Any, targets: Any, noise: Any, m: Any, j: Any, centres: Any,
            gap: Any, slots: Any, width: Any) -> Any:  # fmt: skip
    return types.void(steps, read, moved, targets, *[types.int64] * 7), body(write_update)


@piece
def score_beside(
    scores: np.ndarray, read: np.ndarray, targets: np.ndarray, noise: int, i: int, m: int, slots: int, width: int
) -> None:
    """The scores of windows i and i + 1 of m, or of the last one alone, with `noise` targets and their centres."""
    gap = pitch(1 + noise)
    last = (noise - 1) // (COLUMNS - 1) * (COLUMNS - 1)
    for j in range(last, -1, 1 - COLUMNS):  # a block writes its centre's score over the last one of the block before
        _score(scores, read, targets, min(COLUMNS - 1, noise - j), i, min(i + 1, m - 1), j, noise, gap, slots, width)


@piece
def update_beside(
    steps: np.ndarray, read: np.ndarray, moved: np.ndarray, m: int, targets: np.ndarray, noise: int, slots: int,
    width: int,
) -> None:  # fmt: skip
    """Both gradients of m windows; noise of more than `TARGETS` - 1 in turns. `steps` are used up."""
    gap = pitch(1 + noise)
    for j in range(0, noise, TARGETS - 1):
        _update(steps, read, moved, targets, min(TARGETS - 1, noise - j), m, j, noise, gap, slots, width)
        for i in range(m):
            steps[i * gap] = 0  # centres are moved once
