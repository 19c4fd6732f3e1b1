"""Plots of the loss of a run: by epoch for a saved model, by words read for a log."""

import os
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.models.model_files import read_model_json
from embeddings.support.plots import check_figure_path, save_figure
from embeddings.training.run_log_reader import is_number, read_lines

Points = list[tuple[float, float]]


def loss_points(path: str | os.PathLike[str]) -> tuple[str, Points]:
    """The losses of a saved model or a log, and their unit: "epochs", or "words" of the corpus."""
    source = Path(path)
    if source.is_dir():
        losses = read_model_json(source)["record"].get("loss_by_epoch")
        epoch_losses = enumerate(losses if isinstance(losses, list) else [], 1)
        unit, points = "epochs", [(float(epoch), float(loss)) for epoch, loss in epoch_losses if is_number(loss)]
    else:
        unit, points = "words", log_points(source)
    if not points:
        raise FormatError(f"{path} has no losses: nothing was trained, or its trainer does not report a loss")
    return unit, points


def log_points(path: Path) -> Points:
    """The losses of a log; where words were read again after a crash, the later loss."""
    points: Points = []
    for line in read_lines(path):
        words: Any = line.get("words")
        loss: Any = line.get("loss")
        if line.get("event") == "begin" and is_number(words):
            points = [point for point in points if point[0] <= words]
        elif line.get("event") == "progress" and is_number(words) and is_number(loss):
            points.append((float(words), float(loss)))
    return points


def draw_loss_curve(path: str | os.PathLike[str], figure_path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Plot the loss of a saved model or of a log; the ending of the path (such as .png) decides the format."""
    check_figure_path(figure_path, force=force)
    unit, points = loss_points(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*points, strict=True), "o-" if len(points) < 100 else "-", markersize=3)
    axes.set_xlabel("epochs" if unit == "epochs" else "words read")
    axes.set_ylabel("mean loss of sampled windows")
    axes.set_title(Path(path).name)
    axes.grid(alpha=0.3)
    save_figure(figure, figure_path, force=force)
