"""The files of a comparison of indexes: all figures as JSON, tables as Markdown, and a plot."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from embeddings.eval.index_quality.recall import GridResult
from embeddings.eval.index_quality.recall_plot import MEASURES, plot_recall
from embeddings.eval.index_quality.recall_table import markdown_tables
from embeddings.eval.machine import environment
from embeddings.support.files import atomic_write_all, check_output

FILES = ("neighbours.md", "neighbours.svg", "neighbours.json")
PACKAGES = ("embeddings-toolkit", "faiss-cpu", "numpy", "numba")


def check_folder(folder: str | Path, *, force: bool) -> None:
    """Refuse a folder in which the report cannot be written, or in which it exists (unless `force`)."""
    folder = Path(folder)
    if folder.exists():
        for name in FILES:
            check_output(folder / name, force=force)
    else:
        check_output(folder)


def write_report(grids: Sequence[GridResult], folder: str | Path, *, seed: int, force: bool = False) -> None:
    """Write `FILES`: tables, recall against speed of the first grid of that kind, and all figures."""
    check_folder(folder, force=force)
    Path(folder).mkdir(exist_ok=True)
    machine = environment(PACKAGES)
    content = {"machine": machine, "seed": seed, "grids": [asdict(grid) for grid in grids]}
    plot_grid = next((grid for grid in grids if grid.grid == "speed"), grids[0])
    with atomic_write_all([Path(folder) / name for name in FILES], force=force) as (tables, plot, figures):
        tables.write_text(markdown_tables(machine, grids), encoding="utf-8", newline="\n")
        plot_recall(plot_grid.results, plot, measure=MEASURES[plot_grid.grid])
        figures.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")
