"""Unit rows and their cosines, in blocks of bounded memory, the same on every machine; and 3CosMul.

The search for neighbours itself is an index: see `embeddings.indexes`.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from embeddings.errors import SettingError

BLOCK_BYTES = 1 << 26
MULTIPLICATIVE_EPSILON = 1e-6


def unit_rows(matrix: np.ndarray) -> np.ndarray:
    """The rows at length one, float32 and of the same shape; a row of zeros stays zero.

    Lengths are taken in float64, so that no float32 row overflows or vanishes. A row that holds NaN or
    infinity becomes NaN.
    """
    rows = np.empty(matrix.shape, dtype=np.float32)
    for part in row_blocks(*matrix.shape, itemsize=8):
        rows[part] = unit(matrix[part])
    return rows


def unit(rows: np.ndarray) -> np.ndarray:
    """The same along the last axis, in float64."""
    wide = np.asarray(rows, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        lengths = np.sqrt((wide * wide).sum(axis=-1, keepdims=True))
        wide = wide / np.where(lengths == 0, 1, lengths)
    return wide


def row_blocks(rows: int, width: int, *, itemsize: int = 4) -> Iterator[slice]:
    """Slices that cover `rows`, each of at most about 64 MiB at `width` items to a row."""
    step = max(1, BLOCK_BYTES // max(1, width * itemsize))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def check_search(top: int, restrict: int | None) -> None:
    """Refuse a number of neighbours or of candidates below one.

    Raises:
        SettingError: naming the setting.
    """
    if top < 1:
        raise SettingError(f"top must be at least 1, not {top}")
    if restrict is not None and restrict < 1:
        raise SettingError(f"restrict must be at least 1, not {restrict}")


def rounding(units: np.ndarray) -> float:
    """How far two float32 products of unit rows may be from their true difference."""
    return float(units.shape[1] + 4) * 2.0**-23


def exact_cosines(units: np.ndarray, query: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from row indices to float64 cosines that are the same wherever the row stands."""

    def score(indices: np.ndarray) -> np.ndarray:
        return pair_cosines(units, indices, query)

    return score


def pair_cosines(
    units: np.ndarray, rows: np.ndarray, queries: np.ndarray, owners: np.ndarray | None = None
) -> np.ndarray:
    """The cosine (pairs,) float64 of each of `rows` with the one query, or with that of its owner among several."""
    cosines = np.empty(len(rows))
    for part in row_blocks(len(rows), units.shape[1], itemsize=8):
        facing = queries if owners is None else queries[owners[part]]
        cosines[part] = (units[rows[part]] * facing).sum(axis=1)
    return np.clip(cosines, -1, 1)


def best(
    scores: np.ndarray,
    top: int,
    barred: Sequence[int],
    margin: float,
    exact: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """The `top` rows of rough `scores` (changed: barred rows fall out) put in order by their exact ones.

    `margin` is how far apart two rough scores must be to be told apart.
    """
    barred = [index for index in set(barred) if index < len(scores)]
    scores[barred] = -np.inf
    top = min(top, len(scores) - len(barred))
    if top <= 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    last = np.partition(scores, len(scores) - top)[len(scores) - top]
    near = np.flatnonzero(scores >= last - margin)
    values = exact(near)
    order = np.argsort(-values, kind="stable")[:top]
    return near[order], values[order]


def search_multiplicative(
    units: np.ndarray, three: np.ndarray, top: int, *, restrict: int | None, exclude: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and scores by 3CosMul, cos(x, b) cos(x, c) / (cos(x, a) + 1e-6) with cosines moved to 0..1.

    Equation 4 of Levy and Goldberg (2014), with gensim's epsilon. `three` (3, dim) holds a, b and c.
    """
    check_search(top, restrict)
    candidates, three = units[:restrict], unit(three)

    def combine(cosines: np.ndarray) -> np.ndarray:
        a, b, c = (1 + np.clip(cosines, -1, 1)) / 2
        return np.asarray(b * c / (a + MULTIPLICATIVE_EPSILON))

    def exact(indices: np.ndarray) -> np.ndarray:
        return combine(np.stack([exact_cosines(candidates, row)(indices) for row in three]))

    scores = np.empty(len(candidates))
    for part in row_blocks(*candidates.shape, itemsize=8):
        scores[part] = combine(three @ candidates[part].astype(np.float64).T)
    margin = 1e-7 * float(scores.max(initial=0))
    return best(scores, top, exclude, margin, exact)
