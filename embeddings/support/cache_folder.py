"""The cache folder of this package, for encoded corpora and compiled kernels."""

import os
import stat
import sys
import tempfile
from functools import cache
from itertools import chain
from pathlib import Path

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
        is_shared_root = path == root and status.st_mode & stat.S_ISVTX  # others cannot replace folders in it
        if is_enterable and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_shared_root:
            return (
                f"other users can write to {path}; if you trust them, run `chmod -R go-w {root}`, "
                f"else set {VARIABLE} to another folder"
            )
        is_enterable = is_enterable and (path not in (*above, folder) or bool(status.st_mode & 0o011))
    return None
