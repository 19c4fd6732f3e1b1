"""Recall and speed of indexes of nearest neighbours against exact search.

    python tools/benchmark_indexes.py VECTORS... [--index SPEC ...] [--out FOLDER]

Without --index every kind is measured at settings from fast to thorough. The folder gets neighbours.md (tables),
neighbours.svg and neighbours.json (all numbers).

A result counts as correct if it is as near, up to float64 rounding, as the last of the true `top`, so ties are not
errors.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import cycle
from math import isqrt
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from benchmark_table import label_log_axis
from matplotlib import rc_context
from matplotlib.figure import Figure
from processes import describe, environment, write_text

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.eval.statistics.confidence_intervals import mean_bootstrap
from embeddings.indexes.cosine_search import pair_cosines
from embeddings.indexes.protocol import SearchResult
from embeddings.models.loading import load
from embeddings.support.cosine import normalize
from embeddings.support.result_table import format_number, markdown_table
from embeddings.vectors.index import Index, as_index, parse_spec, search_settings
from embeddings.vectors.vectors import Vectors


@dataclass(frozen=True)
class QuerySet:
    """Vectors, and queries (queries, dim), which are the rows `query_rows` (queries,) and not their own neighbours."""

    name: str
    vectors: Vectors
    queries: np.ndarray
    query_rows: np.ndarray


def sample_query_set(vectors: Vectors, name: str, *, queries: int, seed: int) -> QuerySet:
    """Vectors, with a uniform sample of their own words as queries; all of them if there are fewer."""
    rows = np.random.default_rng(seed).choice(len(vectors), min(queries, len(vectors)), replace=False)
    return QuerySet(name, vectors, vectors.unit_rows[rows], rows)


NPROBES, EF_SEARCHES = (1, 2, 4, 8, 16, 32), (16, 32, 64, 128, 256)


def grid(rows: int, dim: int) -> list[str]:
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


REPEATS = 3


@dataclass(frozen=True)
class IndexQuality:
    """Measurements of an index; all None if it could not be built, for the `reason` given.

    Arguments:
        recall: mean share of the true `top` neighbours found.
        low: lower end of its 95 % interval (bootstrap over queries, normal for very many).
        high: upper end.
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
    per_second: float | None = None
    per_second_many: float | None = None
    build_seconds: float | None = None
    bytes: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Report:
    """The indexes measured on one query set, which is named without its folder."""

    vectors: str
    fingerprint: str
    results: list[IndexQuality]


def measure_indexes(query_set: QuerySet, indexes: Sequence[str], *, top: int = 10) -> Iterator[IndexQuality]:
    """Measure indexes, specs as in `embeddings.vectors.index`; one that cannot be built has a reason."""
    vectors = query_set.vectors
    top = min(top, len(vectors) - 1)
    truth = search_others(query_set, as_index(None, vectors), top)
    index: Index | None = None
    for spec in indexes:
        quality = IndexQuality(query_set.name, spec, len(vectors), vectors.dim, len(query_set.queries), top)
        try:
            # the previous index, if only search settings differ
            variant = None if index is None else index.with_search(*parse_spec(spec))
            index = as_index(spec, vectors) if variant is None else variant
            quality = replace(quality, **measure_recall(query_set, index, truth), **measure_cost(query_set, index, top))
        except SettingError as error:
            quality = replace(quality, reason=str(error))
        yield quality


def search_others(query_set: QuerySet, index: Index, top: int) -> SearchResult:
    """The results for all queries at once, without the queries' own rows; (queries, top) each."""
    result = index.search(query_set.queries, top=top + 1)
    others = np.argsort(result.ids == query_set.query_rows[:, None], axis=1, kind="stable")[:, :top]
    ids, similarities = (np.take_along_axis(part, others, axis=1) for part in (result.ids, result.similarities))
    return SearchResult(ids, similarities)


def measure_recall(query_set: QuerySet, index: Index, truth: SearchResult) -> dict[str, Any]:
    """The agreement of an index with the exact results."""
    result = search_others(query_set, index, truth.ids.shape[1])
    cosines = np.full(result.ids.shape, -np.inf)  # exact ones; an id of -1 is no result
    owners, columns = np.nonzero(result.ids >= 0)
    queries = normalize(query_set.queries)
    cosines[owners, columns] = pair_cosines(query_set.vectors.unit_rows, result.ids[owners, columns], queries, owners)
    shares = (cosines >= truth.similarities[:, -1:] - 1e-12).mean(axis=1)
    low, high = mean_bootstrap(shares)
    return {"recall": float(shares.mean()), "low": low, "high": high}


def measure_cost(query_set: QuerySet, index: Index, top: int) -> dict[str, Any]:
    """Speed of searches after a first one, and memory."""
    top += 1

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


