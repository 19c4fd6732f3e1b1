"""Recall and speed of indexes of nearest neighbours against exact search.

    python tools/benchmark_indexes.py VECTORS... [--index SPEC ...] [--out FOLDER]

Without --index every kind is measured at settings from fast to thorough. The folder gets neighbours.md (tables),
neighbours.svg and neighbours.json (all numbers).

A result counts as correct if it is as near, up to float64 rounding, as the last of the true `top`, so ties are not
errors.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle
from math import isqrt
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from benchmark_table import label_log_axis
from matplotlib import rc_context
from matplotlib.figure import Figure
from processes import describe, environment, seconds, write_text

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.eval.statistics.confidence_intervals import ratio_interval
from embeddings.indexes.cosine_search import pair_cosines
from embeddings.indexes.protocol import SearchResult
from embeddings.models.loading import load
from embeddings.support.cosine import normalize
from embeddings.support.result_table import format_number, markdown_table
from embeddings.vectors.index import Index, as_index, parse_spec, search_settings
from embeddings.vectors.vectors import Vectors

NPROBES, EF_SEARCHES = (1, 2, 4, 8, 16, 32), (16, 32, 64, 128, 256)


def every_spec(rows: int, dim: int) -> list[str]:
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
MEASURED = ("recall", "low", "high", "per_second", "per_second_many", "build_seconds", "bytes", "reason")
Row = dict[str, Any]


def measure_indexes(vectors: Vectors, rows: np.ndarray, indexes: Sequence[str], *, top: int = 10) -> Iterator[Row]:
    """Measure indexes, specs as in `embeddings.vectors.index`; one that cannot be built has a `reason` instead.

    The queries are vectors of `rows` (queries,), which are not their own neighbours. `recall` is the mean share of the
    true `top` neighbours found, `low` and `high` the ends of its 95 % interval (bootstrap over queries).
    `per_second` are queries one at a time, from the median time, `per_second_many` all at once, the fastest of three
    runs. `bytes` is memory in addition to the vectors themselves.
    """
    top = min(top, len(vectors) - 1)
    truth = search_others(as_index(None, vectors), vectors, rows, top)
    sizes = {"rows": len(vectors), "dim": vectors.dim, "queries": len(rows), "top": top}
    index: Index | None = None
    for spec in indexes:
        row = {"index": spec, **sizes, **dict.fromkeys(MEASURED)}
        try:
            # the previous index, if only search settings differ
            variant = None if index is None else index.with_search(*parse_spec(spec))
            index = as_index(spec, vectors) if variant is None else variant
            row |= measure_recall(index, vectors, rows, truth) | measure_cost(index, vectors.unit_rows[rows], top)
        except SettingError as error:
            row["reason"] = str(error)
        yield row


def search_others(index: Index, vectors: Vectors, rows: np.ndarray, top: int) -> SearchResult:
    """The results for the vectors of `rows`, without these rows themselves; (queries, top) each."""
    result = index.search(vectors.unit_rows[rows], top=top + 1)
    others = np.argsort(result.ids == rows[:, None], axis=1, kind="stable")[:, :top]
    ids, similarities = (np.take_along_axis(part, others, axis=1) for part in (result.ids, result.similarities))
    return SearchResult(ids, similarities)


def measure_recall(index: Index, vectors: Vectors, rows: np.ndarray, truth: SearchResult) -> Row:
    """The agreement of an index with the exact results."""
    result = search_others(index, vectors, rows, truth.ids.shape[1])
    cosines = np.full(result.ids.shape, -np.inf)  # exact ones; an id of -1 is no result
    owners, columns = np.nonzero(result.ids >= 0)
    queries = normalize(vectors.unit_rows[rows])
    cosines[owners, columns] = pair_cosines(vectors.unit_rows, result.ids[owners, columns], queries, owners)
    shares = (cosines >= truth.similarities[:, -1:] - 1e-12).mean(axis=1)
    low, high = ratio_interval(shares, np.ones(len(shares)))
    return {"recall": float(shares.mean()), "low": low, "high": high}


def measure_cost(index: Index, queries: np.ndarray, top: int) -> Row:
    """Speed of searches after a first one, and memory."""
    search = partial(index.search, top=top + 1)
    return {
        "per_second": 1 / float(np.median([seconds(search, query[None]) for query in queries])),
        "per_second_many": len(queries) / min(seconds(search, queries) for _ in range(REPEATS)),
        "build_seconds": index.seconds,
        "bytes": index.bytes,
    }


MARKERS = "osD^vPX*<>"


def plot_recall(vectors: str, results: Sequence[Row], path: Path) -> None:
    """Draw a line for each family of indexes: right is faster, up is better."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for (name, family_members), marker in zip(families(results).items(), cycle(MARKERS), strict=False):
        members = sorted(family_members, key=itemgetter("per_second"))
        speed, recall, low, high = ([one[key] for one in members] for key in ("per_second", "recall", "low", "high"))
        # the name is the line's id, so that an SVG can be read again
        (line,) = axes.plot(speed, recall, "-", alpha=0.8, gid=name, label=name, marker=marker)
        axes.vlines(speed, low, high, linewidth=1, color=line.get_color())
    first = results[0]
    axes.set_xscale("log")
    label_log_axis(axes.xaxis)
    axes.set_xlabel("queries per second, one at a time")
    axes.set_ylabel(f"recall of the {first['top']} nearest")
    axes.set_title(f"{vectors}: " + "{rows:,} vectors of {dim} dimensions, {queries:,} queries".format(**first))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", title="index")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "neighbours"}):  # text as text, reproducible ids
        figure.savefig(path, dpi=150)


