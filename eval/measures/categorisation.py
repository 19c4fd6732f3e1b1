"""Whether words of a category cluster together: purity (Zhao and Karypis, 2001; Baroni et al., 2014)."""

import warnings

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.datasets.word_categories import WordCategories
from embeddings.eval.measures.word_matching import CaseFolding
from embeddings.eval.statistics.item_scores import BinaryScores
from embeddings.eval.statistics.results import Key
from embeddings.support.cosine import normalize
from embeddings.vectors.vectors import Vectors

STARTS, SEED = 10, 1
PROTOCOL = (
    "the share of words that belong to the most frequent category of their cluster (not 0 for random clusters); "
    "k-means of unit vectors, as many clusters as categories, the best of 10 starts, seed 1; case is ignored; words "
    "without a vector are left out; a word of two categories counts twice; of equally frequent categories the first by "
    "name; interval: Wilson's, for fixed clusters"
)


def score_purity(vectors: Vectors, test: WordCategories, folding: CaseFolding, *, name: str) -> list[BinaryScores]:
    """Which words belong to the most frequent category of their cluster: by category, and all (section None)."""
    rows = folding.find(test.words)
    covered = rows >= 0
    names, category = np.unique(test.categories, return_inverse=True)
    correct, reason = np.zeros(len(rows), dtype=bool), None
    count = len(np.unique(category[covered]))
    if count < 2:
        reason = "fewer than two categories have words with vectors"
    else:
        cluster = kmeans(normalize(vectors.matrix[rows[covered]]), count)
        table = np.zeros((count, len(names)), dtype=np.int64)
        np.add.at(table, (cluster, category[covered]), 1)
        correct[covered] = table.argmax(axis=1)[cluster] == category[covered]
    whole = BinaryScores(
        vectors=name,
        key=Key(test.name, "purity"),
        correct=correct,
        covered=covered,
        members=np.ones(len(rows), dtype=bool),
        protocol=PROTOCOL,
        reason=reason,
    )
    return whole.by_class(names, category)


def kmeans(units: np.ndarray, count: int) -> NDArray[np.int64]:
    """The cluster of each row (rows,), deterministic."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        return np.asarray(KMeans(count, n_init=STARTS, random_state=SEED).fit_predict(units), dtype=np.int64)
