"""How well cosines follow human ratings of word pairs: Spearman's rank correlation."""

import numpy as np

from embeddings.eval.datasets import Pairs
from embeddings.eval.matching import Folded
from embeddings.eval.results import Result
from embeddings.neighbours import unit
from embeddings.vectors import Vectors


def evaluate_similarity(vectors: Vectors, test: Pairs, folded: Folded, *, name: str) -> Result:
    """Spearman's correlation of cosines and ratings, over the pairs whose words both have vectors.

    Ties get the mean of their ranks. Cosines are taken in float64; a zero vector has cosine 0 with all.
    Without two pairs, or where either side is constant, there is no value, and the reason is said.
    """
    rows = folded.find(word for pair in test.pairs for word in pair).reshape(-1, 2)
    known = (rows >= 0).all(axis=1)
    sides = unit(vectors.matrix[rows[known, 0]]), unit(vectors.matrix[rows[known, 1]])
    value, reason = spearman((sides[0] * sides[1]).sum(axis=1), np.array(test.ratings)[known])
    return Result(
        vectors=name,
        set=test.name,
        measure="spearman",
        value=value,
        seen=int(known.sum()),
        total=len(test.pairs),
        reason=reason,
    )


def spearman(x: np.ndarray, y: np.ndarray) -> tuple[float | None, str | None]:
    """The rank correlation of two arrays (n,), with mean ranks for ties; or None and why there is none."""
    if len(x) < 2:
        return None, f"a correlation needs two pairs, and {len(x)} {'has' if len(x) == 1 else 'have'} vectors"
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None, "a vector holds NaN or infinity"
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    if scale == 0:
        return None, "all cosines are alike" if not a.any() else "all ratings are alike"
    return float(np.clip(a @ b / scale, -1, 1)), None


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value from 1 up; values that tie all get the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: np.ndarray = (last - (counts - 1) / 2)[place]
    return mean
