"""Encoded corpora kept for the next run, found by what they were made of."""

import contextlib
import json
import shutil
import time
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from embeddings.corpora.corpus_cache.eviction import PARTIAL, limit, remove, shrink, touch
from embeddings.corpora.encoded_corpus import FORMAT, EncodedCorpus
from embeddings.corpora.reading.sources import File, Source
from embeddings.errors import FormatError
from embeddings.support.files import flush

ABANDONED = 24 * 3600  # seconds without a write after which a partial folder belongs to nobody


def identity(sources: Sequence[Source], settings: Mapping[str, Any]) -> str | None:
    """The name NAME-STATE for the sources as they are now; None if they could not be known again.

    NAME stands for the paths and settings, STATE for size and time of the files.
    """
    files = [source.path for source in sources if isinstance(source, File) and source.regular]
    if len(files) < len(sources):
        return None
    paths = [str(path.absolute()) for path in files if path]
    try:
        states = [path.stat() for path in files if path]
    except OSError:
        return None
    name = [FORMAT, unicodedata.unidata_version, dict(settings), paths]
    state = [[status.st_size, status.st_mtime_ns, status.st_ctime_ns] for status in states]
    return f"{digest(name)}-{digest(state)}"


def digest(value: Any) -> str:
    """A short name for a value."""
    return sha256(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def find(entry: Path) -> EncodedCorpus | None:
    """The corpus in this folder of the cache, if it is there and whole."""
    try:
        found = EncodedCorpus(entry)
    except FormatError:
        return None
    touch(entry)
    return found


def keep(scratch: Path, entry: Path) -> EncodedCorpus:
    """Move a finished corpus to its place in the cache; where that fails, it lasts as long as this run.

    Others make room for it, if there is a need, but never those in use.
    """
    try:
        flush(scratch)
        with contextlib.suppress(OSError):
            remove_stale(entry)
        scratch.rename(entry)
    except OSError:
        found = find(entry)  # another run may have been quicker
        if found is None:
            return EncodedCorpus(scratch, temporary=True)
        shutil.rmtree(scratch, ignore_errors=True)
        return found
    kept = EncodedCorpus(entry)  # in use from now on
    shrink(entry.parent, limit(entry.parent))
    return kept


def remove_stale(entry: Path) -> None:
    """Remove older states of the same sources beside `entry`, a broken one in its place, and scraps."""
    name = entry.name.split("-")[0]
    for other in entry.parent.iterdir():
        older = other.name.startswith(f"{name}-") and other != entry
        broken = other == entry and find(entry) is None
        if older or broken:
            remove(other, even_used=broken)  # a broken one serves nobody
        elif other.name.endswith(PARTIAL) and abandoned(other):
            shutil.rmtree(other, ignore_errors=True)


def abandoned(folder: Path) -> bool:
    """Whether nothing was written in the folder for a day."""
    times = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
    return time.time() - max(times) > ABANDONED
