"""Objectives over pairs of texts: the gradients of unit vectors, and the loss.

Each objective has a loss of a pair, which is multiplied by the weight of the pair. The loss of a batch of `CoSENT` is
log(1 + sum w_i w_j exp((c_j - c_i) / temperature)) over all pairs i and j with r_i > r_j and the weights w.

A softmax over the cosines c_ij of left text i and right text j, divided by the temperature, selects the right text of
a left one, and another one the left text of a right one (Henderson et al. 2017; both directions as Radford et al.
2021). The loss of a pair is the mean of both cross-entropies. Negative texts of pairs, if there are any, are further
candidates for all left texts.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from embeddings.compilation.jit import dispatched, implements, inline
from embeddings.compilation.vector_emitter import VECTOR_BYTES
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.softmax import exponentiate
from embeddings.plugins.text_pairs.pair_stream import PairBlock
from embeddings.plugins.text_pairs.text_batch import TextBatch, add_product, transpose


class BatchShape(NamedTuple):
    """The largest batch: pairs, texts of each pair, and the width of a vector."""

    pairs: int
    sides: int
    width: int

    def candidates(self, itemsize: int) -> int:
        """Columns of scores, of one vector more than is needed: so the rows of a column are in different cache sets."""
        lanes = VECTOR_BYTES // itemsize
        return (-(-self.pairs * (self.sides - 1) // lanes) + 1) * lanes


class PairObjective:
    """How a model learns from pairs of texts; base of NamedTuples, whose type selects the implementation of learning.

    sides: how many texts a pair may have: the third one is a negative text.
    reads_ratings: whether pairs must have ratings.
    """

    sides: ClassVar[tuple[int, ...]] = (2,)
    reads_ratings: ClassVar[bool] = False

    @classmethod
    def operand(cls, settings: Any, shape: BatchShape, ratings: np.ndarray) -> Any:
        """An instance: the operand of `learn_units` of one thread.

        Arguments:
            settings: the trainer.
            shape: of the largest batch.
            ratings: of all pairs, float32 from 0 to 1, empty if the objective does not read them.
        """
        raise NotImplementedError


@dispatched
def learn_units(operand: Any, batch: TextBatch, block: PairBlock, size: int, sides: int) -> float:
    """Add the gradients of the units of a batch of pairs; returns the sum of the losses of the pairs.

    Gradients are those of the mean over the pairs.
    """
    return 0.0


class CoSENTOperand(NamedTuple):
    """The inverse temperature, the ratings of all pairs, and scratch memory.

    cosines, slopes: (batch,), of the texts of each pair, and derivatives of the loss with respect to them.
    powers: float64 (2, batch).
    """

    scale: float
    ratings: np.ndarray
    cosines: np.ndarray
    slopes: np.ndarray
    powers: np.ndarray


class CoSENT(CoSENTOperand, PairObjective):
    """Cosines have the order of ratings."""

    reads_ratings = True

    @classmethod
    def operand(cls, settings: Any, shape: BatchShape, ratings: np.ndarray) -> "CoSENT":
        """The operand of one thread."""
        cosines, slopes = np.zeros((2, shape.pairs), ratings.dtype)
        return cls(1 / settings.value_of("temperature"), ratings, cosines, slopes, np.zeros((2, shape.pairs)))


@inline
def compute_cosines(batch: TextBatch, cosines: np.ndarray, size: int) -> None:
    """The cosine of the left and the right text of each pair."""
    for k in range(size):
        left, right = batch.units[k], batch.units[size + k]
        product = cosines.dtype.type(0)
        for d in range(left.shape[0]):
            product += left[d] * right[d]
        cosines[k] = product


@inline
def backprop_cosines(batch: TextBatch, slopes: np.ndarray, size: int) -> None:
    """Add the gradients of the units of both texts, from the derivative of the loss with respect to their cosine."""
    for k in range(size):
        left, right = batch.units[k], batch.units[size + k]
        left_gradient, right_gradient = batch.unit_gradients[k], batch.unit_gradients[size + k]
        slope = slopes[k]
        for d in range(left.shape[0]):
            left_gradient[d] += slope * right[d]
        for d in range(left.shape[0]):
            right_gradient[d] += slope * left[d]


@implements(CoSENT)
@inline
def learn_cosent(operand: CoSENT, batch: TextBatch, block: PairBlock, size: int, sides: int) -> float:
    """The gradients of the loss of a batch, which counts once for each of its pairs."""
    cosines, slopes = operand.cosines, operand.slopes
    compute_cosines(batch, cosines, size)
    rises, falls = operand.powers[0], operand.powers[1]  # w exp(c / temperature), w exp(-c / temperature)
    # exp((c_j - c_i) / temperature) is a product of a factor of j and one of i: n exponentials in place of n^2.
    total = 1.0
    for k in range(size):
        power, weight = np.exp(operand.scale * np.float64(cosines[k])), np.float64(batch.weights[k])
        rises[k], falls[k] = weight * power, weight / power
    for i in range(size):
        own, inner = operand.ratings[block.pairs[i]], 0.0
        for j in range(size):
            if operand.ratings[block.pairs[j]] < own:
                inner += rises[j]
        total += inner * falls[i]
    for i in range(size):
        own, lower, higher = operand.ratings[block.pairs[i]], 0.0, 0.0
        for j in range(size):
            other = operand.ratings[block.pairs[j]]
            if other < own:
                lower += rises[j]
            elif other > own:
                higher += falls[j]
        slopes[i] = operand.scale * (rises[i] * higher - falls[i] * lower) / total
    backprop_cosines(batch, slopes, size)
    return size * np.log(total)  # type: ignore[no-any-return]


MASKED = -1e30  # the cosine of a candidate that is left out
MIN_TEMPERATURE = 0.025  # so that exp((cosine - 1) / temperature) does not underflow


class InBatchOperand(NamedTuple):
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


class InBatchNegatives(InBatchOperand, PairObjective):
    """The right text is found among the right texts of a batch."""

    sides = (2, 3)

    @classmethod
    def operand(cls, settings: Any, shape: BatchShape, ratings: np.ndarray) -> "InBatchNegatives":
        """The operand of one thread."""
        dtype, candidates = ratings.dtype.type, shape.candidates(ratings.itemsize)
        texts = shape.pairs * shape.sides
        return cls(
            1 / settings.value_of("temperature"),
            separate_zeros((shape.pairs, candidates), dtype),
            separate_zeros((shape.width, candidates), dtype),
            np.zeros(candidates, dtype),
            np.zeros(1 << (2 * texts).bit_length(), np.int32),
            np.zeros(texts, np.int32),
        )


@implements(InBatchNegatives)
@inline
def learn_in_batch(operand: InBatchNegatives, batch: TextBatch, block: PairBlock, size: int, sides: int) -> float:
    """The gradients of the mean of both cross-entropies."""
    n, width, stride = size * (sides - 1), batch.units.shape[1], operand.scores.shape[1]
    candidates, gradients = batch.units[size:], batch.unit_gradients[size:]
    transpose(operand.transposed, candidates, n, width)
    operand.scores[:size] = 0
    add_product(operand.scores, batch.units, operand.transposed, size, n, width, width, 1)
    mask_equal_texts(operand, batch, size, sides)
    loss = softmax_gradients(operand, batch.weights, size, n)
    add_product(batch.unit_gradients, operand.scores, candidates, size, width, n, stride, 1)
    add_product(gradients, operand.scores, batch.units, n, width, size, 1, stride)
    return loss


@inline
def softmax_gradients(operand: InBatchNegatives, weights: np.ndarray, size: int, n: int) -> float:
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
        # The largest cosine is 1: no exponent is above 0, and no row or column needs a maximum of its own.
        for j in range(n):
            row[j] = scale * (row[j] - one)
        loss -= weights[i] * np.float64(row[i])
        total = exponentiate(row, real(0))
        loss += weights[i] * 0.5 * np.log(np.float64(total))
        for j in range(size):
            columns[j] += row[j]
        # The units of candidates have been multiplied: their memory keeps the factors of rows until columns are summed.
        operand.transposed[0, i] = weights[i] * half / total
    for j in range(size):
        loss += weights[j] * 0.5 * np.log(np.float64(columns[j]))
        columns[j] = weights[j] * half / columns[j]
    sums[size:] = 0
    for i in range(size):
        row, share = operand.scores[i, :n], operand.transposed[0, i]
        for j in range(n):
            row[j] *= share + sums[j]
        row[i] -= weights[i] * (half + half)
    return loss


@inline
def mask_equal_texts(operand: InBatchNegatives, batch: TextBatch, size: int, sides: int) -> None:
    """Leave out candidates that are equal to a left text, to its own candidate, or to that of an equal left text."""
    slots, last = operand.slots, np.uint64(operand.slots.shape[0] - 1)
    slots[:] = 0
    for text in range(size * sides):
        # Linear probing: at least half of the slots are free, as there are twice as many as texts.
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
    """Leave out candidates because two texts of a batch, of which the second is later, are equal."""
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


class TeacherCosine(NamedTuple):
    """targets: float32 (all texts, width), the teacher's vector of each text, whose norm is the weight of the text."""

    targets: np.ndarray


@implements(TeacherCosine)
@inline
def learn_teacher_cosine(operand: TeacherCosine, batch: TextBatch, block: PairBlock, size: int, sides: int) -> float:
    """Loss |t| - u t for the unit vector u of a text and its target t: |t| times 1 - the cosine.

    The gradient of the mean loss with respect to u is -t / size.
    """
    loss = 0.0
    for k in range(size):
        target, unit, gradient = operand.targets[block.pairs[k]], batch.units[k], batch.unit_gradients[k]
        product, square = unit.dtype.type(0), unit.dtype.type(0)
        share = unit.dtype.type(1) / unit.dtype.type(size)
        for d in range(unit.shape[0]):
            product += unit[d] * target[d]
            square += target[d] * target[d]
            gradient[d] -= share * target[d]
        loss += np.sqrt(np.float64(square)) - np.float64(product)
    return loss
