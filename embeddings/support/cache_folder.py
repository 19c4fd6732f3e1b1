"""Where this package keeps what it can make again: encoded corpora and compiled kernels."""

import os
import tempfile
from functools import cache
from pathlib import Path

import platformdirs

VARIABLE = "EMBEDDINGS_CACHE"


def folder(*parts: str) -> Path | None:
    """A writable cache folder (`EMBEDDINGS_CACHE`, or the user's), made if missing; None where there can be none."""
    try:
        base = os.environ.get(VARIABLE) or platformdirs.user_cache_dir("embeddings")
    except RuntimeError:  # nobody knows where home is
        return None
    if base.startswith("~"):  # nor did an earlier platformdirs, which would make a folder of this name right here
        return None
    return writable(Path(base).joinpath(*parts))


@cache
def writable(path: Path) -> Path | None:
    """The folder, once a file has been written in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return None
