"""What an index finds of the true neighbours, and what that costs.

An answer is right if no more than float64's rounding puts it behind the last of the true `top`, so that ties are no
errors. The rank of the best found is 1 if none is nearer; an index that finds nothing for a query gets the last rank.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.confidence_intervals import mean_bootstrap
from embeddings.eval.index_quality.test_points import Points
from embeddings.indexes import Found, Index, index_of
from embeddings.indexes.index_spec import check_line, parsed, saved_part
from embeddings.support.cosine import check_search, pair_cosines, rounding, row_blocks, unit
from embeddings.vectors.vectors import Vectors

REPEATS = 3


@dataclass(frozen=True)
class Quality:
    """An index judged by its answers to queries.

    `recall` is the mean share of the true `top` neighbours found, `low` to `high` its 95 % interval (bootstrap over
    queries, of very many the normal one); `nearest` the share of queries whose best answer is the true nearest; `rank`
    the mean true rank of the best answer; `looked` the mean number of rows compared exactly, None where that is not
    known. `per_second` is one query at a time, from the
    median time of one; `per_second_many` all at once, the fastest of three. `bytes` beside the vectors themselves.
    `reason` says why an index could not be built; all values are None then.
    """

    vectors: str
    index: str
    rows: int
    dim: int
    queries: int
    top: int
    recall: float | None = None
    low: float | None = None
    high: float | None = None
    nearest: float | None = None
    rank: float | None = None
    looked: float | None = None
    per_second: float | None = None
    per_second_many: float | None = None
    build_seconds: float | None = None
    bytes: int | None = None
    reason: str | None = None


def compare(
    points: Points,
    indexes: Sequence[str],
    *,
    top: int = 10,
    strict: bool = True,
    report: Callable[[str], None] | None = None,
) -> Iterator[Quality]:
    """Judge indexes, each named as `embeddings.indexes.index_spec` has it or by its path, one after another.

    Arguments:
        strict: raise what is wrong with an index; else it becomes the reason of a result without values.
        report: called with the name of each index before it is built.

    Raises:
        SettingError, RegistryError, FormatError: as `embeddings.indexes.index_of`; for names that are wrong before any
            index is judged.
    """
    check_search(top, None)
    for name in indexes:
        check_line(name)
    top = min(top, len(points.vectors) - (points.own is not None))
    truth = true_neighbours(points, top)
    index: Index | None = None
    for name in indexes:
        found = Quality(points.name, name, len(points.vectors), points.vectors.dim, len(points.queries), top)
        if report:
            report(name)
        try:
            index = tuned(index, name, points.vectors)
            found = replace(found, **agreement(points, index, truth), **costs(points, index, top))
        except SettingError as error:
            if strict:
                raise
            found = replace(found, reason=str(error))
        yield found


def tuned(index: Index | None, name: str, vectors: Vectors) -> Index:
    """The index of a name: the one there is, if no more than settings of its search differ."""
    if index is not None and saved_part(name)[0] is None:
        kind, settings = parsed(name)
        again = index.with_search(kind, settings)
        if again is not None:
            return again
    return index_of(name, vectors)


def true_neighbours(points: Points, top: int) -> Found:
    """The exact answers."""
    return answers(points, index_of(None, points.vectors), top)


def answers(points: Points, index: Index, top: int) -> Found:
    """What an index finds for all queries at once, without the queries' own rows; (queries, top) each."""
    if points.own is None:
        return index.search(points.queries, top=top)
    found = index.search(points.queries, top=top + 1)
    others = np.argsort(found.ids == points.own[:, None], axis=1, kind="stable")[:, :top]
    ids, similarities = (np.take_along_axis(part, others, axis=1) for part in (found.ids, found.similarities))
    return Found(ids, similarities, found.looked)


def agreement(points: Points, index: Index, truth: Found) -> dict[str, Any]:
    """How far an index agrees with the exact answers."""
    found = answers(points, index, truth.ids.shape[1])
    shares = hits(points, found, truth).mean(axis=1)
    low, high = mean_bootstrap(shares)
    ranks = true_ranks(points, found.ids[:, 0])
    return {
        "recall": float(shares.mean()),
        "low": low,
        "high": high,
        "nearest": float((ranks == 1).mean()),
        "rank": float(ranks.mean()),
        "looked": float(found.looked.mean()) if (found.looked >= 0).all() else None,
    }


def hits(points: Points, found: Found, truth: Found) -> np.ndarray:
    """Whether each answer (queries, top) is as near as the last of the true ones."""
    cosines = cosines_of(points, found.ids)
    return cosines >= truth.similarities[:, -1:] - 1e-12


def cosines_of(points: Points, ids: np.ndarray) -> np.ndarray:
    """The exact cosines of rows (queries, n) with their queries; -inf where there is no row."""
    cosines = np.full(ids.shape, -np.inf)
    owners, places = np.nonzero(ids >= 0)
    queries = unit(points.queries)
    cosines[owners, places] = pair_cosines(points.vectors.units, ids[owners, places], queries, owners)
    return cosines


def true_ranks(points: Points, best: np.ndarray) -> np.ndarray:
    """The rank (queries,) of one row for each query among all rows but the query's own; the last where it is -1.

    Cosines that float32 cannot tell from the row's are decided in float64.
    """
    units, queries = points.vectors.units, unit(points.queries)
    ranks = np.empty(len(best), np.int64)
    own = cosines_of(points, best[:, None])
    for part in row_blocks(len(best), len(units)):
        rough, margin = queries[part].astype(np.float32) @ units.T, rounding(units)
        if points.own is not None:
            rough[np.arange(len(rough)), points.own[part]] = -np.inf
        above = rough > own[part] + margin
        owners, rows = np.nonzero(np.abs(rough - own[part]) <= margin)
        above[owners, rows] = pair_cosines(units, rows, queries[part], owners) > own[part][owners, 0]
        ranks[part] = 1 + above.sum(axis=1)
    return np.where(best < 0, len(units) - (points.own is not None), ranks)


def costs(points: Points, index: Index, top: int) -> dict[str, Any]:
    """Speed, of searches that were done once before, and memory."""
    asked = top + (points.own is not None)
    singly = []
    for query in points.queries:
        start = perf_counter()
        index.search(query[None], top=asked)
        singly.append(perf_counter() - start)
    together = []
    for _ in range(REPEATS):
        start = perf_counter()
        index.search(points.queries, top=asked)
        together.append(perf_counter() - start)
    return {
        "per_second": 1 / float(np.median(singly)),
        "per_second_many": len(points.queries) / min(together),
        "build_seconds": index.seconds,
        "bytes": index.bytes,
    }
