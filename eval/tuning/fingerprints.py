"""Fingerprints of what scores the trials of a search, so that a changed test set is noticed when it is resumed."""

import json
import os
from hashlib import sha256
from typing import Any

from embeddings.corpora.reading.sources import File, resolve_source
from embeddings.support.jsonable import to_jsonable

LENGTH = 32  # hexadecimal digits
CHUNK = 1 << 20  # bytes that are read at a time


def content_fingerprint(items: Any) -> str:
    """The fingerprint of items such as those of a test set; anything that `to_jsonable` accepts."""
    return sha256(json.dumps(to_jsonable(items)).encode()).hexdigest()[:LENGTH]


def files_fingerprint(source: str | os.PathLike[str]) -> str | None:
    """The fingerprint of the bytes of a file, a folder or a pattern; None if they cannot be read again.

    Raises:
        CorpusError: there is no such file, or it cannot be read.
    """
    digest = sha256()
    for file in resolve_source(source):
        if not isinstance(file, File) or not file.is_regular:
            return None
        with file.open_stream() as stream:
            content = sha256()
            while chunk := stream.read(CHUNK):
                content.update(chunk)
        digest.update(content.digest())
    return digest.hexdigest()[:LENGTH]
