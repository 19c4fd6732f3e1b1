"""The cache folder of this package, for encoded corpora and compiled kernels."""

import os
import tempfile
from functools import cache
from pathlib import Path

import platformdirs

VARIABLE = "EMBEDDINGS_CACHE"


def cache_folder(*parts: str) -> Path | None:
    """Return a writable cache folder, created if missing; None if there is none.

    The parent is `EMBEDDINGS_CACHE`, or else the user's cache folder.
    """
    try:
        parent = os.environ.get(VARIABLE) or platformdirs.user_cache_dir("embeddings")
    except RuntimeError:  # the home folder is unknown
        return None
    if parent.startswith("~"):  # older platformdirs do not raise; this would create a folder named "~"
        return None
    return create_writable(Path(parent).joinpath(*parts))


@cache
def create_writable(path: Path) -> Path | None:
    """Create a folder and return it if files can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return None
