"""Recall of an index against exact search, and its cost.

A result counts as correct if it is as near, up to float64 rounding, as the last of the true `top`, so ties are not
errors. The rank of the best result is 1 if no row is nearer; an empty result has the last rank.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.index_quality.query_sets import QuerySet
from embeddings.eval.statistics.confidence_intervals import mean_bootstrap
from embeddings.indexes.index import Index
from embeddings.indexes.index_spec import as_index, check_spec, parse_spec, split_path
from embeddings.indexes.protocol import SearchResult
from embeddings.support.cosine import check_search, normalize, pair_cosines, product_error, row_blocks
from embeddings.vectors.vectors import Vectors

REPEATS = 3


@dataclass(frozen=True)
class IndexQuality:
    """Measurements of an index; all None if it could not be built, for the `reason` given.

    Arguments:
        recall: mean share of the true `top` neighbours found.
        low: lower end of its 95 % interval (bootstrap over queries, normal for very many).
        high: upper end.
        nearest: share of queries whose best result is the true nearest.
        rank: mean true rank of the best result.
        n_compared: mean number of rows compared exactly; None if unknown.
        per_second: queries per second, one at a time, from the median time.
        per_second_many: queries per second, all at once, the fastest of three runs.
        bytes: memory in addition to the vectors themselves.
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
    n_compared: float | None = None
    per_second: float | None = None
    per_second_many: float | None = None
    build_seconds: float | None = None
    bytes: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class GridResult:
    """The indexes of one grid, "speed" or "rank", measured on one query set."""

    grid: str
    vectors: str
    fingerprint: str
    results: list[IndexQuality]

    @classmethod
    def of(cls, grid: str, query_set: QuerySet, results: Sequence[IndexQuality]) -> "GridResult":
        """Results that name the vectors by the last part of their path."""
        name = Path(query_set.name).name
        return cls(grid, name, query_set.vectors.fingerprint, [replace(one, vectors=name) for one in results])


def measure_indexes(
    query_set: QuerySet,
    indexes: Sequence[str],
    *,
    top: int = 10,
    strict: bool = True,
    allow_faiss: bool = False,
    report: Callable[[str], None] | None = None,
) -> Iterator[IndexQuality]:
    """Measure indexes one after another.

    Arguments:
        indexes: specs as in `embeddings.indexes.index_spec`, or paths.
        strict: raise if an index cannot be built; otherwise yield its `reason`.
        allow_faiss: as in `embeddings.load_index`.
        report: called with each spec before its index is built.
    """
    check_search(top, None)
    for spec in indexes:
        check_spec(spec, allow_faiss=allow_faiss)
    vectors = query_set.vectors
    top = min(top, len(vectors) - (query_set.query_rows is not None))
    truth = search_others(query_set, as_index(None, vectors), top)
    index: Index | None = None
    for spec in indexes:
        quality = IndexQuality(query_set.name, spec, len(vectors), vectors.dim, len(query_set.queries), top)
        if report:
            report(spec)
        try:
            index = reuse_or_build(index, spec, vectors, allow_faiss)
            quality = replace(quality, **measure_recall(query_set, index, truth), **measure_cost(query_set, index, top))
        except SettingError as error:
            if strict:
                raise
            quality = replace(quality, reason=str(error))
        yield quality


def reuse_or_build(index: Index | None, spec: str, vectors: Vectors, allow_faiss: bool) -> Index:
    """The previous index if only search settings differ, else a new one."""
    if index is not None and split_path(spec)[0] is None:
        variant = index.with_search(*parse_spec(spec))
        if variant is not None:
            return variant
    return as_index(spec, vectors, allow_faiss=allow_faiss)


def search_others(query_set: QuerySet, index: Index, top: int) -> SearchResult:
    """The results for all queries at once, without the queries' own rows; (queries, top) each."""
    if query_set.query_rows is None:
        return index.search(query_set.queries, top=top)
    result = index.search(query_set.queries, top=top + 1)
    others = np.argsort(result.ids == query_set.query_rows[:, None], axis=1, kind="stable")[:, :top]
    ids, similarities = (np.take_along_axis(part, others, axis=1) for part in (result.ids, result.similarities))
    return SearchResult(ids, similarities, result.n_compared)


def measure_recall(query_set: QuerySet, index: Index, truth: SearchResult) -> dict[str, Any]:
    """The agreement of an index with the exact results."""
    result = search_others(query_set, index, truth.ids.shape[1])
    shares = is_correct(query_set, result, truth).mean(axis=1)
    low, high = mean_bootstrap(shares)
    ranks = true_ranks(query_set, result.ids[:, 0])
    return {
        "recall": float(shares.mean()),
        "low": low,
        "high": high,
        "nearest": float((ranks == 1).mean()),
        "rank": float(ranks.mean()),
        "n_compared": float(result.n_compared.mean()) if (result.n_compared >= 0).all() else None,
    }


def is_correct(query_set: QuerySet, result: SearchResult, truth: SearchResult) -> np.ndarray:
    """Whether each result (queries, top) is as near as the last of the true ones."""
    return exact_cosines(query_set, result.ids) >= truth.similarities[:, -1:] - 1e-12


def exact_cosines(query_set: QuerySet, ids: np.ndarray) -> np.ndarray:
    """The exact cosines of rows (queries, n) with their queries; -inf for an id of -1."""
    cosines = np.full(ids.shape, -np.inf)
    owners, columns = np.nonzero(ids >= 0)
    queries = normalize(query_set.queries)
    cosines[owners, columns] = pair_cosines(query_set.vectors.unit_rows, ids[owners, columns], queries, owners)
    return cosines


def true_ranks(query_set: QuerySet, ids: np.ndarray) -> np.ndarray:
    """The rank (queries,) of one row for each query among all rows but the query's own; the last for an id of -1."""
    units, queries = query_set.vectors.unit_rows, normalize(query_set.queries)
    ranks = np.empty(len(ids), np.int64)
    cosines = exact_cosines(query_set, ids[:, None])
    for block in row_blocks(len(ids), len(units)):
        rough, margin = queries[block].astype(np.float32) @ units.T, product_error(units)
        if query_set.query_rows is not None:
            rough[np.arange(len(rough)), query_set.query_rows[block]] = -np.inf
        is_nearer = rough > cosines[block] + margin
        owners, rows = np.nonzero(np.abs(rough - cosines[block]) <= margin)
        # cosines that float32 cannot tell from the row's are compared in float64
        is_nearer[owners, rows] = pair_cosines(units, rows, queries[block], owners) > cosines[block][owners, 0]
        ranks[block] = 1 + is_nearer.sum(axis=1)
    return np.where(ids < 0, len(units) - (query_set.query_rows is not None), ranks)


def measure_cost(query_set: QuerySet, index: Index, top: int) -> dict[str, Any]:
    """Speed of searches after a first one, and memory."""
    top += query_set.query_rows is not None

    def seconds(queries: np.ndarray) -> float:
        start = perf_counter()
        index.search(queries, top=top)
        return perf_counter() - start

    single = [seconds(query[None]) for query in query_set.queries]
    batch = [seconds(query_set.queries) for _ in range(REPEATS)]
    return {
        "per_second": 1 / float(np.median(single)),
        "per_second_many": len(query_set.queries) / min(batch),
        "build_seconds": index.seconds,
        "bytes": index.bytes,
    }
