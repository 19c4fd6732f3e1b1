"""Recall against speed as a picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from embeddings.eval.neighbours.quality import Quality
from embeddings.pictures import save_picture

MARKS = "osD^vPX*<>"


def draw(results: Sequence[Quality], path: str | Path) -> None:
    """A PNG, or what else the ending asks for: a line for each family of indexes; right is faster, up is better.

    Raises:
        SettingError, OutputError: as `save_picture`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for number, (name, found) in enumerate(families(results).items()):
        values = np.array([(one.per_second, one.recall, one.low, one.high) for one in found], dtype=float)
        speed, recall, low, high = values[np.argsort(values[:, 0])].T
        (line,) = axes.plot(speed, recall, f"-{MARKS[number % len(MARKS)]}", label=name, alpha=0.8)
        axes.vlines(speed, low, high, linewidth=1, color=line.get_color())
    first = results[0]
    axes.set_xscale("log")
    axes.set_xlabel("queries in a second, one at a time")
    axes.set_ylabel(f"recall of the {first.top} nearest")
    axes.set_title(f"{first.vectors}: {first.rows:,} rows of {first.dim}, {first.queries:,} queries")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save_picture(figure, path)


def families(results: Sequence[Quality]) -> dict[str, list[Quality]]:
    """Results with values by what was built: all but the last setting of their names."""
    found: dict[str, list[Quality]] = {}
    for one in results:
        if one.reason is None:
            found.setdefault(one.index.rpartition(",")[0] if "," in one.index else one.index, []).append(one)
    return found
