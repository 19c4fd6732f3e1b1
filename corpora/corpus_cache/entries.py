"""Entries of the corpus cache, identified by their sources and settings."""

import contextlib
import json
import os
import shutil
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from embeddings.corpora.corpus_cache.eviction import make_room, remove, size_limit
from embeddings.corpora.corpus_cache.tempdir import PARTIAL, corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import FORMAT, META, EncodedCorpus, MissingCorpusError
from embeddings.corpora.reading.sources import RemoteFile, Source, file_statuses
from embeddings.errors import FormatError
from embeddings.support.files import fsync
from embeddings.support.logs import log

ABANDONED_AFTER = 24 * 3600  # seconds without a write after which a partial folder is removed


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
    if entry and folder.parent == cache and name() == initial:
        return store(folder, entry)
    return EncodedCorpus(folder, temporary=True)


def find(entry: Path) -> EncodedCorpus | None:
    """Return a cached corpus; None if it is missing, being removed or damaged, which is a warning."""
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
    """Move a complete corpus into the cache, and evict others if necessary; if that fails, return it as temporary."""
    try:
        fsync(folder)
        with contextlib.suppress(OSError):
            remove_stale(entry)
        folder.rename(entry)
    except OSError:
        entry_corpus = find(entry)  # another process may have been faster
        if entry_corpus is None:
            return EncodedCorpus(folder, temporary=True)
        shutil.rmtree(folder, ignore_errors=True)
        return entry_corpus
    encoded = EncodedCorpus(entry, is_new=True)  # locked from here on
    make_room(entry, size_limit(entry.parent))
    return encoded


def remove_stale(entry: Path) -> None:
    """Remove outdated entries of the same sources, a broken entry of this name, and abandoned partial folders."""
    identity = entry.name.split("-")[0]
    for name in os.listdir(entry.parent):
        other = entry.parent / name if name.endswith(PARTIAL) or name.startswith(f"{identity}-") else None
        if other is None:
            continue
        is_broken = other == entry and find_damage(entry) is not None
        if not name.endswith(PARTIAL) and (other != entry or is_broken):
            remove(other, even_used=is_broken)
        elif name.endswith(PARTIAL) and is_abandoned(other):
            shutil.rmtree(other, ignore_errors=True)


def find_damage(entry: Path) -> FormatError | None:
    """Return the error of opening a cached corpus, which checks all its content; None if there is none."""
    try:
        EncodedCorpus(entry).close()
    except FormatError as error:
        return error
    return None


def is_abandoned(folder: Path) -> bool:
    """Whether nothing has been written in the folder for a day."""
    times = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
    return time.time() - max(times) > ABANDONED_AFTER
