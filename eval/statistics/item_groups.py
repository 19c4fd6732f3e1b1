"""Random groups of very many items, so that a bootstrap of them stays fast."""

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.statistics.confidence_intervals import MAX_CACHED


def group_of(items: int) -> NDArray[np.int64]:
    """The group of each item: itself, or of very many items one of `MAX_CACHED` random ones.

    Sums of random groups of independent items vary between resamples as the items do.
    """
    if items <= MAX_CACHED:
        return np.arange(items)
    return np.random.default_rng(1).permutation(items) % MAX_CACHED


def group_sums(columns: np.ndarray) -> np.ndarray:
    """The sums of the rows of each group, (groups, columns)."""
    group = group_of(len(columns))
    return np.stack([np.bincount(group, column) for column in columns.T], axis=1)
