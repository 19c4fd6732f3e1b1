"""The contents and size limit of the corpus cache, and the eviction of the least recently used entries."""

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embeddings.corpora.corpus_cache.tempdir import PARTIAL
from embeddings.corpora.encoded_corpus import META, read_meta
from embeddings.errors import FormatError, SettingError
from embeddings.support.shared_lock import exclusive_lock, is_unlocked

VARIABLE = "EMBEDDINGS_CACHE_LIMIT"
MAX_SIZE = 20 * 10**9  # bytes, or a tenth of the disk if that is less
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
TOTAL = ".size"  # ending of the record of the size of all entries, next to the folder
TOTAL_RECORD = re.compile(r"([0-9]+) ([0-9]+)\n")
MAX_AGE = 24 * 3600  # seconds after which the entries are listed again
MANY, SHARE = 100, 0.95  # entries above which only this share of the limit is filled
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


def make_room(entry: Path, limit: int) -> None:
    """Count a new entry of the cache, and evict others if together they have more than `limit` bytes.

    The entries are listed only if their total size is above the limit, unknown, or was last listed a day ago. Removals
    by other means make the recorded size too large, which the next listing corrects. Of many entries, some more are
    evicted than required, so that not each new one lists them again.
    """
    cache = entry.parent
    record = cache.with_name(cache.name + TOTAL)
    with contextlib.suppress(OSError), exclusive_lock(cache):
        total, listed_at = read_total(record)
        total += folder_size(entry)
        if total > limit or not 0 <= time.time() - listed_at < MAX_AGE:
            entries = list_entries(cache)
            total, listed_at = sum(one.size for one in entries), int(time.time())
            if total > limit:
                total -= sum(one.size for one in evict(entries, limit * SHARE if len(entries) > MANY else limit))
        record.write_text(f"{total} {listed_at}\n")


def read_total(record: Path) -> tuple[int, int]:
    """Return the recorded size of all entries, and when they were listed; zeros if that is not known."""
    try:
        match = TOTAL_RECORD.fullmatch(record.read_text())
    except (OSError, ValueError):  # ValueError: it is not text
        match = None
    return (int(match[1]), int(match[2])) if match else (0, 0)


def folder_size(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir())


def list_entries(cache: Path) -> list[Entry]:
    """Return the entries of the cache, the least recently used first."""
    entries = []
    for folder in cache.iterdir() if cache.is_dir() else ():
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        with contextlib.suppress(OSError):  # removed meanwhile
            size = folder_size(folder)
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
    return evict(list_entries(cache), limit)


def evict(entries: Sequence[Entry], limit: float) -> list[Entry]:
    """Evict entries as `shrink` does, given all of them, the least recently used first."""
    size, removed_entries = sum(entry.size for entry in entries), []
    for entry in sorted(entries, key=lambda entry: bool(entry.meta)):
        if size <= limit:
            break
        if remove(entry.folder):
            removed_entries.append(entry)
            size -= entry.size
    return removed_entries
