"""Exact cosines and the rows of highest score, bit-identical on every machine; and analogies by 3CosMul."""

from collections.abc import Callable, Sequence

import numpy as np

from embeddings.settings import Positive, check_value
from embeddings.support.cosine import normalize, row_blocks

MULTIPLICATIVE_EPSILON = 1e-6


def check_search(top: int, restrict: int | None) -> None:
    """Check the number of neighbours and of candidates."""
    check_value("top", top, Positive, {})
    check_value("restrict", restrict, Positive | None, {})


def product_error(units: np.ndarray) -> float:
    """Bound the error of the difference of two float32 dot products of unit rows."""
    return float(units.shape[1] + 4) * 2.0**-23


def pair_cosines(
    units: np.ndarray, rows: np.ndarray, queries: np.ndarray, owners: np.ndarray | None = None
) -> np.ndarray:
    """Compute float64 cosines (pairs,) of `rows` with one query, or of `rows[i]` with query `owners[i]`."""
    cosines = np.empty(len(rows))
    for part in row_blocks(len(rows), units.shape[1], itemsize=8):
        selected = queries if owners is None else queries[owners[part]]
        cosines[part] = (units[rows[part]] * selected).sum(axis=1)
    return np.clip(cosines, -1, 1)


def select_top(
    scores: np.ndarray,
    top: int,
    excluded_rows: Sequence[int],
    margin: float,
    exact: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the `top` rows of approximate `scores`, sorted by exact score; overwrites the scores of excluded rows.

    Two approximate scores that differ by less than `margin` may be in the wrong order.
    """
    excluded_rows = [row for row in set(excluded_rows) if row < len(scores)]
    scores[excluded_rows] = -np.inf
    top = min(top, len(scores) - len(excluded_rows))
    if top <= 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    last = np.partition(scores, len(scores) - top)[len(scores) - top]
    candidates = np.flatnonzero(scores >= last - margin)
    values = exact(candidates)
    order = np.argsort(-values, kind="stable")[:top]
    return candidates[order], values[order]


def search_multiplicative(
    units: np.ndarray, abc: np.ndarray, top: int, *, restrict: int | None, exclude: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return row numbers and scores by 3CosMul: cos(x, b) cos(x, c) / (cos(x, a) + 1e-6), with cosines scaled to 0..1.

    Equation 4 of Levy and Goldberg (2014), with gensim's epsilon. `abc` (3, dim) holds a, b and c.
    """
    check_search(top, restrict)
    candidates, abc = units[:restrict], normalize(abc)

    def combine(cosines: np.ndarray) -> np.ndarray:
        a, b, c = (1 + np.clip(cosines, -1, 1)) / 2
        return np.asarray(b * c / (a + MULTIPLICATIVE_EPSILON))

    def exact(rows: np.ndarray) -> np.ndarray:
        return combine(np.stack([pair_cosines(candidates, rows, query) for query in abc]))

    scores = np.empty(len(candidates))
    for part in row_blocks(*candidates.shape, itemsize=8):
        scores[part] = combine(abc @ candidates[part].astype(np.float64).T)
    margin = 1e-7 * float(scores.max(initial=0))
    return select_top(scores, top, exclude, margin, exact)
