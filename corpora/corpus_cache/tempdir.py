"""The folder of cached corpora, and temporary folders for encoding in it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from embeddings.support.cache_folder import cache_folder, create_private, foreign_access
from embeddings.support.logs import log

PARTIAL = ".partial"


def corpora_folder(entry: str | None = None) -> Path | None:
    """Return the folder of cached corpora; None if it is not writable, or if others could write to it: a warning.

    Of its content, only the entry with the name `entry` is checked.
    """
    folder = cache_folder("corpora")
    if folder is None:
        return None
    access = foreign_access(folder / entry) if entry else foreign_access(folder, with_content=False)
    if access:
        warn_once(f"cannot cache encoded corpora, so every run reads its text again: {access}")
    return None if access else folder


@cache
def warn_once(message: str) -> None:
    """Log a warning, the same one only once."""
    log.warning("%s", message)


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
