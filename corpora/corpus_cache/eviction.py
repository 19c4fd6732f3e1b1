"""The contents and size limit of the corpus cache, and the eviction of the least recently used entries."""

import contextlib
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embeddings.corpora.corpus_cache.tempdir import PARTIAL
from embeddings.corpora.encoded_corpus import META, read_meta
from embeddings.errors import FormatError, SettingError
from embeddings.support.shared_lock import is_unlocked

VARIABLE = "EMBEDDINGS_CACHE_LIMIT"
MAX_SIZE = 20 * 10**9  # bytes, or a tenth of the disk if that is less
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """A cached corpus: its folder, bytes on disk, time of last use, and description (empty if it is broken)."""

    folder: Path
    size: int
    last_used: float
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name


def parse_size(text: str) -> int:
    """Parse a size such as 500MB, 1.5 GB or 1000000 to bytes; raises SettingError if it is not valid."""
    match = SIZE.fullmatch(text.strip())
    if not match:
        raise SettingError(f"a size must be a number with an optional unit, such as 500MB or 20GB, got {text!r}")
    return int(float(match[1]) * UNITS[match[2].lower()])


def size_limit(cache: Path) -> int:
    """Return the maximum size of the cache: EMBEDDINGS_CACHE_LIMIT, or else `MAX_SIZE` or a tenth of the disk."""
    if text := os.environ.get(VARIABLE):
        try:
            return parse_size(text)
        except SettingError as error:
            raise SettingError(f"{VARIABLE}: {error}") from None
    existing = next(folder for folder in (cache, *cache.absolute().parents) if folder.exists())
    return min(MAX_SIZE, shutil.disk_usage(existing).total // 10)


def list_entries(cache: Path) -> list[Entry]:
    """Return the entries of the cache, the least recently used first."""
    entries = []
    for folder in cache.iterdir() if cache.is_dir() else ():
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        with contextlib.suppress(OSError):  # removed meanwhile
            size = sum(path.stat().st_size for path in folder.iterdir())
            last_used = (folder / META if (folder / META).exists() else folder).stat().st_mtime
            try:
                meta = read_meta(folder)
            except FormatError:
                meta = {}
            entries.append(Entry(folder, size, last_used, meta))
    return sorted(entries, key=lambda entry: (entry.last_used, entry.name))


def remove(folder: Path, *, even_used: bool = False) -> bool:
    """Remove an entry atomically unless it is in use; returns whether it is gone."""
    if not even_used and not is_unlocked(folder / META):
        return False
    try:
        trash = Path(tempfile.mkdtemp(prefix=".removed", suffix=PARTIAL, dir=folder.parent))
    except OSError:
        return not folder.exists()
    try:
        folder.rename(trash / folder.name)
        return True
    except OSError:
        return not folder.exists()
    finally:
        shutil.rmtree(trash, ignore_errors=True)


def shrink(cache: Path, limit: int) -> list[Entry]:
    """Evict entries until they have at most `limit` bytes: broken ones first, then the least recently used.

    Entries in use are not evicted. Returns the evicted entries.
    """
    entries = sorted(list_entries(cache), key=lambda entry: bool(entry.meta))
    size, removed_entries = sum(entry.size for entry in entries), []
    for entry in entries:
        if size <= limit:
            break
        if remove(entry.folder):
            removed_entries.append(entry)
            size -= entry.size
    return removed_entries
