"""The cache folder of this package, for encoded corpora and compiled kernels."""

import os
import tempfile
from functools import cache
from pathlib import Path

import platformdirs

VARIABLE = "EMBEDDINGS_CACHE"


def cache_folder(*parts: str) -> Path | None:
    """Return a writable cache folder, created if missing; None if there is none."""
    parent = cache_root()
    return None if parent is None else create_writable(parent.joinpath(*parts))


def existing_folder(*parts: str) -> Path | None:
    """Return an existing cache folder, writable or not; None if there is none."""
    parent = cache_root()
    folder = None if parent is None else parent.joinpath(*parts)
    return folder if folder is not None and os.path.isdir(folder) else None


def cache_root() -> Path | None:
    """Return the folder of all caches; None if the home folder is unknown."""
    try:
        parent = os.environ.get(VARIABLE) or platformdirs.user_cache_dir("embeddings")
    except RuntimeError:  # the home folder is unknown
        return None
    if parent.startswith("~"):  # older platformdirs do not raise; this would create a folder named "~"
        return None
    return Path(parent)


@cache
def create_writable(path: Path) -> Path | None:
    """Create a folder and return it if files can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return None
