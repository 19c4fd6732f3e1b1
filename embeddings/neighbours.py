"""The rows nearest to a query by cosine: exact, in blocks of bounded memory, the same on every machine.

Scores of a whole block come from one float32 matrix product. Its last digits depend on the block, the
library and the processor, so whatever it cannot tell apart is decided again row by row in float64:
equal rows tie exactly, and a tie goes to the lower index, which is the more frequent word.
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


def search(
    units: np.ndarray,
    queries: np.ndarray,
    top: int,
    *,
    restrict: int | None = None,
    exclude: Sequence[Sequence[int]] | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each query the indices and cosines (float64) of its `top` nearest rows, nearest first.

    Arguments:
        units: (vocabulary, dim) float32, rows of length one or zero.
        queries: (queries, dim), of any length; a query of zeros scores zero everywhere.
        restrict: only the first so many rows are candidates.
        exclude: for each query the rows that are no candidates.
    """
    check_search(top, restrict)
    candidates = units[:restrict]
    queries = unit(queries)
    for part in row_blocks(len(queries), len(candidates)):
        scores = queries[part].astype(np.float32) @ candidates.T
        for row, query in enumerate(queries[part]):
            barred = exclude[part.start + row] if exclude is not None else ()
            yield best(scores[row], top, barred, rounding(units), exact_cosines(candidates, query))


def rounding(units: np.ndarray) -> float:
    """How far two float32 products of unit rows may be from their true difference."""
    return float(units.shape[1] + 4) * 2.0**-23


def exact_cosines(units: np.ndarray, query: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from row indices to float64 cosines that are the same wherever the row stands."""

    def score(indices: np.ndarray) -> np.ndarray:
        cosines = np.empty(len(indices))
        for part in row_blocks(len(indices), len(query), itemsize=8):
            cosines[part] = (units[indices[part]] * query).sum(axis=1)
        return np.clip(cosines, -1, 1)

    return score


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
