"""In-batch negatives: the texts of the other pairs of a batch are the negatives of a pair.

A softmax over the cosines c_ij of left text i and right text j, divided by the temperature, selects the right text of
a left one, and another one the left text of a right one (Henderson et al. 2017; both directions as Radford et al.
2021). The loss of a pair is the mean of both cross-entropies. Negative texts of pairs, if there are any, are further
candidates for all left texts.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.dense_products import add_product, transpose
from embeddings.kernels.jit import implements, inline
from embeddings.kernels.softmax import exponentiate
from embeddings.kernels.sparse_steps import StepRates
from embeddings.kernels.step_buffers import aligned_zeros
from embeddings.kernels.vector_emitter import VECTOR_BYTES
from embeddings.plugins.text_pairs.pair_objective import BatchShape, PairObjective
from embeddings.plugins.text_pairs.pair_stream import PairBlock
from embeddings.plugins.text_pairs.text_batch import TextBatch

MASKED = -1e30  # the cosine of a candidate that is left out
MIN_TEMPERATURE = 0.025  # so that exp((cosine - 1) / temperature) does not underflow


class InBatchNegatives(NamedTuple):
    """The inverse temperature, and scratch memory.

    scores: (batch, candidates) the cosines, then the gradients. transposed: (width, candidates), units of candidates.
    column_sums: (candidates,). slots: int32 (2^n,), a hash table of texts, by number from 1. previous: int32 (texts,),
    the last text before each that is equal to it, by number from 1.
    """

    scale: float
    scores: np.ndarray
    transposed: np.ndarray
    column_sums: np.ndarray
    slots: np.ndarray
    previous: np.ndarray


def new_in_batch_negatives(
    settings: Any, shape: BatchShape, ratings: np.ndarray, dtype: type = np.float32
) -> InBatchNegatives:
    """The operand for batches of this shape."""
    lanes = VECTOR_BYTES // np.dtype(dtype).itemsize
    vectors = -(-shape.pairs * (shape.sides - 1) // lanes)
    candidates = (vectors + 1) * lanes  # one vector more, so that the rows of a column are in different cache sets
    texts = shape.pairs * shape.sides
    return InBatchNegatives(
        1 / settings.temperature_value,
        aligned_zeros(shape.pairs, candidates, dtype),
        aligned_zeros(shape.width, candidates, dtype),
        np.zeros(candidates, dtype),
        np.zeros(1 << (2 * texts).bit_length(), np.int32),
        np.zeros(texts, np.int32),
    )


@implements(InBatchNegatives)
@inline
def learn_in_batch(
    operand: InBatchNegatives, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates
) -> float:
    """The gradients of the mean of both cross-entropies."""
    n, width, stride = size * (sides - 1), batch.units.shape[1], operand.scores.shape[1]
    candidates, gradients = batch.units[size:], batch.unit_gradients[size:]
    transpose(operand.transposed, candidates, n, width)
    operand.scores[:size] = 0
    add_product(operand.scores, batch.units, operand.transposed, size, n, width, width, 1)
    mask_equal_texts(operand, batch, size, sides)
    loss = softmax_gradients(operand, size, n)
    add_product(batch.unit_gradients, operand.scores, candidates, size, width, n, stride, 1)
    add_product(gradients, operand.scores, batch.units, n, width, size, 1, stride)
    return loss


@inline
def softmax_gradients(operand: InBatchNegatives, size: int, n: int) -> float:
    """Replace cosines by the gradients of the mean loss with respect to them; returns the summed loss.

    Both softmaxes share their exponentials, as cosines are at most 1.
    """
    real = operand.scores.dtype.type
    scale, one, loss = real(operand.scale), real(1), 0.0
    sums, columns = operand.column_sums, operand.column_sums[:size]
    sums[:] = 0
    half = real(0.5 * operand.scale / size)
    for i in range(size):
        row = operand.scores[i, :n]
        for j in range(n):
            row[j] = scale * (row[j] - one)
        loss -= np.float64(row[i])
        total = exponentiate(row, real(0))
        loss += 0.5 * np.log(np.float64(total))
        for j in range(size):
            columns[j] += row[j]
        operand.transposed[0, i] = half / total
    for j in range(size):
        loss += 0.5 * np.log(np.float64(columns[j]))
        columns[j] = half / columns[j]
    sums[size:] = 0
    for i in range(size):
        row, share = operand.scores[i, :n], operand.transposed[0, i]
        for j in range(n):
            row[j] *= share + sums[j]
        row[i] -= half + half
    return loss


@inline
def mask_equal_texts(operand: InBatchNegatives, batch: TextBatch, size: int, sides: int) -> None:
    """Leave out candidates that are equal to a left text, to its own candidate, or to that of an equal left text."""
    slots, last = operand.slots, np.uint64(operand.slots.shape[0] - 1)
    slots[:] = 0
    for text in range(size * sides):
        place = batch.hashes[text] & last
        while slots[place] > 0 and batch.hashes[slots[place] - 1] != batch.hashes[text]:
            place = (place + np.uint64(1)) & last
        operand.previous[text] = slots[place]
        other = operand.previous[text]
        while other > 0:
            mask_pair(operand.scores, other - 1, text, size)
            other = operand.previous[other - 1]
        slots[place] = text + 1


@inline
def mask_pair(scores: np.ndarray, first: int, second: int, size: int) -> None:
    """Leave out candidates because these two texts of a batch, of which the second is later, are equal."""
    i, j = first - size, second - size  # as candidates
    if second < size:  # both are left texts
        scores[first, second] = MASKED
        scores[second, first] = MASKED
    elif first < size:
        if j != first:
            scores[first, j] = MASKED
    else:
        if i < size:
            scores[i, j] = MASKED
        if j < size:
            scores[j, i] = MASKED


IN_BATCH = PairObjective(new_in_batch_negatives, allows_negatives=True, temperature=0.03, batch_size=1024)