def families(results: Sequence[Row]) -> dict[str, list[Row]]:
    """Measured indexes by their specs without search settings."""
    by_family: dict[str, list[Row]] = {}
    for one in results:
        if one["reason"] is None:
            by_family.setdefault(family(one["index"]), []).append(one)
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


def write_report(grids: Sequence[Row], folder: Path, *, seed: int) -> None:
    """Write the tables, recall against speed of the first vectors, and all numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"machine": environment(PACKAGES), "seed": seed, "grids": grids}
    write_text(markdown_tables(content), folder / "neighbours.md")
    write_text(json.dumps(content, indent=1) + "\n", folder / "neighbours.json")
    plot_recall(grids[0]["vectors"], grids[0]["results"], folder / "neighbours.svg")


def markdown_tables(content: Row) -> str:
    """A table for each vectors of neighbours.json, with explanations."""
    machine = content["machine"]
    lines = [describe(machine, machine["packages"]), ""]
    for grid in (grid for grid in content["grids"] if grid["grid"] == "speed"):  # earlier versions had other ones
        size = "{rows:,} rows of {dim}, {queries:,} queries, {top} nearest.".format(**grid["results"][0])
        exact = next((one["per_second"] for one in grid["results"] if one["index"] == "exact"), None)
        rows = [speed_row(one, exact) for one in fastest(grid["results"])]
        lines += [f"{grid['vectors']}: {size}", "", *markdown_table(SPEED_HEADER, rows), ""]
    return "\n".join([*lines, *NOTES]) + "\n"


def fastest(results: Sequence[Row]) -> list[Row]:
    """For each family the fastest at each of `RECALL_LEVELS`, or else the one with the highest recall."""
    rows: dict[str, Row] = {}
    for members in families(results).values():
        levels = [[one for one in members if one["recall"] >= level] for level in RECALL_LEVELS]
        best = [max(level, key=itemgetter("per_second")) for level in levels if level]
        rows |= {one["index"]: one for one in best or [max(members, key=itemgetter("recall"))]}
    return list(rows.values())


def speed_row(row: Row, exact: float | None) -> list[str]:
    """The cells of an index; `exact` is the speed of exact search."""
    speed = row["per_second"]
    ratio = f" ({format_number(speed / exact, 'g', digits=2)}x)" if exact else ""
    return [
        f"`{row['index']}`",
        format_number(row["recall"], ".3f"),
        f"{row['low']:.3f} to {row['high']:.3f}",
        format_number(speed, ",.0f", digits=3) + ratio,
        format_number(row["per_second_many"], ",.0f", digits=3),
        format_number(row["build_seconds"], ".2f"),
        format_number(row["bytes"] / 1e6, ".1f"),
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
    grids = []
    for name in options.vectors:
        vectors = load(name)
        number = min(options.queries, len(vectors))
        rows = np.random.default_rng(options.seed).choice(len(vectors), number, replace=False)
        specs = options.index or every_spec(*vectors.matrix.shape)
        results = list(measure_indexes(vectors, rows, specs, top=options.top))
        about = {"vectors": Path(name).name, "fingerprint": vectors.fingerprint}
        grids.append({"grid": "speed", **about, "results": results})
    write_report(grids, options.out, seed=options.seed)


if __name__ == "__main__":
    main()
