"""The logistic function, its loss, and the gradient step from a score matrix.

One after another, such steps wait for each other's results, and the way through memory makes that longer.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from embeddings.compilation.jit import inline, noinline
from embeddings.compilation.vector_emitter import HAS_AVX512, INT64, Emitter, int64
from embeddings.kernels.row_operations import (
    PARTIAL_SUMS,
    SCORE_TILE,
    emitted,
    load_int64,
    row_stride,
    score_offset,
    switch_on_count,
)

STEP_TILE = 16 if HAS_AVX512 else 8  # targets whose scores stay in registers
UPDATE_PASS = 8  # of these, how many are updated at a time
LARGEST_SCORE = 8.0  # larger scores of float32 are clipped
# sigmoid(x) = 1/2 + x TOP(x^2) / BOTTOM(x^2), from the constant coefficient on: half of 1 + tanh(x / 2), with tanh as
# the seventh convergent of Lambert's continued fraction. The error is at most 7.6e-6 for |x| <= 8.
TOP = (8648640.0, 277200.0, 1512.0, 1.0)
BOTTOM = (34594560.0, 3991680.0, 50400.0, 112.0)


@emitted
def scores_to_tile_steps(emit: Emitter, scores: Any, rate: Any, m: Any, p: Any, stride: Any) -> None:
    """Replace m rows of S by rate (Y - sigmoid(S)), where the first p of `stride` targets are positive.

    `SCORE_TILE` at a time, as they were stored: a wider load would wait for two stores.
    """
    builder = emit.builder
    emit.set_lanes(SCORE_TILE)
    scalar = rate if emit.size == 8 else builder.fptrunc(rate, emit.scalar)
    first = builder.insert_element(emit.zero, scalar, ir.Constant(ir.IntType(32), 0))
    factor = emit.shuffle(first, first, [0] * emit.lanes)
    with emit.for_range(m) as i, emit.for_range(stride, emit.lanes) as column:
        offset = score_offset(emit, i, stride, column)
        step = write_logistic_step(emit, emit.load(scores, offset), builder.sub(p, column), factor)
        emit.store(step, scores, offset)


@emitted
def learn_tile(
    emit: Emitter, scores: Any, rate: Any, source: Any, gradient: Any, targets: Any, n: Any, j: Any, p: Any, width: Any
) -> None:
    """One step of an input row with n different targets from j on; targets before p are positive.

    S is written into `scores`. With G = rate (Y - sigmoid(S)), O += G' x, and G O is added to the gradient row, which
    may be the input row if there are at most `UPDATE_PASS` targets. The rate is an array of one number.
    """
    switch_on_count(write_learn_block, STEP_TILE, emit, n, scores, rate, source, gradient, targets, j, p, width)


def write_learn_block(columns: int, emit: Emitter, *args: Any) -> None:
    """`learn_tile` for a constant number of targets."""
    scores, rate, source, gradient, targets, j, p, width = args
    builder, steps = emit.builder, []
    o = [load_int64(emit, targets, builder.add(j, int64(c))) for c in range(columns)]
    # One accumulator for each target: all of them fit in registers, so x is loaded once for the whole tile.
    sums = [emit.variable() for _ in o]
    with emit.for_each_vector(width) as at:
        x = emit.load(source, at)
        for row, accumulator in zip(o, sums, strict=True):
            builder.store(emit.fma(x, emit.load(row, at), builder.load(accumulator)), accumulator)
    # The sums of up to `lanes` targets become one vector, so that one rational function computes all their sigmoids.
    for first in range(0, columns, emit.lanes):
        part, column = sums[first : first + emit.lanes], builder.add(j, int64(first))
        total = emit.reduce_transpose([builder.load(accumulator) for accumulator in part])
        emit.store(total, scores, builder.mul(column, int64(emit.size)))
        step = write_logistic_step(emit, total, builder.sub(p, column), emit.broadcast(rate, int64(0)))
        steps += [emit.shuffle(step, step, [lane] * emit.lanes) for lane in range(len(part))]
    # Passes of equal size: 9 targets are updated as 5 and 4, not as 8 and 1, whose last pass would load x for one
    # target.
    size = -(-columns // -(-columns // UPDATE_PASS))
    for first in range(0, columns, size):
        write_update_pass(emit, o[first : first + size], steps[first : first + size], source, gradient, width)


def write_update_pass(
    emit: Emitter, o: Sequence[Any], steps: Sequence[Any], source: Any, gradient: Any, width: Any
) -> None:
    """Both gradients of some of the targets."""
    builder = emit.builder
    with emit.for_each_vector(width) as at:
        # All targets are loaded before any is stored: the input gets the gradient of the targets before the step.
        x, before, parts = emit.load(source, at), [emit.load(row, at) for row in o], [emit.zero] * PARTIAL_SUMS
        for c, (row, factor) in enumerate(zip(before, steps, strict=True)):
            # Several partial sums, since one chain of dependent additions would wait for each result.
            parts[c % PARTIAL_SUMS] = emit.fma(factor, row, parts[c % PARTIAL_SUMS])
        for address, row, factor in zip(o, before, steps, strict=True):
            emit.store(emit.fma(factor, x, row), address, at)
        emit.store(builder.fadd(emit.load(gradient, at), reduce(builder.fadd, parts)), gradient, at)


def write_logistic_step(emit: Emitter, scores: Any, positives: Any, rate: Any) -> Any:
    """The vector rate (Y - sigmoid(S)), where the first `positives` lanes are positive."""
    builder, half = emit.builder, emit.constant(0.5)
    lanes = ir.Constant(ir.VectorType(INT64, emit.lanes), list(range(emit.lanes)))
    first = builder.insert_element(lanes, positives, ir.Constant(ir.IntType(32), 0))
    is_positive = builder.icmp_signed("<", lanes, emit.shuffle(first, first, [0] * emit.lanes))
    # Y - 1/2 rather than Y, since the centred sigmoid saves an addition.
    label = builder.select(is_positive, half, emit.constant(-0.5))
    return builder.fmul(rate, builder.fsub(label, write_centred_sigmoid(emit, scores)))


def write_centred_sigmoid(emit: Emitter, x: Any) -> Any:
    """The vector sigmoid(x) - 1/2."""
    builder, one = emit.builder, emit.constant(1.0)
    # float64 is for gradient checks, which need the exact function.
    if emit.size == 8:
        name = f"llvm.exp.v{emit.lanes}f64"
        exp = cgutils.get_or_insert_function(builder.module, ir.FunctionType(emit.vector, [emit.vector]), name)
        sigmoid = builder.fdiv(one, builder.fadd(one, builder.call(exp, [builder.fneg(x)])))
        return builder.fsub(sigmoid, emit.constant(0.5))
    # Beyond 8 the rational function leaves [0, 1]. Its sigmoid there is 3.4e-4 from 1, too little to be worth an
    # exponential.
    for sign, bound in (("<", emit.constant(LARGEST_SCORE)), (">", emit.constant(-LARGEST_SCORE))):
        x = builder.select(builder.fcmp_ordered(sign, bound, x), bound, x)
    square = builder.fmul(x, x)
    # Horner's rule from the highest coefficient down, in x squared: the function is odd.
    top, bottom = (
        reduce(lambda sum_, c: emit.fma(sum_, square, emit.constant(c)), reversed(part[:-1]), emit.constant(part[-1]))
        for part in (TOP, BOTTOM)
    )
    return builder.fmul(x, builder.fdiv(top, bottom))


@inline
def scores_to_steps(scores: np.ndarray, m: int, p: int, n: int, weights: np.ndarray, rate: float) -> None:
    """Replace S by G = rate W (Y - sigmoid(S)), where the first p of n targets are positive."""
    stride = row_stride(n)
    scores_to_tile_steps(scores, rate, m, p, stride)
    # Weights other than 1 are rare (a negative sample that is the word itself), so they are a second pass over few
    # columns and not a multiplication of every step.
    for j in range(n):
        if weights[j] != 1:
            for i in range(m):
                scores[i * stride + j] *= weights[j]


@noinline
def logistic_loss(scores: np.ndarray, m: int, p: int, n: int, weights: np.ndarray) -> float:
    """The sum of -W log sigmoid(s) over positives and of -W log sigmoid(-s) over negatives."""
    stride, total = row_stride(n), 0.0
    for i in range(m):
        for j in range(n):
            s = np.float64(scores[i * stride + j])
            if j < p:
                s = -s
            # log(1 + exp(s)) as max(s, 0) + log1p(exp(-|s|)), which cannot overflow.
            total += weights[j] * ((0.0 if s < 0.0 else s) + np.log1p(np.exp(-abs(s))))
    return total
