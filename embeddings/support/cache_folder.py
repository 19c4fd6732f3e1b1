"""The cache folder of this package, for encoded corpora and compiled kernels, and eviction from it."""

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TypeVar

from embeddings.errors import OutputError

VARIABLE = "EMBEDDINGS_CACHE"
ROOT_USER = 0


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
    """Return the folder of all caches, by default in the system's folder for those; None if that is unknown."""
    if own := os.environ.get(VARIABLE):
        return None if own.startswith("~") else Path(own)
    if sys.platform == "win32":
        parent = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        parent = "~/Library/Caches"
    else:
        parent = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    parent = os.path.expanduser(parent)
    if parent.startswith("~"):  # the home folder is unknown
        return None
    folder = Path(parent) / "embeddings"
    return folder / "embeddings" / "Cache" if sys.platform == "win32" else folder


def temporary_root() -> str:
    """Return the system's folder for temporary files; raises OutputError if no file can be written in any."""
    try:
        return tempfile.gettempdir()
    except FileNotFoundError as error:
        raise OutputError(f"{error.strerror}: make room, or set TMPDIR to another folder") from None


@cache
def create_writable(path: Path) -> Path | None:
    """Create a folder and return it if files can be written there."""
    try:
        create_private(path)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return None


def create_private(path: Path) -> None:
    """Create a folder and its missing parents, which only this user can access."""
    # parents too: who can write to a folder above can exchange the one below
    if not path.parent.exists():
        create_private(path.parent)
    path.mkdir(0o700, exist_ok=True)


def foreign_access(folder: Path, *, with_content: bool = True) -> str | None:
    """Return who else could have written to a folder of the cache, and what to do; None if nobody could.

    This user and root are trusted. Checks the folders from the root of the cache down to `folder`, and all that it
    contains, unless `with_content` is false. A folder that others may not enter protects what is below it. Always None
    on Windows.
    """
    root = cache_root()
    if root is None or not hasattr(os, "getuid"):
        return None
    above = [path for path in reversed(folder.parents) if path.is_relative_to(root)]
    walk = os.walk(folder) if with_content else ()
    content = (Path(parent, name) for parent, *names in walk for name in chain(*names))
    is_enterable = True
    for path in (*above, folder, *content):
        try:
            status = path.stat()
        except OSError:  # removed meanwhile
            continue
        if status.st_uid not in (ROOT_USER, os.getuid()):
            return f"{path} belongs to another user; remove it, or set {VARIABLE} to a folder of your own"
        # as /tmp: with the sticky bit others cannot replace folders of this user
        is_shared_root = path == root and status.st_mode & stat.S_ISVTX  # others cannot replace folders in it
        if is_enterable and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_shared_root:
            return (
                f"other users can write to {path}; if you trust them, run `chmod -R go-w {root}`, "
                f"else set {VARIABLE} to another folder"
            )
        is_enterable = is_enterable and (path not in (*above, folder) or bool(status.st_mode & 0o011))
    return None


PARTIAL = ".partial"  # at the end of the name of a folder whose content is not complete
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

    `remove` removes the folder of an entry, and returns whether it is gone.
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
    """Remove partial folders, whose names start with a dot, in which nothing has been written for a day."""
    for name in os.listdir(cache):
        folder = cache / name
        if name.startswith(".") and name.endswith(PARTIAL):
            with suppress(OSError):  # another process may have removed it
                last_write = max(path.stat().st_mtime for path in (folder, *folder.rglob("*")))
                if time.time() - last_write > ABANDONED_AFTER:
                    shutil.rmtree(folder, ignore_errors=True)
