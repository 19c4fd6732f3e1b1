"""Folds for cross-validation."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
SEED = 1


def stratified_folds(items: Sequence[Hashable], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fold of each item (items,): stratified by class, in a fixed random order; equal items share a fold."""
    first_of = {item: number for number, item in reversed(list(enumerate(items)))}
    first = np.array([first_of[item] for item in items], dtype=np.int64)
    distinct = np.flatnonzero(first == np.arange(len(first)))
    order = distinct[np.random.default_rng(SEED).permutation(len(distinct))]
    order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(len(first), np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    return fold[first]
