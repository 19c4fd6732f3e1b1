"""What an objective over pairs of texts is: it computes the gradients of unit vectors, and the loss."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.jit import dispatched, inline
from embeddings.kernels.sparse_steps import StepRates
from embeddings.models.table import Table
from embeddings.plugins.text_pairs.pair_stream import PairBlock
from embeddings.plugins.text_pairs.text_batch import TextBatch


class BatchShape(NamedTuple):
    """The largest batch: pairs, texts of each pair, and the width of a vector."""

    pairs: int
    sides: int
    width: int


@dataclass(frozen=True)
class PairObjective:
    """An objective that pairs of texts can be trained by.

    Arguments:
        operand: makes its operand, a NamedTuple whose type selects the implementation of `learn_units`, from the
            settings, the shape of a batch, the ratings of all pairs, float32, empty if there are none, and the
            `AdamRows` or `AdaGradRows` of each of its tables.
        needs: what a pair must have besides two texts: "ratings", "classes" (ratings, of which the integers are
            classes), "labels" (ratings 0 or 1), "negatives" or nothing.
        tables: makes its own tables from the settings, the width of a vector and the ratings.
        allows_negatives: whether it uses negative texts, if pairs have any.
        temperature, margin: the defaults of these settings; None if it does not use them.
        batch_size: the default.
    """

    operand: Callable[..., Any]
    needs: str = ""
    tables: Callable[[Any, int, np.ndarray], dict[str, Table]] = lambda settings, width, ratings: {}
    allows_negatives: bool = False
    temperature: float | None = None
    margin: float | None = None
    batch_size: int = 64


@dispatched
def learn_units(operand: Any, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates) -> float:
    """Add the gradients of the units of a batch of pairs; returns the sum of the losses of the pairs.

    Gradients are those of the mean over the pairs. The tables of the objective take a step.
    """
    raise NotImplementedError


class CosinePairs(NamedTuple):
    """Scratch memory of objectives on the cosine of each pair: these, and the derivatives of the loss, (batch,)."""

    cosines: np.ndarray
    slopes: np.ndarray


def new_cosine_pairs(shape: BatchShape, dtype: type = np.float32) -> CosinePairs:
    """Memory for batches of this shape."""
    return CosinePairs(*np.zeros((2, shape.pairs), dtype))


@inline
def compute_cosines(batch: TextBatch, cosines: np.ndarray, size: int, first: int) -> None:
    """The cosine of the left text of each pair and the text that is `first` texts behind it."""
    for k in range(size):
        left, right = batch.units[k], batch.units[first + k]
        product = cosines.dtype.type(0)
        for d in range(left.shape[0]):
            product += left[d] * right[d]
        cosines[k] = product


@inline
def backprop_cosines(batch: TextBatch, slopes: np.ndarray, size: int, first: int) -> None:
    """Add the gradients of the units of both texts, from the derivative of the loss with respect to their cosine."""
    for k in range(size):
        left, right = batch.units[k], batch.units[first + k]
        left_gradient, right_gradient = batch.unit_gradients[k], batch.unit_gradients[first + k]
        slope = slopes[k]
        for d in range(left.shape[0]):
            left_gradient[d] += slope * right[d]
        for d in range(left.shape[0]):
            right_gradient[d] += slope * left[d]
