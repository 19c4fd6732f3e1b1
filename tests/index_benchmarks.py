"""Reads the figures that a benchmark of neighbour indexes writes."""

import json
from pathlib import Path
from types import SimpleNamespace

from embeddings.eval.index_quality import GridResult, IndexQuality


def read_benchmark(path: Path) -> SimpleNamespace:
    """The machine, the seed, and the grids of results in neighbours.json."""
    content = json.loads(path.read_text(encoding="utf-8"))
    grids = [
        GridResult(**{**grid, "results": [IndexQuality(**row) for row in grid["results"]]}) for grid in content["grids"]
    ]
    return SimpleNamespace(machine=content["machine"], seed=content["seed"], grids=grids)
