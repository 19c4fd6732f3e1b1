"""Contrastive loss of binary labels (Hadsell, Chopra and LeCun 2006), with the distance 1 - cosine."""

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


class Contrastive(NamedTuple):
    """The margin, the labels of all pairs, 0 or 1, and scratch memory."""

    margin: float
    labels: np.ndarray
    pairs: CosinePairs


def new_contrastive(settings: Any, shape: BatchShape, ratings: np.ndarray) -> Contrastive:
    """The operand for batches of this shape."""
    return Contrastive(settings.margin_value, ratings, new_cosine_pairs(shape, ratings.dtype.type))


@implements(Contrastive)
@inline
def learn_contrastive(
    operand: Contrastive, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates
) -> float:
    """Loss d^2 / 2 of pairs with label 1, max(0, margin - d)^2 / 2 of others."""
    cosines, slopes, loss = operand.pairs.cosines, operand.pairs.slopes, 0.0
    compute_cosines(batch, cosines, size, size)
    for k in range(size):
        distance = 1 - np.float64(cosines[k])
        is_near = operand.labels[block.pairs[k]] == 1
        error = distance if is_near else min(distance - operand.margin, 0.0)
        loss += 0.5 * error * error
        slopes[k] = -error / size
    backprop_cosines(batch, slopes, size, size)
    return loss


CONTRASTIVE = PairObjective(new_contrastive, needs="labels", margin=0.5, batch_size=64)
