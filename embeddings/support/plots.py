"""Figures written to files."""

import os
from pathlib import Path
from typing import Any

from embeddings.errors import SettingError
from embeddings.support.files import atomic_write, check_file

DPI = 150
EXTENSIONS = (".png", ".svg", ".pdf")


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
