"""Speed against quality as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embeddings.eval.benchmark.job import Shape
from embeddings.eval.benchmark.result_rows import SETS, WRONG, Row
from embeddings.eval.benchmark.result_table import Summary, summaries
from embeddings.support.files import atomic_write

MARKS = "osD^vPX*"
DPI = 150
MARK_WIDTH, LETTER_WIDTH = 0.7, 0.09  # inches that an entry of the legend takes
NONE = (None, None, None)
LABELS = {
    "wordsim353": "WordSim-353, Spearman",
    "simlex999": "SimLex-999, Spearman",
    "google-analogies": "Google analogies",
}


def draw(rows: Sequence[Row], path: Path) -> None:
    """A PNG: a column for each model, a row for each test set that has values.

    Right is faster; up is better, and of errors down.

    Raises:
        OutputError: it cannot be written.
    """
    figure = drawn(rows)
    with atomic_write(path, force=True) as fresh:
        figure.savefig(fresh, dpi=DPI, format="png")


def drawn(rows: Sequence[Row]) -> Any:
    """The picture as a figure of matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = [one for one in summaries(rows) if speed(one) is not None]
    models = list(dict.fromkeys(map(model_of, found)))
    shown = [name for name in found[0].scores if name in SETS or name.startswith(WRONG)] if found else []
    sets = [name for name in shown if any(one.scores[name][0] is not None for one in found)] or [next(iter(SETS))]
    figure = Figure(figsize=(1.5 + 4.5 * len(models), 1.2 + 2.6 * len(sets)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(sets), len(models), squeeze=False, sharex="col", sharey="row")
    look = Look(found)
    for column, model in enumerate(models):
        for row, name in enumerate(sets):
            axes = grid[row, column]
            look.panel(axes, [one for one in found if model_of(one) == model], name)
            axes.set_title(model if row == 0 else "")
            axes.set_ylabel(LABELS.get(name, name) if column == 0 else "")
        grid[-1, column].set_xlabel("words learned in a CPU second")
    handles = look.legend()
    columns = int(figure.get_figwidth() / (MARK_WIDTH + LETTER_WIDTH * max(len(one.get_label()) for one in handles)))
    figure.legend(handles=handles, loc="outside lower center", ncols=max(1, columns), frameon=False)
    return figure


def speed(one: Summary) -> float | None:
    """Words of the corpus learned in a CPU second of training."""
    words, wall, cpu = one.words_per_second, one.times["training_wall"], one.times["training_cpu"]
    return words * wall / cpu if words and wall and cpu and cpu > 0 else None


def model_of(one: Summary) -> str:
    """The model as a shape has it."""
    return Shape(one.shape["trainer"], one.shape, 1).model


class Look:
    """A colour for each tool and a mark for each shape, the same in all panels."""

    def __init__(self, found: Sequence[Summary]) -> None:
        self.colours = {tool: f"C{place}" for place, tool in enumerate(dict.fromkeys(one.tool for one in found))}
        varying = [name for name in ("dim", "negatives", "threads") if len({one.shape[name] for one in found}) > 1]
        self.names = {id(one): ", ".join(f"{name} {one.shape[name]}" for name in varying) for one in found}
        shapes = dict.fromkeys(self.names.values())
        self.marks = {shape: MARKS[place % len(MARKS)] for place, shape in enumerate(shapes)}

    def panel(self, axes: Any, found: Sequence[Summary], name: str) -> None:
        """The points of one model and test set, those of a tool joined; bars go from the least to the largest seed."""
        from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

        for tool, colour in self.colours.items():
            points = [(speed(one), one.scores.get(name, NONE)[0], one) for one in found if one.tool == tool]
            places = [(x, y) for x, y, _ in points if y is not None]
            if places:
                axes.plot(*zip(*places, strict=True), color=colour, linewidth=1, alpha=0.4)
            for x, y, one in points:
                if spread := one.spreads.get(name):
                    axes.plot(x, y, self.marks[self.names[id(one)]], color=colour, markersize=8)
                    axes.vlines(x, *spread, color=colour, linewidth=1)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.xaxis.set_minor_formatter(NullFormatter())
        speeds = [found_speed for one in found if (found_speed := speed(one))]
        axes.set_xlim(min(speeds) / 1.5, max(speeds) * 1.5)
        axes.margins(y=0.2)
        axes.grid(alpha=0.3)
        if not axes.lines:
            axes.text(0.5, 0.5, "not judged", transform=axes.transAxes, ha="center")

    def legend(self) -> list[Any]:
        """A handle for each tool, and for each shape if there are several."""
        from matplotlib.lines import Line2D

        tools = [(colour, "o", tool) for tool, colour in self.colours.items()]
        shapes = [("grey", mark, shape) for shape, mark in self.marks.items() if shape]
        return [
            Line2D([], [], color=colour, marker=mark, linestyle="none", label=label)
            for colour, mark, label in tools + shapes
        ]
