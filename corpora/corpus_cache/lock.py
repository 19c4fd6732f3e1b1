"""Who is using an encoded corpus: a shared lock on its meta file, which ends with the process that holds it."""

import os
from pathlib import Path

try:
    import fcntl as locks
except ImportError:  # no such locks on this system: nothing is known to be in use
    locks = None  # type: ignore[assignment]


def shared(path: Path) -> int | None:
    """A descriptor of the file, locked so that nobody removes its folder; None if somebody does, or it is missing."""
    try:
        found = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    if locked(found, alone=False) and still(path, found):
        return found
    os.close(found)
    return None


def unused(path: Path) -> bool:
    """Whether nobody, this process included, holds the file's lock now; a file that is not there nobody uses."""
    try:
        found = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        return locked(found, alone=True)
    finally:
        os.close(found)


def locked(descriptor: int, *, alone: bool) -> bool:
    """Take the lock, if it can be had at once; true too where the file system has none."""
    try:
        if locks:
            locks.flock(descriptor, (locks.LOCK_EX if alone else locks.LOCK_SH) | locks.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def still(path: Path, descriptor: int) -> bool:
    """Whether the open file is still the one at this path."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False
