"""Whether words of a category lie together: the purity of clusters (Zhao and Karypis, 2001; Baroni et al., 2014)."""

import warnings

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.categories import Categories
from embeddings.eval.item_scores import Shares
from embeddings.eval.results import Key
from embeddings.eval.word_matching import Folded
from embeddings.support.cosine import unit
from embeddings.vectors.vectors import Vectors

STARTS, SEED = 10, 1
PROTOCOL = (
    "the share of words that are of the commonest category in their cluster (not 0 for random clusters); k-means of "
    "unit vectors, as many clusters as categories, the best of 10 starts, seed 1; case does not count; words without a "
    "vector are left out; a word of two categories stands twice; of categories that are as common in a cluster the "
    "first by name; interval: Wilson's, with the clusters as they are"
)


def categorisation(vectors: Vectors, test: Categories, folded: Folded, *, name: str) -> list[Shares]:
    """Which words are of the commonest category of their cluster: by category, and all (section None)."""
    rows = folded.find(test.words)
    seen = rows >= 0
    kinds, category = np.unique(test.categories, return_inverse=True)
    right, reason = np.zeros(len(rows), dtype=bool), None
    if len(np.unique(category[seen])) < 2:
        reason = "fewer than two categories have words with vectors"
    else:
        right[seen] = common(clusters(unit(vectors.matrix[rows[seen]]), len(np.unique(category[seen]))), category[seen])
    whole = Shares(
        vectors=name,
        key=Key(test.name, "purity"),
        right=right,
        seen=seen,
        members=np.ones(len(rows), dtype=bool),
        protocol=PROTOCOL,
        reason=reason,
    )
    return [*(whole.section(str(kind), category == place, detail=True) for place, kind in enumerate(kinds)), whole]


def clusters(units: np.ndarray, count: int) -> NDArray[np.int64]:
    """The cluster of each row (rows,), the same each time."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        return np.asarray(KMeans(count, n_init=STARTS, random_state=SEED).fit_predict(units), dtype=np.int64)


def common(cluster: NDArray[np.int64], category: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each item is of the commonest category of its cluster, (items,)."""
    table = np.zeros((cluster.max() + 1, category.max() + 1), dtype=np.int64)
    np.add.at(table, (cluster, category), 1)
    return np.asarray(table.argmax(axis=1)[cluster] == category)
