"""Recall against speed as a figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from embeddings import registry
from embeddings.eval.index_quality.recall import IndexQuality
from embeddings.indexes.index import search_settings
from embeddings.indexes.index_spec import parse_spec, split_path
from embeddings.support.plots import save_figure

MARKERS = "osD^vPX*<>"
MEASURES = {"speed": "recall", "rank": "rank"}  # by grid


def plot_recall(
    results: Sequence[IndexQuality], path: str | Path, *, measure: str = "recall", force: bool = False
) -> None:
    """Draw a line for each family of indexes: right is faster, up is better; `measure` is "recall" or "rank"."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for number, (name, members) in enumerate(families(results).items()):
        draw_family(axes, members, measure, label=name, marker=MARKERS[number % len(MARKERS)])
    first = results[0]
    axes.set_xscale("log")
    axes.set_xlabel("queries per second, one at a time")
    axes.set_ylabel(f"recall of the {first.top} nearest" if measure == "recall" else "true rank of the best result")
    if measure == "rank":
        axes.set_yscale("log")
        axes.invert_yaxis()
    axes.set_title(f"{first.vectors}: {first.rows:,} rows of {first.dim}, {first.queries:,} queries")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "neighbours"}):  # text as text, reproducible ids
        save_figure(figure, path, force=force)


def draw_family(axes: Any, members: Sequence[IndexQuality], measure: str, **style: Any) -> None:
    """Draw one family from slow to fast; its name is the line's id, so that an SVG can be read again."""
    members = sorted(members, key=lambda quality: quality.per_second or 0)
    speed = [quality.per_second for quality in members]
    values = [getattr(quality, measure) for quality in members]
    (line,) = axes.plot(speed, values, "-", alpha=0.8, gid=style["label"], **style)
    if measure == "recall":
        low, high = (np.array([getattr(quality, end) for quality in members], dtype=float) for end in ("low", "high"))
        axes.vlines(speed, low, high, linewidth=1, color=line.get_color())


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
