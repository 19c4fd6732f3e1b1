"""Loss curves of saved models and of run logs: read, and plotted with the scores of epochs."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.models.model_files import read_model_json
from embeddings.support.imports import import_library
from embeddings.support.plots import check_figure_path, save_figure
from embeddings.training.run_log import HELD_OUT_LOSS, is_finite_number, read_lines

Points = list[tuple[float, float]]


@dataclass
class Curves:
    """The losses of a run and the scores of its epochs by name, by epoch or by words or other units read."""

    unit: str
    loss: Points = field(default_factory=list)
    scores: dict[str, Points] = field(default_factory=dict)


def read_curves(path: str | os.PathLike[str]) -> Curves:
    """The curves of a saved model, by epoch, or of a log, by words of the corpus or other units.

    Raises:
        FormatError: there are no losses and no scores.
    """
    source = Path(path)
    if source.is_dir():
        record = read_model_json(source)["record"]
        stopping = record.get("early_stopping")
        stopping = stopping if isinstance(stopping, dict) else {}
        name, values = "score", stopping.get("scores")
        if HELD_OUT_LOSS in stopping:
            name, values = HELD_OUT_LOSS, stopping[HELD_OUT_LOSS]
        curves = Curves("epochs", by_epoch(record.get("loss_by_epoch")), {name: by_epoch(values)})
    else:
        curves = log_curves(source)
    if not curves.loss and not any(curves.scores.values()):
        raise FormatError(f"{path} has no losses: nothing was trained, or its trainer does not report a loss")
    return curves


def by_epoch(values: Any) -> Points:
    """The numbers in a list of one value for each epoch."""
    pairs = enumerate(values if isinstance(values, list) else [], 1)
    return [(float(epoch), float(value)) for epoch, value in pairs if is_finite_number(value)]


def log_curves(path: Path) -> Curves:
    """The curves of a log.

    After a crash, values of the resumed run replace earlier ones at the same word count.
    """
    curves, lines = Curves("words"), read_lines(path)
    if not lines:
        raise FormatError(f"{path} has no loss curve: it is neither a saved model nor the log of a run")
    for line in lines:
        words: Any = line.get("words")
        loss: Any = line.get("loss")
        scores = line.get("scores")
        if not is_finite_number(words):
            continue
        curves.unit = str(line.get("unit", curves.unit))
        if line["event"] == "begin":
            for points in (curves.loss, *curves.scores.values()):
                points[:] = [point for point in points if point[0] <= words]
        elif line["event"] == "progress" and is_finite_number(loss):
            curves.loss.append((float(words), float(loss)))
        elif line["event"] == "epoch" and isinstance(scores, dict):
            for name, value in scores.items():
                if is_finite_number(value):
                    curves.scores.setdefault(str(name), []).append((float(words), float(value)))
    return curves


def draw_loss_curve(path: str | os.PathLike[str], figure_path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Plot the losses of a saved model or of a log, with the scores of epochs on a second axis on the right.

    The ending of the path, such as .png, decides the format.
    """
    check_figure_path(figure_path, force=force)
    curves = read_curves(path)
    Figure = import_library("matplotlib.figure").Figure
    EngFormatter = import_library("matplotlib.ticker").EngFormatter

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    draw(axes, curves.loss, "training loss", "C0")
    draw(axes, curves.scores.pop(HELD_OUT_LOSS, []), "held-out loss", "C1")
    axes.set_xlabel("epochs" if curves.unit == "epochs" else f"{curves.unit} read")
    if curves.unit != "epochs":
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylabel("mean loss")
    scores = {name: points for name, points in sorted(curves.scores.items()) if points}
    if scores:
        right = axes.twinx()
        for number, (name, points) in enumerate(scores.items(), 2):
            draw(right, points, name, f"C{number}")
        right.set_ylabel("score (dev)" if list(scores) == ["score"] else ", ".join(scores))
    figure.legend(loc="outside lower center", ncols=3)
    axes.set_title(Path(path).name)
    axes.grid(alpha=0.3)
    save_figure(figure, figure_path, force=force)


def draw(axes: Any, points: Points, label: str, color: str) -> None:
    """Draw a curve, if it has points."""
    if points:
        style = "o-" if len(points) < 100 else "-"
        axes.plot(*zip(*points, strict=True), style, color=color, markersize=3, label=label)
