"""Speed against quality as a figure."""

from collections.abc import Sequence
from typing import Any

from embeddings.eval.benchmark.job import ModelConfig
from embeddings.eval.benchmark.result_rows import ERROR_OF, SETS, Row
from embeddings.eval.benchmark.result_table import Summary, summaries

MARKERS = "osD^vPX*"
MARKER_WIDTH, LETTER_WIDTH = 0.7, 0.09  # inches of an entry of the legend
LABELS = {
    "wordsim353": "WordSim-353, Spearman",
    "simlex999": "SimLex-999, Spearman",
    "google-analogies": "Google analogies",
}


def quality_figure(rows: Sequence[Row]) -> Any:
    """The matplotlib figure: a column for each model, a row for each test set with scores.

    Further right is faster; higher is better, except for error rates. Speed is that of training, or of whole runs if
    a tool does not tell the former.
    """
    from matplotlib.figure import Figure

    lines = [one for one in summaries(rows) if one.runs]
    phase = "training" if all(speed(one, "training") for one in lines) else "whole"
    shown = [one for one in lines if speed(one, phase) is not None]
    models = list(dict.fromkeys(map(model_of, shown)))
    candidates = [name for name in shown[0].scores if name in SETS or name.startswith(ERROR_OF)] if shown else []
    sets = [name for name in candidates if any(one.scores[name][0] is not None for one in shown)] or [next(iter(SETS))]
    figure = Figure(figsize=(1.5 + 4.5 * len(models), 1.2 + 2.6 * len(sets)), layout="constrained")
    grid = figure.subplots(len(sets), len(models), squeeze=False, sharex="col", sharey="row")
    style = PlotStyle(shown, phase)
    for column, model in enumerate(models):
        for row, name in enumerate(sets):
            axes = grid[row, column]
            style.draw_panel(axes, [one for one in shown if model_of(one) == model], name)
            axes.set_title(model if row == 0 else "")
            axes.set_ylabel(LABELS.get(name, name) if column == 0 else "")
        grid[-1, column].set_xlabel("words per CPU second" + " of the whole run" * (phase == "whole"))
    handles = style.legend_handles()
    longest = max(len(one.get_label()) for one in handles)
    columns = max(1, int(figure.get_figwidth() / (MARKER_WIDTH + LETTER_WIDTH * longest)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def speed(one: Summary, phase: str) -> float | None:
    """Words of the corpus per CPU second of a phase, "training" or "whole"; None if its time is not known."""
    seconds = one.times[f"{phase}_cpu"]
    return one.words / seconds if seconds and seconds > 0 else None


def model_of(one: Summary) -> str:
    """The name of the model, as in `ModelConfig`."""
    return ModelConfig(one.settings["trainer"], one.settings, 1).model


class PlotStyle:
    """A colour for each tool and a marker for each configuration, the same in all panels."""

    def __init__(self, shown: Sequence[Summary], phase: str) -> None:
        self.phase = phase
        self.colours = {tool: f"C{number}" for number, tool in enumerate(dict.fromkeys(one.tool for one in shown))}
        varying = [name for name in ("dim", "negatives", "threads") if len({one.settings[name] for one in shown}) > 1]
        self.names = {id(one): ", ".join(f"{name} {one.settings[name]}" for name in varying) for one in shown}
        configs = dict.fromkeys(self.names.values())
        self.markers = {config: MARKERS[number % len(MARKERS)] for number, config in enumerate(configs)}

    def draw_panel(self, axes: Any, shown: Sequence[Summary], name: str) -> None:
        """Draw one model and test set: a line for each tool, and bars from the lowest to the highest seed."""
        from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

        for tool, colour in self.colours.items():
            points = [
                (speed(one, self.phase), one.scores.get(name, (None,))[0], one) for one in shown if one.tool == tool
            ]
            line = [(x, y) for x, y, _ in points if y is not None]
            if line:
                axes.plot(*zip(*line, strict=True), color=colour, linewidth=1, alpha=0.4)
            for x, y, one in points:
                if score_range := one.ranges.get(name):
                    axes.plot(x, y, self.markers[self.names[id(one)]], color=colour, markersize=8)
                    axes.vlines(x, *score_range, color=colour, linewidth=1)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.xaxis.set_minor_formatter(NullFormatter())
        speeds = [words for one in shown if (words := speed(one, self.phase))]
        axes.set_xlim(min(speeds) / 1.5, max(speeds) * 1.5)
        axes.margins(y=0.2)
        axes.grid(alpha=0.3)
        if not axes.lines:
            axes.text(0.5, 0.5, "no scores", transform=axes.transAxes, ha="center")

    def legend_handles(self) -> list[Any]:
        """A handle for each tool, and for each configuration if there are several."""
        from matplotlib.lines import Line2D

        tools = [(colour, "o", tool) for tool, colour in self.colours.items()]
        configs = [("grey", marker, config) for config, marker in self.markers.items() if config]
        return [
            Line2D([], [], color=colour, marker=marker, linestyle="none", label=label)
            for colour, marker, label in tools + configs
        ]
