"""word2vec's binary format: a header line, then each word, a space, and its components as float32.

word2vec.c ends every vector with a newline, gensim does not; both are read, and what is written is what
gensim writes. Numbers are little-endian. No word may hold a space or a newline, or be empty.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compressed_files import compressed, plain, start_of
from embeddings.errors import FormatError
from embeddings.formats.row_reader import Rows
from embeddings.formats.word2vec import Header, find_header, read_header
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_policy, check_writable, encoded_words, written_blocks

SUMMARY = "word2vec binary: a header line, then words and float32"
ENDINGS = (".bin",)
REFUSED = re.compile("[ \n]")
BLOCK = 1 << 18
SPACE = ord(" ")
LONGEST_WORD = 1 << 16


def sniff(start: bytes) -> float:
    """Half sure of a word2vec header; the text format has one too and looks further."""
    return 0.5 if find_header(start) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, in their order.

    Raises:
        FormatError: a word is empty or holds a space or a newline, or a vector a NaN.
    """
    check_writable(vectors)
    words = encoded_words(vectors, refused=REFUSED, form="word2vec-binary")
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (len(vectors), vectors.dim))
        for block in written_blocks(vectors, 8):
            rows = block.astype("<f4", copy=False)
            stream.write(b"".join(part for row in rows for part in (next(words), b" ", row.tobytes())))


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file. `errors` says what becomes of words that are not UTF-8.

    Raises:
        FormatError: a missing, truncated or overlong file, a broken header or word, a word that stands
            twice, a NaN or an infinity.
    """
    check_policy(errors)
    return read_rows(path, read_header(path, least_row=4)).vectors(errors, f"{path}, word", 1)


def read_rows(path: Path, header: Header) -> Rows:
    """The words and their vectors, a block of the file at a time.

    Raises:
        FormatError: the file ends too soon or too late.
    """
    rows, width = Rows(path, header.dim, None if compressed(path) else header.words), header.dim * 4
    buffer, held = bytearray(max(BLOCK, 2 * (width + LONGEST_WORD))), 0
    with plain(path) as stream, memoryview(buffer) as view:
        stream.read(header.end)
        while (missing := header.words - rows.count) > 0:
            more = stream.readinto(view[held:])
            words, ends = scan(buffer, held + more, missing, width)
            if not words and not (more and held + more < len(buffer)):
                raise FormatError(f"{path} is truncated: it ends within word {rows.count + 1} of {header.words}")
            rows.add(words, gather(buffer, ends - width, header.dim))
            end = int(ends[-1]) if words else 0
            held += more - end
            view[:held] = view[end : end + held]
        rest = (bytes(view[:held]) + stream.read(BLOCK)).lstrip(b"\r\n")
        if rest or stream.read(1):
            told = f"{len(rest)} bytes or more" if len(rest) >= BLOCK else f"{len(rest)} bytes"
            raise FormatError(f"{path}: {told} follow the last of {header.words} vectors")
    return rows


def scan(data: bytes | bytearray, size: int, count: int, width: int) -> tuple[list[bytes], np.ndarray]:
    """The whole words of the first `size` bytes, at most `count`, and where the vector of each ends.

    An expression finds all of them at once; what is left over at the end matches its second branch, with no word.
    """
    words = re.compile(rb"(\n*[^ ]*) (?s:.{%d})|(?s:.+)" % width).findall(data, 0, size)
    ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + (1 + width))
    start = int(ends[-1]) - 1 - width if words else 0
    if words and not words[-1] and not (start + 1 + width <= size and data[start] == SPACE):
        count = min(count, len(words) - 1)
    del words[count:]
    if b"\n" in b"".join(words):  # word2vec.c ends each vector with one, gensim does not
        words = [word.lstrip(b"\n") for word in words]
    return words, ends[:count]


def gather(data: bytearray, starts: np.ndarray, dim: int) -> np.ndarray:
    """The vectors (starts, dim) that start at these bytes."""
    vector = np.dtype((np.void, dim * 4))
    at_each_byte = np.ndarray(len(data) - vector.itemsize + 1, vector, data, strides=(1,))
    vectors: np.ndarray = at_each_byte[starts].view("<f4").reshape(-1, dim)
    return vectors


def describe(path: Path) -> dict[str, Any]:
    """What the header and the first words say."""
    header, start = read_header(path, least_row=4), start_of(path)
    data = start[header.end :]
    words, _ = scan(data, len(data), header.words, header.dim * 4)
    return {
        "words": header.words,
        "dim": header.dim,
        "first_words": [word.decode("utf-8", "replace") for word in words],
    }
