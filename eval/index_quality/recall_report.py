"""The files of a comparison of indexes: all numbers as JSON, tables as Markdown, and a plot."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from embeddings.eval.index_quality.recall import GridResult, IndexQuality
from embeddings.eval.index_quality.recall_plot import MEASURES, families, plot_recall
from embeddings.eval.machine import describe, environment
from embeddings.support.files import atomic_write_all, check_output
from embeddings.support.markdown import table_lines

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
            lines += [*speed_table(grid), ""]
    if rank_grids := [grid for grid in grids if grid.grid == "rank"]:
        lines += [*rank_table(rank_grids), ""]
    return "\n".join([*lines, *NOTES]) + "\n"


def speed_table(grid: GridResult) -> Iterator[str]:
    """The query set, and a table of the settings worth choosing."""
    first = grid.results[0]
    yield f"{grid.vectors}: {first.rows:,} rows of {first.dim}, {first.queries:,} queries, {first.top} nearest."
    yield ""
    exact = next((quality.per_second for quality in grid.results if quality.index == "exact"), None)
    yield from table_lines(SPEED_HEADER, [speed_row(quality, exact) for quality in fastest(grid.results)])


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
        cell(quality.recall, ".3f"),
        "-" if quality.low is None else f"{quality.low:.3f} to {quality.high:.3f}",
        cell(speed, ",.0f", digits=3) + ratio,
        cell(quality.per_second_many, ",.0f", digits=3),
        cell(quality.n_compared, ",.0f"),
        cell(quality.build_seconds, ".2f"),
        cell(None if quality.bytes is None else quality.bytes / 1e6, ".1f"),
    ]


def cell(value: float | None, spec: str, digits: int = 17) -> str:
    """A number with this many significant digits, or a dash."""
    return "-" if value is None else format(float(f"{value:.{digits}g}"), spec)


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
                cell(rank, ".0f" if (rank or 0) >= 10 else ".2f"),
                cell(n_compared, ",.0f"),
                cell(recall, ".2f"),
            ]
    return table_lines(header, rows)
