"""Parts of a set, each judged by what is learned from the others."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

FOLDS = 5
SEED = 1


def folds(items: Sequence[Hashable], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fold of each item (items,): every class dealt out in turn, in an order that is drawn but always the same.

    Equal items are in one fold, that of the first of them, so that none is judged by what was learned from itself.
    """
    place = {item: number for number, item in reversed(list(enumerate(items)))}
    own = np.array([place[item] for item in items], dtype=np.int64)
    firsts = np.flatnonzero(own == np.arange(len(own)))
    order = firsts[np.random.default_rng(SEED).permutation(len(firsts))]
    order = order[np.argsort(classes[order], kind="stable")]
    fold = np.empty(len(own), np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    return fold[own]
