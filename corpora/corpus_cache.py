"""The cache of encoded corpora: entries, their eviction, locks and temporary folders."""

import contextlib
import json
import math
import os
import re
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from embeddings.corpora.encoded_corpus import FORMAT, META, EncodedCorpus, MissingCorpusError, read_meta
from embeddings.corpora.reading.sources import RemoteFile, Source, file_statuses
from embeddings.errors import FormatError, SettingError
from embeddings.support.cache_folder import (
    PARTIAL,
    CacheEntry,
    cache_folder,
    create_private,
    default_limit,
    evict,
    foreign_access,
    remove_abandoned,
    temporary_root,
)
from embeddings.support.files import exclusive_lock, is_unlocked
from embeddings.support.logs import log

VARIABLE = "EMBEDDINGS_CACHE_LIMIT"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
ENTRY_NAME = re.compile(r"[0-9a-f]{24}-[0-9a-f]{24}")  # of `entry_name`; other folders may be the user's
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)b?", re.IGNORECASE)


def corpora_folder(entry: str | None = None) -> Path | None:
    """Return the folder of cached corpora; None, with a warning, if it is not writable or others could write to it.

    Of the content of the folder, only the entry `entry` is checked.
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
    """Log a warning, unless it was logged before."""
    log.warning(message)


@contextmanager
def new_folder(cache: Path | None) -> Iterator[Path]:
    """Yield a new folder, in the cache if possible, that is removed only if the block fails."""
    folder = None
    if cache is not None:
        with contextlib.suppress(OSError):  # it was removed, or is no longer writable
            create_private(cache)
            folder = Path(tempfile.mkdtemp(prefix=".", suffix=PARTIAL, dir=cache))
    folder = folder or Path(tempfile.mkdtemp(prefix="embeddings-", dir=temporary_root()))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def temporary_folder(cache: Path | None) -> Iterator[Path]:
    """Yield a new folder that is removed after the block."""
    with new_folder(cache) as folder:
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Entry(CacheEntry):
    """A cached corpus, and its description (empty if it is damaged)."""

    meta: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the entry, which is the name of its folder."""
        return self.folder.name


def parse_size(text: str, name: str = "a size") -> int:
    """Parse a size such as 500MB, 1.5 GB or 1000000 to bytes; raises SettingError, with `name`, if it is not valid."""
    match = SIZE.fullmatch(text.strip())
    size = float(match[1]) * UNITS[match[2].lower()] if match else math.inf
    if math.isinf(size):
        raise SettingError(f"{name} must be a number with an optional unit, such as 500MB or 20GB, got {text!r}")
    return int(size)


def size_limit(cache: Path) -> int:
    """Return the maximum size of the cache: EMBEDDINGS_CACHE_LIMIT, or else the default limit of caches."""
    if text := os.environ.get(VARIABLE):
        return parse_size(text, VARIABLE)
    existing = next(folder for folder in (cache, *cache.absolute().parents) if folder.exists())
    return default_limit(existing)


def make_room(cache: Path, limit: int) -> None:
    """Evict entries until all have at most `limit` bytes."""
    with contextlib.suppress(OSError), exclusive_lock(cache):
        # the sizes alone are found faster than the entries, whose descriptions are read
        if sum(folder_size(folder) for folder in entry_folders(cache)) > limit:
            evict(list_entries(cache), limit, remove)


def entry_folders(cache: Path) -> list[Path]:
    """Return the folders of entries."""
    return [folder for folder in cache.iterdir() if ENTRY_NAME.fullmatch(folder.name) and folder.is_dir()]


def folder_size(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.iterdir())


