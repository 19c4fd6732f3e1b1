"""The files of a comparison of indexes: all figures as JSON, tables as Markdown, and a plot."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from embeddings.eval.index_quality.recall import GridResult, IndexQuality
from embeddings.eval.index_quality.recall_plot import MEASURES, plot_recall
from embeddings.eval.index_quality.recall_table import markdown_tables
from embeddings.eval.machine import environment
from embeddings.support.files import atomic_write_all, check_output

FILES = ("neighbours.md", "neighbours.svg", "neighbours.json")
PACKAGES = ("embeddings-toolkit", "faiss-cpu", "numpy", "numba")


@dataclass(frozen=True)
class IndexBenchmark:
    """All results of one run, with its machine and the seed of its queries."""

    machine: dict[str, Any]
    seed: int
    grids: list[GridResult]

    @classmethod
    def read(cls, path: str | Path) -> "IndexBenchmark":
        """Read the JSON that `write_report` writes."""
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        grids = [
            GridResult(**{**grid, "results": [IndexQuality(**row) for row in grid["results"]]})
            for grid in content["grids"]
        ]
        return cls(content["machine"], content["seed"], grids)


def check_folder(folder: str | Path, *, force: bool) -> None:
    """Refuse a folder in which the report cannot be written.

    Raises:
        OutputError: it is not a folder, one of the files exists (unless `force`), or it cannot be written to.
    """
    folder = Path(folder)
    if not folder.exists():
        check_output(folder)
        return
    for name in FILES:
        check_output(folder / name, force=force)


def write_report(grids: Sequence[GridResult], folder: str | Path, *, seed: int, force: bool = False) -> None:
    """Write `FILES`: tables, recall against speed of the first grid of that kind, and all figures.

    Raises:
        OutputError: as `check_folder`.
    """
    check_folder(folder, force=force)
    Path(folder).mkdir(exist_ok=True)
    benchmark = IndexBenchmark(environment(PACKAGES), seed, list(grids))
    plot_grid = next((grid for grid in grids if grid.grid == "speed"), grids[0])
    with atomic_write_all([Path(folder) / name for name in FILES], force=force) as (tables, plot, figures):
        text = markdown_tables(benchmark.machine, benchmark.grids)
        tables.write_text(text, encoding="utf-8", newline="\n")
        plot_recall(plot_grid.results, plot, measure=MEASURES[plot_grid.grid])
        figures.write_text(json.dumps(asdict(benchmark), indent=1) + "\n", encoding="utf-8", newline="\n")
