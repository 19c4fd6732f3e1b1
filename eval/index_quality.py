"""Recall and speed of indexes against exact search: measured, reported as tables, and plotted.

A result counts as correct if it is as near, up to float64 rounding, as the last of the true `top`, so ties are not
errors. The rank of the best result is 1 if no row is nearer; an empty result has the last rank.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle
from math import isqrt
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.eval.machine import describe, environment
from embeddings.eval.statistics.confidence_intervals import mean_bootstrap
from embeddings.indexes.cosine_search import check_search, pair_cosines, product_error
from embeddings.indexes.index import Index, as_index, check_spec, parse_spec, search_settings, split_path
from embeddings.indexes.protocol import SearchResult
from embeddings.settings import Positive, check_value
from embeddings.support.cosine import normalize, row_blocks
from embeddings.support.files import atomic_write_all, check_output
from embeddings.support.imports import import_library
from embeddings.support.plots import label_log_axis, save_figure
from embeddings.support.result_table import format_number, markdown_table
from embeddings.vectors.vectors import Vectors

RANDOM_NAME = re.compile(r"random:(\d{1,9})x(\d{1,5})")
MAX_NUMBERS, MAX_QUERIES = 1 << 28, 1_000_000


@dataclass(frozen=True)
class QuerySet:
    """Vectors, and queries (queries, dim) for them.

    `query_rows` (queries,) are the queries' own rows, which do not count as neighbours; None if the queries
    are not rows.
    """

    name: str
    vectors: Vectors
    queries: np.ndarray
    query_rows: np.ndarray | None


def random_query_set(rows: int, dim: int, *, queries: int, seed: int) -> QuerySet:
    """Independent normal points and queries: the worst case for hashing, as no point is much nearer than another."""
    check_random_size(rows, dim)
    check_value("queries", queries, int, {"ge": 1, "le": MAX_QUERIES})
    points = np.random.default_rng(seed).standard_normal((rows + queries, dim), dtype=np.float32)
    vectors = Vectors([str(row) for row in range(rows)], points[:rows])
    return QuerySet(f"random:{rows}x{dim}", vectors, points[rows:], None)


def sample_query_set(vectors: Vectors, name: str, *, queries: Positive = 1000, seed: int) -> QuerySet:
    """Vectors, with a uniform sample of their own words as queries; all of them if there are fewer.

    Arguments:
        queries: number of queries.
    """
    check_value("queries", queries, int, {"ge": 1, "le": MAX_QUERIES})
    if len(vectors) < 2:
        raise SettingError(f"{name} must have at least two words, got {len(vectors)}")
    rows = np.random.default_rng(seed).choice(len(vectors), min(queries, len(vectors)), replace=False)
    return QuerySet(name, vectors, vectors.unit_rows[rows], rows)


def parse_random_name(name: str) -> tuple[int, int] | None:
    """The rows and components of a name such as random:10000x128; None for any other name."""
    match = RANDOM_NAME.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def check_random_size(rows: int, dim: int) -> None:
    """Refuse too few random points, or more than memory may hold."""
    if rows < 2 or dim < 1 or rows * dim > MAX_NUMBERS:
        raise SettingError(f"random points must be at least 2x1 and at most {MAX_NUMBERS} numbers, got {rows}x{dim}")


NPROBES, EF_SEARCHES = (1, 2, 4, 8, 16, 32), (16, 32, 64, 128, 256)


def speed(rows: int, dim: int) -> list[str]:
    """Every kind at settings from fast to thorough, to trade speed for recall."""
    hamming = {128: (50, 100, 200, 400, 800), 256: (50, 100, 200, 400, 800), 512: (50, 100, 200, 400)}
    lists = max(1, min(rows, isqrt(rows)))
    parts = max(part for part in range(1, dim // 2 + 2) if dim % part == 0)
    return [
        "exact",
        *(f"lsh:bits={bits},rerank={rerank}" for bits, reranks in hamming.items() for rerank in reranks),
        "faiss:factory=Flat",
        *(f"faiss:factory=HNSW32,ef_search={ef_search}" for ef_search in EF_SEARCHES),
        *(f"faiss:factory=IVF{lists},Flat,nprobe={nprobe}" for nprobe in NPROBES),
        *(f"faiss:factory=LSH256r,rerank={rerank}" for rerank in (0, 100, 400, 800)),
        *(f"faiss:factory=PQ{parts}x4fs,rerank={rerank}" for rerank in (0, 50, 100, 200)),
    ]


def rank(rows: int, dim: int) -> list[str]:
    """Hyperplanes by number of bits, orthogonality and rows compared exactly, to compare their best results."""
    return [
        *(f"lsh:bits={bits},rerank=0,orthogonal=false" for bits in (64, 128, 256, 512, 1024)),
        *(f"lsh:bits={bits},rerank=100,orthogonal=false" for bits in (256, 512, 1024)),
        *(f"lsh:bits={bits},rerank=100" for bits in (256, 512, 1024)),
        "exact",
    ]


GRIDS: dict[str, Callable[[int, int], list[str]]] = {"speed": speed, "rank": rank}


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
    """The indexes of one grid, "speed" or "rank", measured on one query set, which is named without its folder."""

    grid: str
    vectors: str
    fingerprint: str
    results: list[IndexQuality]


def measure_indexes(
    query_set: QuerySet,
    indexes: Sequence[str],
    *,
    top: Positive = 10,
    strict: bool = True,
    allow_faiss: bool = False,
    report: Callable[[str], None] | None = None,
) -> Iterator[IndexQuality]:
    """Measure indexes one after another.

    Arguments:
        indexes: specs as in `embeddings.indexes.index`, or paths.
        top: number of neighbours per query.
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
            # the previous index, if only search settings differ
            is_kind = split_path(spec)[0] is None
            variant = index.with_search(*parse_spec(spec)) if index is not None and is_kind else None
            index = as_index(spec, vectors, allow_faiss=allow_faiss) if variant is None else variant
            quality = replace(quality, **measure_recall(query_set, index, truth), **measure_cost(query_set, index, top))
        except SettingError as error:
            if strict:
                raise
            quality = replace(quality, reason=str(error))
        yield quality


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
    return result_cosines(query_set, result.ids) >= truth.similarities[:, -1:] - 1e-12


