"""Figures written to files."""

import os
from pathlib import Path
from typing import Any

from embeddings.errors import SettingError
from embeddings.support.files import atomic_write, check_file
from embeddings.support.imports import import_library

DPI = 150
EXTENSIONS = (".png", ".svg", ".pdf")


def label_log_axis(axis: Any) -> None:
    """Label an axis of matplotlib, made logarithmic before, at 1, 2 and 5 times powers of ten: 0.5, 200, 50k, 2M."""
    ticker = import_library("matplotlib.ticker")
    large = ticker.EngFormatter(sep="")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}" if value < 1000 else large(value)))
    axis.set_minor_formatter(ticker.NullFormatter())


def check_figure_path(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Check that a figure can be written to `path`."""
    if Path(path).suffix.lower() not in EXTENSIONS:
        raise SettingError(f"a figure must end in {', '.join(EXTENSIONS)}, got {str(path)!r}")
    check_file(path, force=force)


def save_figure(figure: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a matplotlib figure in the format of the file extension; raises the errors of `check_figure_path`."""
    check_figure_path(path, force=force)
    with atomic_write(path, force=force) as temporary:
        figure.savefig(temporary, dpi=DPI)
