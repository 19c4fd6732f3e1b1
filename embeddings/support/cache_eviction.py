"""Eviction from a cache folder: its default size limit, its least recently used entries, and abandoned partial folders.

Content is written in a folder whose name ends in `PARTIAL`, and renamed when it is complete.
"""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

PARTIAL = ".partial"
MAX_SIZE = 20 * 10**9  # bytes, or a tenth of the disk if that is less
ABANDONED_AFTER = 24 * 3600  # seconds without a write after which a partial folder is removed


@dataclass(frozen=True)
class CacheEntry:
    """An entry of a cache: its folder, bytes on disk, and time of last use."""

    folder: Path
    size: int
    last_used: float


AnyEntry = TypeVar("AnyEntry", bound=CacheEntry)


def default_limit(folder: Path) -> int:
    """Return the default limit in bytes of a cache in an existing folder: `MAX_SIZE`, or a tenth of the disk."""
    return min(MAX_SIZE, shutil.disk_usage(folder).total // 10)


def evict(entries: Sequence[AnyEntry], limit: float, remove: Callable[[Path], bool]) -> list[AnyEntry]:
    """Remove entries in order until the others have at most `limit` bytes; returns the removed entries.

    Arguments:
        remove: removes the folder of an entry; returns whether it is gone.
    """
    size, removed_entries = sum(entry.size for entry in entries), []
    for entry in entries:
        if size <= limit:
            break
        if remove(entry.folder):
            removed_entries.append(entry)
            size -= entry.size
    return removed_entries


def remove_abandoned(cache: Path) -> None:
    """Remove partial folders in which nothing has been written for a day."""
    for name in os.listdir(cache):
        folder = cache / name
        if name.endswith(PARTIAL):
            with suppress(OSError):  # another process may have removed it
                last_write = max(path.stat().st_mtime for path in (folder, *folder.rglob("*")))
                if time.time() - last_write > ABANDONED_AFTER:
                    shutil.rmtree(folder, ignore_errors=True)
