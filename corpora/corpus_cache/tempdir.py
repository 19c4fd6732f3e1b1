"""Folders to encode into: in the cache where there is one, and gone if the work fails."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from embeddings.corpora.corpus_cache.eviction import PARTIAL


@contextmanager
def made_in(home: Path | None) -> Iterator[Path]:
    """An empty folder to encode into, removed if that fails."""
    scratch = make_scratch(home)
    try:
        yield scratch
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


@contextmanager
def lent_in(home: Path | None) -> Iterator[Path]:
    """An empty folder that is removed afterwards."""
    with made_in(home) as scratch:
        yield scratch
    shutil.rmtree(scratch, ignore_errors=True)


def make_scratch(home: Path | None) -> Path:
    """An empty folder to encode into, in the cache if there is one."""
    if home is not None:
        try:
            home.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=".", suffix=PARTIAL, dir=home))
        except OSError:  # gone, or no longer writable
            pass
    return Path(tempfile.mkdtemp(prefix="embeddings-"))
