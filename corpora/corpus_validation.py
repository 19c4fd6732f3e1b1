"""Checks the content of an encoded corpus: digests of its files, boundaries, ids and vocabulary."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import BLOCK
from embeddings.errors import FormatError
from embeddings.kernels.checksum import FileDigest

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

READ_SIZE = 1 << 20  # bytes read at a time


def file_digest(path: Path) -> str:
    """Return a digest of a file's content that detects damage; reads at the speed of memory."""
    digest = FileDigest()
    with path.open("rb") as stream:
        while data := stream.read(READ_SIZE):
            digest.add(data)
    return digest.hexdigest()


def check_content(encoded: "EncodedCorpus") -> None:
    """Raise FormatError if a file of an encoded corpus is damaged or does not fit the others."""
    try:
        problem = next(find_problems(encoded), None)
    except OSError as error:
        problem = f"it cannot be read: {error.strerror or error}"
    if problem is not None:
        raise FormatError(f"{encoded.folder} is damaged: {problem}")
    _ = encoded.tags, encoded.phrases, encoded.text_vectors  # reading them checks them


def find_problems(encoded: "EncodedCorpus") -> Iterator[str]:
    """Yield the problems of an encoded corpus; raises FormatError for a vocabulary that cannot be read."""
    meta = encoded.meta
    for name, digest in meta["digests"].items():
        if file_digest(encoded.folder / name) != digest:
            yield f"{name} does not match its digest"
    if not is_partition(encoded.sentences, len(encoded.ids)):
        yield "its sentence boundaries are not in order"
    if not is_partition(encoded.documents, meta["sentences"]):
        yield "its document boundaries are not in order"
    if encoded.tag_starts is not None and not is_partition(encoded.tag_starts, int(encoded.tag_starts[-1])):
        yield "the boundaries of its tags are not in order"
    if int(encoded.ids.view(np.uint32).max(initial=0)) > meta["types"]:  # a negative id is above all others
        yield f"an id is not in the vocabulary of {meta['types']} words"
    vocabulary = encoded.vocabulary
    if len(vocabulary) != meta["types"]:
        yield f"its vocabulary has {len(vocabulary)} words, expected {meta['types']}"
    counts = (vocabulary.tokens, vocabulary.total)
    if not meta["fixed_vocabulary"] and counts != (meta["known_tokens"], meta["tokens"]):  # else of another text
        yield "the counts of its vocabulary do not match its tokens"


def is_partition(borders: NDArray[np.int64], end: int) -> bool:
    """Whether boundaries (n + 1,) ascend from 0 to `end`."""
    parts = (borders[start : start + BLOCK + 1] for start in range(0, len(borders), BLOCK))
    return borders[0] == 0 and borders[-1] == end and all(bool((part[1:] >= part[:-1]).all()) for part in parts)
