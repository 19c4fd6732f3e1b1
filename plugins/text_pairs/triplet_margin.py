"""Triplet loss: a text is nearer to its right text than to its negative one, by a margin (Schroff et al. 2015)."""

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


class TripletMargin(NamedTuple):
    """The margin, and scratch memory for the right and the negative texts."""

    margin: float
    right: CosinePairs
    negative: CosinePairs


def new_triplet_margin(
    settings: Any, shape: BatchShape, ratings: np.ndarray, dtype: type = np.float32
) -> TripletMargin:
    """The operand for batches of this shape."""
    return TripletMargin(settings.margin_value, new_cosine_pairs(shape, dtype), new_cosine_pairs(shape, dtype))


@implements(TripletMargin)
@inline
def learn_triplets(
    operand: TripletMargin, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates
) -> float:
    """Loss max(0, margin - c(left, right) + c(left, negative))."""
    right, negative, loss = operand.right, operand.negative, 0.0
    compute_cosines(batch, right.cosines, size, size)
    compute_cosines(batch, negative.cosines, size, 2 * size)
    share = right.slopes.dtype.type(1 / size)
    for k in range(size):
        error = operand.margin - np.float64(right.cosines[k]) + np.float64(negative.cosines[k])
        is_near = error > 0
        loss += error if is_near else 0.0
        right.slopes[k] = -share if is_near else 0
        negative.slopes[k] = share if is_near else 0
    backprop_cosines(batch, right.slopes, size, size)
    backprop_cosines(batch, negative.slopes, size, 2 * size)
    return loss


TRIPLET_MARGIN = PairObjective(new_triplet_margin, needs="negatives", allows_negatives=True, margin=0.3, batch_size=256)