def result_cosines(query_set: QuerySet, ids: np.ndarray) -> np.ndarray:
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
    cosines = result_cosines(query_set, ids[:, None])
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


MARKERS = "osD^vPX*<>"
MEASURES = {"speed": "recall", "rank": "rank"}  # by grid


def plot_recall(
    results: Sequence[IndexQuality], path: str | Path, *, measure: str = "recall", force: bool = False
) -> None:
    """Draw a line for each family of indexes: right is faster, up is better; `measure` is "recall" or "rank"."""
    rc_context = import_library("matplotlib").rc_context
    Figure = import_library("matplotlib.figure").Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for (name, family_members), marker in zip(families(results).items(), cycle(MARKERS), strict=False):
        members = sorted(family_members, key=lambda quality: quality.per_second or 0)
        speed, values = ([getattr(quality, field) for quality in members] for field in ("per_second", measure))
        # the name is the line's id, so that an SVG can be read again
        (line,) = axes.plot(speed, values, "-", alpha=0.8, gid=name, label=name, marker=marker)
        if measure == "recall":
            low, high = (np.array([getattr(one, end) for one in members], dtype=float) for end in ("low", "high"))
            axes.vlines(speed, low, high, linewidth=1, color=line.get_color())
    first = results[0]
    axes.set_xscale("log")
    label_log_axis(axes.xaxis)
    axes.set_xlabel("queries per second, one at a time")
    axes.set_ylabel(f"recall of the {first.top} nearest" if measure == "recall" else "true rank of the best result")
    if measure == "rank":
        axes.set_yscale("log")
        label_log_axis(axes.yaxis)
        axes.invert_yaxis()
    axes.set_title(f"{first.vectors}: {first.rows:,} vectors of {first.dim} dimensions, {first.queries:,} queries")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", title="index")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "neighbours"}):  # text as text, reproducible ids
        save_figure(figure, path, force=force)


def families(results: Sequence[IndexQuality]) -> dict[str, list[IndexQuality]]:
    """Measured indexes by their specs without search settings."""
    by_family: dict[str, list[IndexQuality]] = {}
    for quality in results:
        if quality.reason is None:
            by_family.setdefault(family(quality.index), []).append(quality)
    return by_family


def family(spec: str) -> str:
    """A spec without the settings that only searches use."""
    path, _ = split_path(spec)
    if path is not None:
        return str(path)
    name, settings = parse_spec(spec)
    for_search = search_settings(registry.load("index", name))
    texts = {key: str(value) for key, value in settings.items() if key not in for_search}
    parts = [f"{key}={text.lower() if text in ('True', 'False', 'None') else text}" for key, text in texts.items()]
    return f"{name}:{','.join(parts)}" if parts else name


