"""Cosine regression: the squared difference of the cosine of a pair and its rating, scaled to 0 to 1."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.jit import implements, inline
from embeddings.kernels.sparse_steps import StepRates
from embeddings.plugins.text_pairs.pair_objective import (
    BatchShape,
    CosinePairs,
    PairObjective,
    backprop_cosines,
    compute_cosines,
    new_cosine_pairs,
)
from embeddings.plugins.text_pairs.pair_stream import PairBlock
from embeddings.plugins.text_pairs.text_batch import TextBatch


class CosineRegression(NamedTuple):
    """The ratings of all pairs, and scratch memory."""

    ratings: np.ndarray
    pairs: CosinePairs


def new_cosine_regression(settings: Any, shape: BatchShape, ratings: np.ndarray) -> CosineRegression:
    """The operand for batches of this shape."""
    return CosineRegression(ratings, new_cosine_pairs(shape, ratings.dtype.type))


@implements(CosineRegression)
@inline
def learn_cosine_regression(
    operand: CosineRegression, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates
) -> float:
    """Loss (c - r)^2."""
    cosines, slopes, loss = operand.pairs.cosines, operand.pairs.slopes, 0.0
    compute_cosines(batch, cosines, size, size)
    factor = slopes.dtype.type(2 / size)
    for k in range(size):
        error = cosines[k] - operand.ratings[block.pairs[k]]
        loss += np.float64(error * error)
        slopes[k] = factor * error
    backprop_cosines(batch, slopes, size, size)
    return loss


COSINE_REGRESSION = PairObjective(new_cosine_regression, needs="ratings", batch_size=32)
