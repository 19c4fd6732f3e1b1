"""Files that pictures are written to."""

import os
from pathlib import Path
from typing import Any

from embeddings.errors import SettingError
from embeddings.support.files import check_file, replacing

DPI = 150
ENDINGS = (".png", ".svg", ".pdf")


def check_picture(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a file that a picture cannot be written to.

    Raises:
        SettingError: the ending is no picture's.
        OutputError: it exists (unless `force`) or cannot be written.
    """
    if Path(path).suffix.lower() not in ENDINGS:
        raise SettingError(f"a picture must end in {', '.join(ENDINGS)}, not {str(path)!r}")
    check_file(path, force=force)


def save_picture(figure: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a figure of matplotlib: a PNG, or what else the ending asks for.

    Raises:
        SettingError, OutputError: as `check_picture`.
    """
    check_picture(path, force=force)
    with replacing(path, force=force) as fresh:
        figure.savefig(fresh, dpi=DPI)
