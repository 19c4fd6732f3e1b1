"""The outcome of a search as tables, a page in Markdown and a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.eval.benchmark.workspace import write_rows, write_text
from embeddings.eval.tuning.study_folder import PICTURE, REPORT, TABLE, StudyFolder, Tuning
from embeddings.support.imports import import_library
from embeddings.support.plots import save_figure
from embeddings.support.result_table import format_number, markdown_table

SCORES = ("score", "value", "low", "high", "difference", "p")  # columns


def write_report(folder: StudyFolder, tuning: Tuning, command: str | None = None) -> None:
    """Write the trials as a table, the report and the picture of a search into its folder."""
    rows = tuning.trial_rows()
    write_rows(rows, folder.path / TABLE, list(rows[0]), delimiter="\t")
    write_text(markdown(tuning, folder.study, command), folder.path / REPORT)
    draw_trials(tuning, folder.path / PICTURE, force=True)


def markdown(tuning: Tuning, study: dict[str, Any], command: str | None) -> str:
    """The report."""
    assert tuning.best is not None
    states = [trial.state for trial in tuning.trials]
    counts = f"{len(states)} trials of `{study['trainer']}`: {states.count('complete')} complete, "
    counts += f"{states.count('halved')} ended early, {states.count('failed')} failed"
    ranges = ", ".join(f"{name} {values}" for name, values in study["vary"].items())
    lines = [f"{counts}; seed {study['seed']}, threads {study['threads']}.", ""]
    lines += [f"Varied: {ranges}. Scored by: {tuning.metric}. Best: trial {tuning.best.number}.", ""]
    if tuning.is_interrupted:
        lines += ["The search was interrupted, so nothing was scored on the test half yet.", ""]
    elif not tuning.comparisons and tuning.best.number == 1:
        lines += ["No trial was better than the given settings.", ""]
    for rows in tuning.tables[1:]:
        lines += [*score_table(rows), ""] if rows else []
    if command is not None:
        lines += ["The command that trains the best settings:", "", "```sh", command, "```", ""]
    return "\n".join([*lines, *score_table(tuning.trial_rows(with_seconds=False)), ""])


def score_table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rows as a table in Markdown; scores have four decimals."""
    cells = (
        [format_number(value, ".4f") if name in SCORES or value is None else str(value) for name, value in row.items()]
        for row in rows
    )
    return markdown_table(list(rows[0]), cells)


def draw_trials(tuning: Tuning, path: Path, *, force: bool = False) -> None:
    """Parallel coordinates: a line for each trial through its settings and its score.

    Darker lines have higher scores, grey ones were ended early, and the best trial is red.
    """
    colormaps = import_library("matplotlib").colormaps
    rc_context = import_library("matplotlib").rc_context
    Figure = import_library("matplotlib.figure").Figure

    trials = [trial for trial in tuning.trials if trial.score is not None]
    names = list(dict.fromkeys(name for trial in trials for name in trial.settings))
    scores = np.array([trial.score for trial in trials])
    axes_of = [*names, "score"]
    columns = [positions([trial.settings.get(name) for trial in trials]) for name in names]
    columns.append(positions([trial.score for trial in trials]))
    figure = Figure(figsize=(max(6, 1.6 * len(axes_of)), 4), layout="constrained")
    axes = figure.subplots()
    kinds: dict[str, Any] = {}
    ranks = scores.argsort().argsort() / max(len(scores) - 1, 1)
    for row in np.argsort(scores):
        is_best, state = trials[row] is tuning.best, trials[row].state
        kind = "best trial" if is_best else "ended early" if state == "halved" else "complete (darker: higher score)"
        color = "C3" if is_best else "0.8" if state == "halved" else colormaps["Blues"](0.35 + 0.65 * ranks[row])
        values = [column[0][row] for column in columns]
        (line,) = axes.plot(values, color=color, linewidth=2.5 if is_best else 1, zorder=len(scores) * is_best + row)
        kinds[kind] = line
    for x, (_, ticks) in enumerate(columns):
        axes.axvline(x, color="0.3", linewidth=0.8)
        for height, label in ticks:
            axes.annotate(
                label, (x, height), xytext=(4, 0), textcoords="offset points", fontsize=8, va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}, zorder=3 * len(scores),
            )  # fmt: skip
    axes.set_xticks(range(len(axes_of)), [name.replace("_", " ") for name in axes_of])
    axes.set_yticks([])
    axes.set_xlim(-0.2, len(axes_of) - 0.4)
    axes.spines[:].set_visible(False)
    axes.set_title(f"score: {tuning.metric}", fontsize=9)
    figure.legend(kinds.values(), kinds, loc="outside lower center", ncols=3, frameon=False)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "trials"}):  # text as text, reproducible ids
        save_figure(figure, path, force=force)


def positions(values: Sequence[Any]) -> tuple[list[float], list[tuple[float, str]]]:
    """Heights from 0 to 1 of the values of an axis, NaN for none, and its ticks with labels."""
    is_numeric = all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values if value is not None
    )
    if not is_numeric:
        names = sorted({str(value) for value in values})
        height = {name: number / max(len(names) - 1, 1) for number, name in enumerate(names)}
        return [height[str(value)] for value in values], [(height[name], name) for name in names]
    numbers = np.array([np.nan if value is None else value for value in values], float)
    low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
    is_log = low > 0 and high >= 10 * low
    scaled, ends = (np.log(numbers), np.log([low, high])) if is_log else (numbers, np.array([low, high]))
    heights = (scaled - ends[0]) / (ends[1] - ends[0]) if high > low else scaled * 0 + 0.5
    middle = float(np.exp(ends.mean())) if is_log else (low + high) / 2
    ticks = [(0.0, low), (0.5, middle), (1.0, high)] if high > low else [(0.5, low)]
    return heights.tolist(), [(height, f"{value:.3g}") for height, value in ticks]
