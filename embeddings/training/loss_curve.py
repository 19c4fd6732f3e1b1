"""The loss of a run as a picture: of a saved model by epochs, of a log of lines of JSON as fine as it is."""

import os
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.support.plots import check_figure_path, save_figure
from embeddings.training.run_log_reader import is_number, lines

Points = list[tuple[float, float]]


def losses(path: str | os.PathLike[str]) -> tuple[str, Points]:
    """The losses of a saved model or a log, and what they are over: "epochs", or "words" of the corpus.

    Raises:
        FormatError: it is neither, or knows no loss.
    """
    from embeddings.models.model_files import read_model_json

    place = Path(path)
    if place.is_dir():
        found = read_model_json(place)["record"].get("loss_by_epoch")
        values = found if isinstance(found, list) else []
        points = [(float(number), float(value)) for number, value in enumerate(values, 1) if is_number(value)]
        return "epochs", checked(place, points)
    return "words", checked(place, logged(place))


def logged(path: Path) -> Points:
    """The losses of a log; of parts that were learned twice, after a crash, the last."""
    points: Points = []
    for line in lines(path):
        words: Any = line.get("words")
        loss: Any = line.get("loss")
        if line.get("event") == "begin" and is_number(words):
            points = [point for point in points if point[0] <= words]
        elif line.get("event") == "progress" and is_number(words) and is_number(loss):
            points.append((float(words), float(loss)))
    return points


def checked(path: Path, points: Points) -> Points:
    """The points.

    Raises:
        FormatError: there is none.
    """
    if not points:
        raise FormatError(f"{path} knows no loss: nothing was learned, or its trainer tells none")
    return points


def draw_curve(path: str | os.PathLike[str], picture: str | os.PathLike[str], *, force: bool = False) -> None:
    """A PNG, or what else the ending asks for, of the loss of a saved model or of a log.

    Raises:
        SettingError: the ending is no picture's.
        OutputError: it exists (unless `force`), or cannot be written.
        FormatError: as `losses`.
    """
    check_figure_path(picture, force=force)
    what, points = losses(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*points, strict=True), "o-" if len(points) < 100 else "-", markersize=3)
    axes.set_xlabel("epochs" if what == "epochs" else "words read")
    axes.set_ylabel("loss, the mean over sampled windows")
    axes.set_title(Path(path).name)
    axes.grid(alpha=0.3)
    save_figure(figure, picture, force=force)
