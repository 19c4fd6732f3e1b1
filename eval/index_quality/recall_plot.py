"""Recall against speed as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from embeddings import registry
from embeddings.eval.index_quality.recall import Quality
from embeddings.indexes.index_spec import parsed, saved_part
from embeddings.support.plots import save_picture

MARKS = "osD^vPX*<>"
MEASURE_OF = {"speed": "recall", "rank": "rank"}  # by grid


def draw(results: Sequence[Quality], path: str | Path, *, measure: str = "recall", force: bool = False) -> None:
    """A PNG, or what else the ending asks for: a line for each family of indexes; right is faster, up is better.

    Arguments:
        measure: "recall", or "rank": the mean true rank of the best found.

    Raises:
        SettingError, OutputError: as `save_picture`.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for number, (name, found) in enumerate(families(results).items()):
        line(axes, found, measure, label=name, marker=MARKS[number % len(MARKS)])
    first = results[0]
    axes.set_xscale("log")
    axes.set_xlabel("queries in a second, one at a time")
    axes.set_ylabel(f"recall of the {first.top} nearest" if measure == "recall" else "true rank of the best found")
    if measure == "rank":
        axes.set_yscale("log")
        axes.invert_yaxis()
    axes.set_title(f"{first.vectors}: {first.rows:,} rows of {first.dim}, {first.queries:,} queries")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "neighbours"}):  # texts as texts, the same each time
        save_picture(figure, path, force=force)


def line(axes: Any, found: Sequence[Quality], measure: str, **look: Any) -> None:
    """One family, from slow to fast; its name is the line's id, by which an SVG can be read again."""
    found = sorted(found, key=lambda one: one.per_second or 0)
    speed = [one.per_second for one in found]
    (drawn,) = axes.plot(speed, [getattr(one, measure) for one in found], "-", alpha=0.8, gid=look["label"], **look)
    if measure == "recall":
        low, high = (np.array([getattr(one, end) for one in found], dtype=float) for end in ("low", "high"))
        axes.vlines(speed, low, high, linewidth=1, color=drawn.get_color())


def families(results: Sequence[Quality]) -> dict[str, list[Quality]]:
    """Results with values by what was built: their names without the settings that matter in searches alone."""
    found: dict[str, list[Quality]] = {}
    for one in results:
        if one.reason is None:
            found.setdefault(family(one.index), []).append(one)
    return found


def family(line: str) -> str:
    """What is built for an index of this name."""
    path, _ = saved_part(line)
    if path is not None:
        return str(path)
    name, settings = parsed(line)
    searches: frozenset[str] = getattr(registry.load("index", name), "SEARCH", frozenset())
    built = [f"{key}={shown(value)}" for key, value in settings.items() if key not in searches]
    return f"{name}:{','.join(built)}" if built else name


def shown(value: Any) -> str:
    """A setting's value as a line has it."""
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
