"""How well cosines follow human ratings of word pairs: Spearman's correlation of ranks, and Pearson's."""

import numpy as np

from embeddings.eval.item_scores import Correlated
from embeddings.eval.results import Key
from embeddings.eval.word_matching import Folded, rows_or_composed
from embeddings.eval.word_pairs import Pairs
from embeddings.support.cosine import unit
from embeddings.vectors.vectors import Vectors

PROTOCOL = (
    "cosines against ratings; case does not count, and of words alike but for case the most frequent is taken; {unseen}"
    "pairs with a word that has no vector are left out; ties have the mean of their ranks; a pair that stands twice "
    "counts twice; interval: bootstrap over pairs"
)
COMPOSED = "words outside the vocabulary have their vectors composed, in lower case if all of the vocabulary are; "


def similarity(vectors: Vectors, test: Pairs, folded: Folded, *, name: str, compose: bool = False) -> list[Correlated]:
    """Spearman's and Pearson's correlation of cosines and ratings, over the pairs whose words both have vectors.

    Ties get the mean of their ranks. Cosines are taken in float64; a zero vector has cosine 0 with all.
    Without two pairs, or where either side is constant, there is no value, and the reason is said.
    With `compose`, words outside the vocabulary have their vectors composed.

    Raises:
        SettingError: vectors are to be composed that cannot be.
    """
    words = [word for pair in test.pairs for word in pair]
    rows = folded.find(words)
    matrix, composed = rows_or_composed(vectors, words, rows, compose=compose)
    known = np.asarray(((rows >= 0) | composed).reshape(-1, 2).all(axis=1))
    sides = unit(matrix).reshape(-1, 2, vectors.dim)[known]
    cosines, ratings = np.zeros(len(known)), np.array(test.ratings)
    cosines[known] = (sides[:, 0] * sides[:, 1]).sum(axis=1)
    found = []
    for measure, correlation in (("spearman", spearman), ("pearson", pearson)):
        value, reason = correlation(cosines[known], ratings[known])
        found.append(
            Correlated(
                vectors=name,
                key=Key(test.name, measure),
                seen=known,
                scores=cosines,
                ratings=ratings,
                value=value,
                reason=reason,
                composed=int((known & composed.reshape(-1, 2).any(axis=1)).sum()),
                protocol=PROTOCOL.format(unseen=COMPOSED if compose else ""),
            )
        )
    return found


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
