"""The parts of the kernels of skip-gram and CBOW, compiled alone, and what the machine can do in the same code."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from embeddings.compilation.jit import entry_point, intrinsic
from embeddings.compilation.vector_emitter import VECTOR_BYTES, Emitter
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.gradient_steps import apply_steps, compute_logistic_steps
from embeddings.kernels.hidden_layer import backprop_to_contexts, combine_contexts
from embeddings.kernels.row_operations import address, codegen_of, scatter_add, score
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import gather_contexts, gather_inputs, prefetch_targets
from embeddings.objectives.negative_sampling import NegativeSamples, gather_samples

ACCUMULATORS = 20  # of independent multiply-adds: enough to hide the latency of each
FLOATS = VECTOR_BYTES // 4  # in a vector
STAGES = ("row addresses", "scores", "logistic function", "gradients")
ADDRESSES, SCORES, STEPS, GRADIENTS = range(len(STAGES))


class PartOperands(NamedTuple):
    """Input vectors, the output vectors with the number of negative samples, and whether contexts are averaged."""

    words: np.ndarray
    samples: NegativeSamples
    is_mean: bool


@entry_point
def run_stages(block: Block, operands: PartOperands, buffers: StepBuffers, rate: float, last_stage: int) -> None:
    """The kernel of skip-gram or, if contexts are averaged, of CBOW, up to one of its stages."""
    width = operands.words.shape[1]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        if operands.is_mean:
            contexts = gather_contexts(block, operands.words, buffers, i)
            m = 1 if contexts > 0 else 0
        else:
            m = contexts = gather_inputs(block, operands.words, buffers, i)
        if m > 0:
            if operands.is_mean and last_stage >= SCORES:
                combine_contexts(buffers, contexts, width, 1 / contexts)
            n = gather_samples(operands.samples, block, buffers, i, 1, 0, 0)
            if last_stage >= SCORES:
                score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
            prefetch_targets(block, operands.samples.output, operands.samples.negatives, i)
            if last_stage >= STEPS:
                compute_logistic_steps(buffers, m, 1, n, rate, m)
            if last_stage >= GRADIENTS:
                apply_steps(buffers, m, n, width)
                if operands.is_mean:
                    backprop_to_contexts(buffers, contexts, width, 1.0)


def write_multiply_adds(emit: Emitter, numbers: Any, rounds: Any) -> None:
    """`rounds` times `ACCUMULATORS` multiply-adds of vectors in registers."""
    factor = emit.broadcast(numbers, emit.builder.mul(rounds, rounds.type(0)))
    sums = [emit.variable() for _ in range(ACCUMULATORS)]
    with emit.for_range(rounds):
        for accumulator in sums:
            emit.builder.store(emit.fma(factor, factor, emit.builder.load(accumulator)), accumulator)
    total = emit.zero
    for accumulator in sums:
        total = emit.builder.fadd(total, emit.builder.load(accumulator))
    emit.store(total, numbers, rounds.type(0))


@intrinsic
def multiply_adds(typingctx: Any, numbers: Any, rounds: Any) -> Any:
    """Add up products of the first of 16 numbers, which are overwritten."""
    return types.void(numbers, types.int64), codegen_of(write_multiply_adds)


@entry_point
def run_multiply_adds(numbers: np.ndarray, rounds: int) -> None:
    """Multiply and add in registers; the number of floating-point operations is that of `peak_flops`."""
    multiply_adds(numbers, rounds)


def peak_flops(rounds: int) -> int:
    """Floating-point operations of `run_multiply_adds`."""
    return 2 * ACCUMULATORS * FLOATS * rounds


@entry_point
def update_rows(table: np.ndarray, order: np.ndarray, rows: np.ndarray, step: np.ndarray, factor: np.ndarray) -> None:
    """Add a row to the rows of a table in this order, eight at a time: each is read and written once."""
    for i in range(0, order.shape[0] - rows.shape[0] + 1, rows.shape[0]):
        for j in range(rows.shape[0]):
            rows[j] = address(table, order[i + j])
        scatter_add(factor, address(step, 0), rows, rows.shape[0], table.shape[1])
