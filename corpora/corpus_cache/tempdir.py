"""Temporary folders for encoding, in the cache folder if there is one."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from embeddings.support.cache_folder import create_private

PARTIAL = ".partial"


@contextmanager
def new_folder(cache: Path | None) -> Iterator[Path]:
    """Yield a new folder that is removed only if the block fails."""
    folder = create_folder(cache)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def temporary_folder(cache: Path | None) -> Iterator[Path]:
    """Yield a new folder that is removed after the block."""
    folder = create_folder(cache)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def create_folder(cache: Path | None) -> Path:
    """Create a folder in the cache if possible, else in the temporary folder of the system."""
    if cache is not None:
        try:
            create_private(cache)
            return Path(tempfile.mkdtemp(prefix=".", suffix=PARTIAL, dir=cache))
        except OSError:  # removed, or no longer writable
            pass
    return Path(tempfile.mkdtemp(prefix="embeddings-"))
