"""What a comparison of indexes leaves: every figure as JSON, tables of them, and a picture."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from embeddings.eval.benchmark.machine import environment
from embeddings.eval.index_quality import recall_plot
from embeddings.eval.index_quality.recall import Quality
from embeddings.eval.index_quality.test_points import Points
from embeddings.support.files import check_output, replacing_all

FILES = ("neighbours.md", "neighbours.svg", "neighbours.json")
PACKAGES = ("embeddings-toolkit", "faiss-cpu", "numpy", "numba")


@dataclass(frozen=True)
class Judged:
    """What came of the indexes of one grid, "speed" or "rank", on some points."""

    grid: str
    vectors: str
    fingerprint: str
    found: list[Quality]

    @classmethod
    def of(cls, grid: str, points: Points, found: Sequence[Quality]) -> "Judged":
        """The same, the points called by the name of their file alone."""
        name = Path(points.name).name
        return cls(grid, name, points.vectors.fingerprint, [replace(one, vectors=name) for one in found])


@dataclass(frozen=True)
class Record:
    """Everything that was judged in one run: on which machine, with which seed of the queries."""

    machine: dict[str, Any]
    seed: int
    judged: list[Judged]

    @classmethod
    def read(cls, path: str | Path) -> "Record":
        """What `write` wrote."""
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        judged = [Judged(**{**one, "found": [Quality(**row) for row in one["found"]]}) for one in content["judged"]]
        return cls(content["machine"], content["seed"], judged)


def check_folder(folder: str | Path, *, force: bool) -> None:
    """Refuse a folder that files cannot be written to.

    Raises:
        OutputError: it is none, one of the files is there already (unless `force`), or it cannot be written to.
    """
    folder = Path(folder)
    if not folder.exists():
        check_output(folder)
        return
    for name in FILES:
        check_output(folder / name, force=force)


def write(judged: Sequence[Judged], folder: str | Path, *, seed: int, force: bool = False) -> None:
    """Write `FILES`: the tables, recall against speed of the first vectors judged so, and every figure.

    Raises:
        OutputError: as `check_folder`.
    """
    from embeddings.eval.index_quality.recall_table import markdown

    check_folder(folder, force=force)
    Path(folder).mkdir(exist_ok=True)
    record = Record(environment(PACKAGES), seed, list(judged))
    drawn = next((one for one in judged if one.grid == "speed"), judged[0])
    with replacing_all([Path(folder) / name for name in FILES], force=force) as (tables, figure, figures):
        tables.write_text(markdown(record), encoding="utf-8", newline="\n")
        recall_plot.draw(drawn.found, figure, measure=recall_plot.MEASURE_OF[drawn.grid])
        figures.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8", newline="\n")
