"""The cache of encoded corpora as a whole: what is in it, how large it may be, what goes first."""

import contextlib
import os
import re
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embeddings.corpora.corpus_cache.lock import unused
from embeddings.corpora.encoded_corpus import META, read_meta
from embeddings.errors import FormatError, SettingError

VARIABLE = "EMBEDDINGS_CACHE_LIMIT"
MOST = 20 * 10**9  # bytes, unless a tenth of the disk is less
PARTIAL = ".partial"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """An encoded corpus in the cache: its folder, bytes on the disk, when it was last used, what it says of itself."""

    folder: Path
    size: int
    used: float
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name


def parse_size(text: str) -> int:
    """The bytes that a size such as 500MB, 1.5 GB or 1000000 stands for.

    Raises:
        SettingError: it is no size.
    """
    found = SIZE.fullmatch(text.strip())
    if not found:
        raise SettingError(f"a size must be like 500MB or 20GB, not {text!r}")
    return int(float(found[1]) * UNITS[found[2].lower()])


def limit(home: Path) -> int:
    """How many bytes the cache may hold: EMBEDDINGS_CACHE_LIMIT, or 20 GB, or a tenth of the disk if that is less.

    Raises:
        SettingError: the variable is no size.
    """
    if text := os.environ.get(VARIABLE):
        try:
            return parse_size(text)
        except SettingError as error:
            raise SettingError(f"{VARIABLE}: {error}") from None
    there = next(folder for folder in (home, *home.absolute().parents) if folder.exists())  # it may not be made yet
    return min(MOST, shutil.disk_usage(there).total // 10)


def entries(home: Path) -> list[Entry]:
    """The encoded corpora of the cache, the least recently used first; a broken one says nothing of itself."""
    found = []
    for folder in home.iterdir() if home.is_dir() else ():
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        with contextlib.suppress(OSError):  # somebody removed it meanwhile
            statuses = [path.stat() for path in folder.iterdir()]
            used = (folder / META if (folder / META).exists() else folder).stat().st_mtime
            found.append(Entry(folder, sum(status.st_size for status in statuses), used, described(folder)))
    return sorted(found, key=lambda entry: (entry.used, entry.name))


def described(folder: Path) -> dict[str, Any]:
    """What an entry says of itself; nothing if it is broken."""
    try:
        return read_meta(folder)
    except FormatError:
        return {}


def remove(folder: Path, *, even_used: bool = False) -> bool:
    """Remove an entry unless it is in use; whether it is gone. Nobody ever sees a half of it."""
    if not even_used and not unused(folder / META):
        return False
    try:
        aside = Path(tempfile.mkdtemp(prefix=".removed", suffix=PARTIAL, dir=folder.parent))
        folder.rename(aside / folder.name)
    except OSError:
        return not folder.exists()
    shutil.rmtree(aside, ignore_errors=True)
    return True


def shrink(home: Path, most: int) -> list[Entry]:
    """Remove entries until they hold no more than `most` bytes; gives those removed.

    Those that cannot be read go first, then the least recently used. One in use stays.
    """
    listed = sorted(entries(home), key=lambda entry: bool(entry.meta))
    size, gone = sum(entry.size for entry in listed), []
    for entry in listed:
        if size <= most:
            break
        if remove(entry.folder):
            gone.append(entry)
            size -= entry.size
    return gone


def touch(folder: Path) -> None:
    """Note that an entry is used now; where that cannot be written it stays as it is."""
    with contextlib.suppress(OSError):
        os.utime(folder / META, (time.time(), time.time()))
