"""Locks: shared ones protect a folder from removal while a process uses it, exclusive ones protect renames.

A lock ends with the process that holds it, and requires no write access. `filelock` offers exclusive locks on writable
files, and a shared lock through SQLite; neither suits a cache that may be read-only. On Windows no lock is required: a
folder that contains an open file cannot be renamed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def acquire_shared(path: Path) -> int | None:
    """Return a file descriptor with a shared lock; None if the file is missing or its folder is being removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    with suppress(OSError):  # another file may have this path by now, or none
        if try_lock(descriptor, exclusive=False) and os.path.samestat(path.stat(), os.fstat(descriptor)):
            return descriptor
    os.close(descriptor)
    return None


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[bool]:
    """Wait until no other process holds this lock on a folder, and hold it; yields False if the system has no locks."""
    descriptor, is_locked = None, False
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        if fcntl:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            is_locked = True
    try:
        yield is_locked
    finally:
        if descriptor is not None:
            os.close(descriptor)


def is_unlocked(path: Path) -> bool:
    """Whether no process, including this one, holds a lock on the file; true if the file is missing."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        return try_lock(descriptor, exclusive=True)
    finally:
        os.close(descriptor)


def try_lock(descriptor: int, *, exclusive: bool) -> bool:
    """Lock a file without waiting; also true on file systems without locks."""
    try:
        if fcntl:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return True
    return True