def list_entries(cache: Path) -> list[Entry]:
    """Return the entries of the cache, the least recently used first."""
    entries = []
    for folder in entry_folders(cache) if cache.is_dir() else ():
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
    """Remove an entry atomically unless it is in use; returns whether the entry is gone."""
    if not even_used and not is_unlocked(folder / META):
        return False
    try:
        trash = Path(tempfile.mkdtemp(prefix=".removed", suffix=PARTIAL, dir=folder.parent))
    except OSError:
        return not folder.exists()
    try:
        # a rename is atomic: another process sees a whole entry or none
        folder.rename(trash / folder.name)
        return True
    except OSError:
        return not folder.exists()
    finally:
        shutil.rmtree(trash, ignore_errors=True)


def entry_name(sources: Sequence[Source], settings: Mapping[str, Any]) -> str | None:
    """Return the name of an entry, IDENTITY-STATE; None unless all sources are regular files.

    IDENTITY is a digest of paths and settings, STATE of sizes and modification times, and the ETags of remote files.
    """
    statuses = file_statuses(sources)
    if statuses is None:
        return None
    paths = [source.name if isinstance(source, RemoteFile) else str(Path(source.name).absolute()) for source in sources]
    identity = [FORMAT, unicodedata.unidata_version, dict(settings), paths]
    state = [status.identity for status in statuses]
    digests = (sha256(json.dumps(part, sort_keys=True).encode("utf-8", "surrogatepass")) for part in (identity, state))
    return "-".join(digest.hexdigest()[:24] for digest in digests)


def load_or_write(name: Callable[[], str | None], write: Callable[[Path], None]) -> EncodedCorpus:
    """Return the cached corpus of the current name, or else write the corpus and add it to the cache.

    The corpus is temporary if the name is None, or changes during writing because a source has changed.
    """
    # taken before the text is read
    initial = name()
    cache = corpora_folder(initial) if initial else None
    entry = cache / initial if cache and initial else None
    if cache and entry:
        if entry_corpus := find(entry):
            log.debug("found in the cache: %s", entry)
            return entry_corpus
        size_limit(cache)  # report an invalid limit before the work
    with new_folder(cache) as folder:
        write(folder)
    # the sources are looked at again, because the text may be of two states of a file that changed meanwhile
    if entry and folder.parent == cache and name() == initial:
        return store(folder, entry)
    return EncodedCorpus(folder, temporary=True)


def find(entry: Path) -> EncodedCorpus | None:
    """Return a cached corpus; None if it is missing or being removed, or, with a warning, if it is damaged."""
    try:
        encoded = EncodedCorpus(entry)
    except MissingCorpusError:
        return None
    except FormatError as error:
        log.warning("the text is encoded again: %s", error)
        return None
    with contextlib.suppress(OSError):  # the cache may be read-only
        os.utime(entry / META, (time.time(), time.time()))
    return encoded


def store(folder: Path, entry: Path) -> EncodedCorpus:
    """Move a complete corpus into the cache; if that fails, it is temporary.

    Entries of an older state of its sources, and abandoned folders, are removed, and others are evicted if necessary.
    Nothing is flushed to disk: an entry that a crash of the machine damaged is recognised and encoded again.
    """
    try:
        with contextlib.suppress(OSError):
            remove_abandoned(entry.parent)
            for other in entry.parent.glob(f"{entry.name.split('-')[0]}-*"):  # of the same sources in another state
                is_damaged = other == entry and find_damage(entry) is not None
                if other != entry or is_damaged:
                    with contextlib.suppress(OSError):  # another process may have removed it
                        remove(other, even_used=is_damaged)
        folder.rename(entry)
    except OSError:
        entry_corpus = find(entry)  # another process may have been faster
        if entry_corpus is None:
            return EncodedCorpus(folder, temporary=True)
        shutil.rmtree(folder, ignore_errors=True)
        return entry_corpus
    encoded = EncodedCorpus(entry, is_new=True)  # locked from here on
    make_room(entry.parent, size_limit(entry.parent))
    return encoded


def find_damage(entry: Path) -> FormatError | None:
    """Open and check a cached corpus; return its error, or None if it is intact."""
    try:
        EncodedCorpus(entry).close()
    except FormatError as error:
        return error
    return None
