"""word2vec's binary format: a header line, then each word, a space, and its components as little-endian float32.

word2vec.c writes a line break after every vector, gensim does not. Both variants are read; gensim's is written. A word
must not be empty or contain a space or a line break.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compression import open_decompressed, read_head
from embeddings.errors import FormatError
from embeddings.formats.build_vectors import RowBuffer
from embeddings.formats.word2vec_text import Header, find_header, read_header
from embeddings.vectors.file_format import Format, encode_words, row_chunks
from embeddings.vectors.vectors import Vectors

FORBIDDEN = re.compile("[ \n]")
BLOCK_BYTES = 1 << 18
SPACE = ord(" ")
MAX_WORD_BYTES = 1 << 16


def sniff(start: bytes) -> float:
    """0.5 for a word2vec header: the text format has the same header, and its sniffer examines more bytes."""
    return 0.5 if find_header(start) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors."""
    words = encode_words(vectors, forbidden=FORBIDDEN, format="word2vec-binary")
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (len(vectors), vectors.dim))
        for chunk in row_chunks(vectors, 8):
            rows = chunk.astype("<f4", copy=False)
            stream.write(b"".join(part for row in rows for part in (next(words), b" ", row.tobytes())))


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors; errors name the word by its number."""
    return read_rows(path, read_header(path, min_component_bytes=4)).to_vectors(errors, f"{path}, word", 1)


def read_rows(path: Path, header: Header) -> RowBuffer:
    """Read the words and vectors block by block; refuses truncated files and trailing bytes."""
    rows, width = RowBuffer(path, header.dim, header.words), header.dim * 4
    buffer, filled = bytearray(max(BLOCK_BYTES, 2 * (width + MAX_WORD_BYTES))), 0
    with open_decompressed(path) as stream, memoryview(buffer) as view:
        stream.read(header.end)
        while (missing := header.words - len(rows)) > 0:
            # a word and its vector fit in half of the buffer, so a full one without a word is broken
            size = stream.readinto(view[filled:])
            words, ends = find_words(buffer, filled + size, missing, width)
            if not words and not (size and filled + size < len(buffer)):
                raise FormatError(f"{path} is truncated: it ends within word {len(rows) + 1} of {header.words}")
            rows.add(words, gather_vectors(buffer, ends - width, header.dim))
            end = int(ends[-1]) if words else 0
            filled += size - end
            view[:filled] = view[end : end + filled]
        rest = (bytes(view[:filled]) + stream.read(BLOCK_BYTES)).lstrip(b"\r\n")
        if rest or stream.read(1):
            amount = f"{len(rest)} bytes" + " or more" * (len(rest) >= BLOCK_BYTES)
            raise FormatError(f"{path}: {amount} follow the last of {header.words} vectors")
    return rows


def find_words(data: bytes | bytearray, size: int, count: int, width: int) -> tuple[list[bytes], np.ndarray]:
    """At most `count` words with complete vectors in the first `size` bytes, and the end of each vector.

    One regular expression finds all of them; its second branch matches an incomplete rest, as an empty word. Each byte
    is visited at most twice: a word that does not fit is not tried with fewer bytes, because none of them is a space.
    """
    words = re.compile(rb"([^ ]*+) (?s:.{%d})|(?s:.+)" % width).findall(data, 0, size)
    ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + (1 + width))
    start = int(ends[-1]) - 1 - width if words else 0
    if words and not words[-1] and not (start + 1 + width <= size and data[start] == SPACE):
        count = min(count, len(words) - 1)
    del words[count:]
    if b"\n" in b"".join(words):  # word2vec.c ends each vector with one
        words = [word.lstrip(b"\n") for word in words]
    return words, ends[:count]


def gather_vectors(data: bytearray, starts: np.ndarray, dim: int) -> np.ndarray:
    """The vectors (starts, dim) that begin at the bytes `starts`."""
    vector = np.dtype((np.void, dim * 4))
    at_each_byte = np.ndarray(len(data) - vector.itemsize + 1, vector, data, strides=(1,))
    vectors: np.ndarray = at_each_byte[starts].view("<f4").reshape(-1, dim)
    return vectors


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the header and the first words."""
    header = read_header(path, min_component_bytes=4)
    data = read_head(path)[header.end :]
    words, _ = find_words(data, len(data), header.words, header.dim * 4)
    first_words = [word.decode("utf-8", "replace") for word in words]
    return {"words": header.words, "dim": header.dim, "first_words": first_words}


FORMAT = Format(
    summary="word2vec binary: a header line, then words and float32",
    extensions=(".bin",),
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