FILES = ("neighbours.md", "neighbours.svg", "neighbours.json")
PACKAGES = ("embeddings-toolkit", "faiss-cpu", "numpy", "numba")
RECALL_LEVELS = (0.9, 0.99)
SPEED_HEADER = ("index", "recall", "95 %", "queries/s", "all at once", "rows compared", "s to build", "MB")
NOTES = [
    "- Recall: the share of the true nearest that are found, mean over the queries, with its 95 % interval. Rank: the "
    "mean true rank of the best result, 1 for the nearest.",
    "- Queries/s: one at a time, from the median time (relative to `exact`); all at once: the fastest of three runs. "
    "All use every available core. Results of FAISS are sorted by exact cosines too.",
    "- Rows compared: rows compared exactly with the query. MB: memory in addition to the vectors themselves.",
    f"- For each index built, the table lists the fastest setting with a recall of at least {RECALL_LEVELS[0]} and of "
    f"at least {RECALL_LEVELS[1]}, or else the one with the highest recall. The figure and neighbours.json hold all "
    "settings.",
]


def check_folder(folder: str | Path, *, force: bool) -> None:
    """Refuse a folder in which the report cannot be written, or in which it exists (unless `force`)."""
    folder = Path(folder)
    if folder.exists():
        for name in FILES:
            check_output(folder / name, force=force)
    else:
        check_output(folder)


def write_report(grids: Sequence[GridResult], folder: str | Path, *, seed: int, force: bool = False) -> None:
    """Write `FILES`: tables, recall against speed of the first grid of that kind, and all numbers."""
    check_folder(folder, force=force)
    Path(folder).mkdir(exist_ok=True)
    machine = environment(PACKAGES)
    content = {"machine": machine, "seed": seed, "grids": [asdict(grid) for grid in grids]}
    plot_grid = next((grid for grid in grids if grid.grid == "speed"), grids[0])
    with atomic_write_all([Path(folder) / name for name in FILES], force=force) as (tables, plot, figures):
        tables.write_text(markdown_tables(machine, grids), encoding="utf-8", newline="\n")
        plot_recall(plot_grid.results, plot, measure=MEASURES[plot_grid.grid])
        figures.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")


def markdown_tables(machine: dict[str, Any], grids: Sequence[GridResult]) -> str:
    """A table for each grid of speed, and one table of ranks for all grids of ranks."""
    lines = [describe(machine, machine["packages"]), ""]
    for grid in grids:
        if grid.grid == "speed":
            first = grid.results[0]
            size = f"{first.rows:,} rows of {first.dim}, {first.queries:,} queries, {first.top} nearest."
            exact = next((quality.per_second for quality in grid.results if quality.index == "exact"), None)
            rows = [speed_row(quality, exact) for quality in fastest(grid.results)]
            lines += [f"{grid.vectors}: {size}", "", *markdown_table(SPEED_HEADER, rows), ""]
    if rank_grids := [grid for grid in grids if grid.grid == "rank"]:
        lines += [*rank_table(rank_grids), ""]
    return "\n".join([*lines, *NOTES]) + "\n"


def fastest(results: Sequence[IndexQuality]) -> list[IndexQuality]:
    """For each family the fastest at each of `RECALL_LEVELS`, or else the one with the highest recall."""
    rows: list[IndexQuality] = []
    for members in families(results).values():
        levels = [[one for one in members if one.recall is not None and one.recall >= level] for level in RECALL_LEVELS]
        best = [max(level, key=lambda one: one.per_second or 0) for level in levels if level]
        rows += dict.fromkeys(best or [max(members, key=lambda one: one.recall or 0)])
    return rows


def speed_row(quality: IndexQuality, exact: float | None) -> list[str]:
    """The cells of an index; `exact` is the speed of exact search."""
    speed = quality.per_second
    ratio = f" ({float(f'{speed / exact:.2g}'):g}x)" if speed and exact else ""
    return [
        f"`{quality.index}`",
        format_number(quality.recall, ".3f"),
        "-" if quality.low is None else f"{quality.low:.3f} to {quality.high:.3f}",
        format_number(speed, ",.0f", digits=3) + ratio,
        format_number(quality.per_second_many, ",.0f", digits=3),
        format_number(quality.n_compared, ",.0f"),
        format_number(quality.build_seconds, ".2f"),
        format_number(None if quality.bytes is None else quality.bytes / 1e6, ".1f"),
    ]


def rank_table(grids: Sequence[GridResult]) -> list[str]:
    """Rank, rows compared and recall of each index, the query sets side by side."""
    header = ["index"]
    for grid in grids:
        header += [f"{Path(grid.vectors).stem}: rank", "rows compared", f"recall of {grid.results[0].top}"]
    rows = []
    for spec in dict.fromkeys(quality.index for grid in grids for quality in grid.results):
        rows.append([f"`{spec}`"])
        for grid in grids:
            quality = next((one for one in grid.results if one.index == spec), None)
            rank, n_compared, recall = (quality.rank, quality.n_compared, quality.recall) if quality else (None,) * 3
            rows[-1] += [
                format_number(rank, ".0f" if (rank or 0) >= 10 else ".2f"),
                format_number(n_compared, ",.0f"),
                format_number(recall, ".2f"),
            ]
    return markdown_table(header, rows)
