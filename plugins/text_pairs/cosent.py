"""CoSENT (Su 2022): a pair with a higher rating has a higher cosine than one with a lower rating.

The loss of a batch is log(1 + sum exp((c_j - c_i) / temperature)) over all pairs i and j with r_i > r_j.
"""

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


class CoSENT(NamedTuple):
    """The inverse temperature, the ratings of all pairs, and scratch memory; powers: float64 (2, batch)."""

    scale: float
    ratings: np.ndarray
    pairs: CosinePairs
    powers: np.ndarray


def new_cosent(settings: Any, shape: BatchShape, ratings: np.ndarray) -> CoSENT:
    """The operand for batches of this shape."""
    pairs = new_cosine_pairs(shape, ratings.dtype.type)
    return CoSENT(1 / settings.temperature_value, ratings, pairs, np.zeros((2, shape.pairs)))


@implements(CoSENT)
@inline
def learn_cosent(operand: CoSENT, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates) -> float:
    """The gradients of the loss of a batch, which counts once for each of its pairs."""
    cosines, slopes = operand.pairs.cosines, operand.pairs.slopes
    compute_cosines(batch, cosines, size, size)
    rises, falls = operand.powers[0], operand.powers[1]  # exp(c / temperature), exp(-c / temperature)
    total = 1.0
    for k in range(size):
        power = np.exp(operand.scale * np.float64(cosines[k]))
        rises[k], falls[k] = power, 1 / power
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
    backprop_cosines(batch, slopes, size, size)
    return size * np.log(total)  # type: ignore[no-any-return]


COSENT = PairObjective(new_cosent, needs="ratings", temperature=0.2, batch_size=32)
