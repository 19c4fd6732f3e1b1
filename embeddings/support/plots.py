"""Plots of result tables: dots and intervals on a common scale (Cleveland), for print and without colour."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from io import StringIO
from pathlib import PurePath
from textwrap import fill
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from embeddings.errors import EmbeddingsError, OutputError
from embeddings.printable import printable
from embeddings.support.dots import Dot
from embeddings.support.files import atomic_write, check_file

WIDTH = 6.0  # inches, of a printed page
LINE, STEP = 0.24, 0.17  # inches between labels, and between intervals of one label
FRAME, TEXT = 0.9, 0.17  # inches of the axis and the heading of a panel, of one more line of text
MAX_LABEL = 40  # characters
MARKS = (("o", "black"), ("s", "white"), ("D", "0.6"), ("^", "black"), ("v", "white"), ("P", "0.6"))  # of the series
SUFFIXES = (".svg", ".png", ".pdf")


def style() -> AbstractContextManager[None]:
    """Settings of matplotlib: words are never formulas and stay text in files, and a plot always has the same bytes."""
    text: Any = {"font.size": 9, "axes.titlesize": 9, "text.parse_math": False}
    return rc_context(text | {"svg.fonttype": "none", "svg.hashsalt": "plot", "pdf.fonttype": 42, "savefig.dpi": 300})


class Plot(Figure):
    """A figure of matplotlib that a notebook shows."""

    def _repr_svg_(self) -> str:
        text = StringIO()
        self.write(text, "svg")
        return text.getvalue()

    def write(self, file: Any, kind: str) -> None:
        """Write the figure as "svg", "png" or "pdf"."""
        with style():
            self.savefig(file, format=kind, metadata={"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind))


def check_path(path: str | os.PathLike[str], *, force: bool = False) -> str:
    """The kind of picture that a path names, such as "svg"; a file can be written there."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise OutputError(f"a plot is written as {', '.join(SUFFIXES)}, got {os.fspath(path)!r}")
    check_file(path, force=force)
    return suffix[1:]


def draw(dots: Sequence[Dot], path: str | os.PathLike[str] | None = None, *, force: bool = False) -> Plot:
    """The plot of rows, also written to a path: a panel for each heading and axis, a line for each label."""
    if not dots:
        raise EmbeddingsError("the table has no rows to plot")
    panels: dict[tuple[str, str], list[Dot]] = {}
    for dot in dots:
        panels.setdefault((dot.title, dot.axis), []).append(dot)
    names = {dot.series: wrapped(dot.series, 36) for dot in dots}
    series = {name: MARKS[number % len(MARKS)] for number, name in enumerate(names)}
    legend = TEXT * sum(name.count("\n") + 2 for name in names.values()) if len(names) > 1 else 0.0
    places = {panel: heights(rows) for panel, rows in panels.items()}
    heads = {panel: [wrapped(text, 44) for text in panel] for panel in panels}
    sizes = [FRAME + TEXT * "".join(heads[panel]).count("\n") + max(ys.values()) for panel, ys in places.items()]
    with style():
        figure = Plot(figsize=(WIDTH, sum(sizes) + legend), layout="constrained")
        grid, previous = figure.subplots(len(panels), 1, squeeze=False, height_ratios=sizes), ""
        for axes, ((title, axis), rows) in zip(grid[:, 0], panels.items(), strict=True):
            axes.set_xlim(*limits([dot for dot in dots if dot.axis == axis]))
            axes.set_xlabel(heads[title, axis][1])
            axes.set_title(heads[title, axis][0] if title != previous else "", loc="left", fontweight="bold")
            draw_panel(axes, rows, places[title, axis], series)
            previous = title
        marks = [
            Line2D(
                [], [], color="black", marker=mark, markerfacecolor=colour, linestyle="none", label=wrapped(name, 36)
            )
            for name, (mark, colour) in series.items()
        ]
        if legend:
            figure.legend(handles=marks, loc="outside lower center", ncols=2, frameon=False)
    if path is not None:
        kind = check_path(path, force=force)
        with atomic_write(path, force=force) as fresh:
            figure.write(fresh, kind)
    return figure


def wrapped(text: str, width: int) -> str:
    """A text in lines of at most `width` characters."""
    return fill(printable(text), width, break_on_hyphens=False)


def heights(rows: Sequence[Dot]) -> dict[Dot, float]:
    """The place of each row in inches below the first; intervals of one label stand below each other."""
    places: dict[Dot, float] = {}
    height = 0.0
    for label in dict.fromkeys(dot.label for dot in rows):
        below = -1
        for dot in (dot for dot in rows if dot.label == label):
            below += dot.low is not None
            places[dot] = height + STEP * max(below, 0)
        height += LINE + STEP * max(below, 0)
    return places


def limits(dots: Sequence[Dot]) -> tuple[float, float]:
    """The ends of an axis that holds all values, intervals and reference values."""
    numbers = [number for dot in dots for number in (dot.value, dot.low, dot.high, dot.reference) if number is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    margin = 0.04 * (high - low) or 0.5
    return low - margin, high + margin


def draw_panel(
    axes: Axes, rows: Sequence[Dot], places: Mapping[Dot, float], series: Mapping[str, tuple[str, str]]
) -> None:
    """Draw the rows of one axis: labels at the left, remarks at the right, the first row at the top."""
    lines: dict[str, list[float]] = {}
    for dot in rows:
        lines.setdefault(dot.label, []).append(places[dot])
        if dot.low is not None and dot.high is not None:
            axes.hlines(places[dot], dot.low, dot.high, color="black", linewidth=1.2, zorder=2)
        if dot.value is not None:
            mark, colour = series[dot.series]
            axes.plot(dot.value, places[dot], mark, color="black", markerfacecolor=colour, markersize=5, zorder=3)
        place: Any = axes.get_yaxis_transform()  # from one side of the panel to the other
        remark = printable(dot.remark)
        axes.annotate(remark, (1, places[dot]), (4, 0), place, "offset points", va="center", fontsize=7.5)
    middles = {label: sum(ys) / len(ys) for label, ys in lines.items()}
    axes.hlines(list(middles.values()), 0, 1, transform=place, color="0.9", linewidth=0.6, zorder=0)
    if axes.get_xlim()[0] < 0 < axes.get_xlim()[1]:
        axes.axvline(0, color="0.5", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    names = [printable(label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…") for label in lines]
    axes.set_yticks(list(middles.values()), names)
    axes.set_ylim(max(places.values()) + LINE / 2, -LINE / 2)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