def plot_recall(results: Sequence[IndexQuality], path: Path) -> None:
    """Draw a line for each family of indexes: right is faster, up is better."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for (name, family_members), marker in zip(families(results).items(), cycle(MARKERS), strict=False):
        members = sorted(family_members, key=lambda quality: quality.per_second or 0)
        speed, recall, low, high = (
            [getattr(quality, field) for quality in members] for field in ("per_second", "recall", "low", "high")
        )
        # the name is the line's id, so that an SVG can be read again
        (line,) = axes.plot(speed, recall, "-", alpha=0.8, gid=name, label=name, marker=marker)
        axes.vlines(speed, low, high, linewidth=1, color=line.get_color())
    first = results[0]
    axes.set_xscale("log")
    label_log_axis(axes.xaxis)
    axes.set_xlabel("queries per second, one at a time")
    axes.set_ylabel(f"recall of the {first.top} nearest")
    axes.set_title(f"{first.vectors}: {first.rows:,} vectors of {first.dim} dimensions, {first.queries:,} queries")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", title="index")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "neighbours"}):  # text as text, reproducible ids
        figure.savefig(path, dpi=150)


def families(results: Sequence[IndexQuality]) -> dict[str, list[IndexQuality]]:
    """Measured indexes by their specs without search settings."""
    by_family: dict[str, list[IndexQuality]] = {}
    for quality in results:
        if quality.reason is None:
            by_family.setdefault(family(quality.index), []).append(quality)
    return by_family


def family(spec: str) -> str:
    """A spec without the settings that only searches use."""
    name, settings = parse_spec(spec)
    for_search = search_settings(registry.load("index", name))
    texts = {key: str(value) for key, value in settings.items() if key not in for_search}
    parts = [f"{key}={text.lower() if text in ('True', 'False', 'None') else text}" for key, text in texts.items()]
    return f"{name}:{','.join(parts)}" if parts else name


PACKAGES = ("embeddings-toolkit", "faiss-cpu", "numpy", "numba")
RECALL_LEVELS = (0.9, 0.99)
SPEED_HEADER = ("index", "recall", "95 %", "queries/s", "all at once", "s to build", "MB")
NOTES = [
    "- Recall: the share of the true nearest that are found, mean over the queries, with its 95 % interval.",
    "- Queries/s: one at a time, from the median time (relative to `exact`); all at once: the fastest of three runs. "
    "All use every available core. Results of FAISS are sorted by exact cosines too.",
    "- MB: memory in addition to the vectors themselves.",
    f"- For each index built, the table lists the fastest setting with a recall of at least {RECALL_LEVELS[0]} and of "
    f"at least {RECALL_LEVELS[1]}, or else the one with the highest recall. The figure and neighbours.json hold all "
    "settings.",
]


def write_report(reports: Sequence[Report], folder: Path, *, seed: int) -> None:
    """Write the tables, recall against speed of the first vectors, and all numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = environment(PACKAGES)
    grids = [{"grid": "speed", **asdict(report)} for report in reports]
    write_text(markdown_tables(machine, reports), folder / "neighbours.md")
    write_text(
        json.dumps({"machine": machine, "seed": seed, "grids": grids}, indent=1) + "\n", folder / "neighbours.json"
    )
    plot_recall(reports[0].results, folder / "neighbours.svg")


def read_report(path: Path) -> tuple[dict[str, Any], list[Report]]:
    """The machine and the reports of neighbours.json; measurements that are not made any more are left out."""
    content = json.loads(path.read_text(encoding="utf-8"))
    names = {field.name for field in fields(IndexQuality)}
    reports = []
    for grid in (grid for grid in content["grids"] if grid["grid"] == "speed"):
        rows = [{name: value for name, value in row.items() if name in names} for row in grid["results"]]
        reports.append(Report(grid["vectors"], grid["fingerprint"], [IndexQuality(**row) for row in rows]))
    return content["machine"], reports


def markdown_tables(machine: Mapping[str, Any], reports: Sequence[Report]) -> str:
    """A table for each vectors, with explanations."""
    lines = [describe(machine, machine["packages"]), ""]
    for report in reports:
        first = report.results[0]
        size = f"{first.rows:,} rows of {first.dim}, {first.queries:,} queries, {first.top} nearest."
        exact = next((quality.per_second for quality in report.results if quality.index == "exact"), None)
        rows = [speed_row(quality, exact) for quality in fastest(report.results)]
        lines += [f"{report.vectors}: {size}", "", *markdown_table(SPEED_HEADER, rows), ""]
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
        format_number(quality.build_seconds, ".2f"),
        format_number(None if quality.bytes is None else quality.bytes / 1e6, ".1f"),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure indexes on vectors: by default every kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="+")
    parser.add_argument("--index", nargs="+", default=[])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path())
    options = parser.parse_args(arguments)
    reports = []
    for name in options.vectors:
        query_set = sample_query_set(load(name), Path(name).name, queries=options.queries, seed=options.seed)
        indexes = options.index or grid(*query_set.vectors.matrix.shape)
        results = list(measure_indexes(query_set, indexes, top=options.top))
        reports.append(Report(query_set.name, query_set.vectors.fingerprint, results))
    write_report(reports, options.out, seed=options.seed)


if __name__ == "__main__":
    main()
