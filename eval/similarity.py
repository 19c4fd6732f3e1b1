"""How well cosines follow human ratings of word pairs: Spearman's correlation of ranks, and Pearson's."""

import numpy as np

from embeddings.eval.datasets import Pairs
from embeddings.eval.intervals import bootstrap
from embeddings.eval.matching import Folded
from embeddings.eval.results import Result
from embeddings.neighbours import unit
from embeddings.vectors import Vectors


def evaluate_similarity(vectors: Vectors, test: Pairs, folded: Folded, *, name: str) -> list[Result]:
    """Spearman's and Pearson's correlation of cosines and ratings, over the pairs whose words both have vectors.

    Ties get the mean of their ranks. Cosines are taken in float64; a zero vector has cosine 0 with all.
    Without two pairs, or where either side is constant, there is no value, and the reason is said.
    """
    rows = folded.find(word for pair in test.pairs for word in pair).reshape(-1, 2)
    known = (rows >= 0).all(axis=1)
    sides = unit(vectors.matrix[rows[known, 0]]), unit(vectors.matrix[rows[known, 1]])
    cosines, ratings = (sides[0] * sides[1]).sum(axis=1), np.array(test.ratings)[known]
    results = []
    for measure, correlation in (("spearman", spearman), ("pearson", pearson)):
        value, reason = correlation(cosines, ratings)
        low, high = (None, None) if value is None else bootstrap(cosines, ratings, ranked=measure == "spearman")
        results.append(
            Result(
                vectors=name,
                set=test.name,
                measure=measure,
                value=value,
                low=low,
                high=high,
                seen=int(known.sum()),
                total=len(test.pairs),
                reason=reason,
            )
        )
    return results


def spearman(x: np.ndarray, y: np.ndarray) -> tuple[float | None, str | None]:
    """The rank correlation of two arrays (n,), with mean ranks for ties; or None and why there is none."""
    reason = no_correlation(x, y)
    return (None, reason) if reason else (correlation(ranks(x), ranks(y)), None)


def pearson(x: np.ndarray, y: np.ndarray) -> tuple[float | None, str | None]:
    """The linear correlation of two arrays (n,); or None and why there is none."""
    reason = no_correlation(x, y)
    return (None, reason) if reason else (correlation(x, y), None)


def no_correlation(x: np.ndarray, y: np.ndarray) -> str | None:
    """Why two arrays have no correlation; None if they have one."""
    if len(x) < 2:
        return f"a correlation needs two pairs, and {len(x)} {'has' if len(x) == 1 else 'have'} vectors"
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return "a vector holds NaN or infinity"
    if (x == x[0]).all():
        return "all cosines are alike"
    return "all ratings are alike" if (y == y[0]).all() else None


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's correlation of two arrays, neither of them constant."""
    a, b = x - x.mean(), y - y.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()  # so that no product vanishes or overflows
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value from 1 up; values that tie all get the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: np.ndarray = (last - (counts - 1) / 2)[place]
    return mean
