"""word2vec's binary format: a header line, then each word, a space, and its components as float32.

word2vec.c ends every vector with a newline, gensim does not; both are read, and what is written is what
gensim writes. Numbers are little-endian. No word may hold a space or a newline, or be empty.
"""

import mmap
import re
import sys
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.word2vec import (
    check_policy,
    check_writable,
    checked,
    decode,
    encoded_words,
    find_header,
    opened,
    read_header,
    written_blocks,
)
from embeddings.neighbours import row_blocks
from embeddings.vectors import Vectors

REFUSED = re.compile("[ \n]")


def sniff(path: Path) -> bool:
    """Whether the file has a word2vec header; the text format has one too and is asked first."""
    with opened(path) as stream:
        return find_header(stream.read(64)) is not None


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
    header = read_header(path, least_row=4)
    if header.words == 0:
        return checked(path, [], np.empty((0, header.dim), dtype=np.float32))
    with opened(path) as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        words, starts, end = scan(path, data, header.words, header.dim * 4, header.end)
        rest = data[end:].lstrip(b"\r\n") if len(data) - end < 16 else b"too much"
        if rest:
            raise FormatError(f"{path}: {len(data) - end} bytes follow the last of {header.words} vectors")
        matrix = gather(data, np.array(starts), header.dim)
    names = decode(words, errors, f"{path}, word", 1)
    return checked(path, names, matrix)


def scan(path: Path, data: mmap.mmap, count: int, width: int, start: int) -> tuple[list[bytes], list[int], int]:
    """Every word, the byte where its vector starts, and the byte after the last vector."""
    words, starts, size = [], [], len(data)
    for number in range(1, count + 1):
        space = data.find(b" ", start)
        if space < 0 or space + 1 + width > size:
            raise FormatError(f"{path} is truncated: it ends within word {number} of {count}")
        words.append(data[start:space].lstrip(b"\n"))
        starts.append(space + 1)
        start = space + 1 + width
    return words, starts, start


def gather(data: mmap.mmap, starts: np.ndarray, dim: int) -> np.ndarray:
    """The vectors that start at the given bytes, copied into one matrix (words, dim)."""
    width = dim * 4
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, dtype=np.uint8), width)
    matrix = np.empty((len(starts), dim), dtype="<f4")
    for part in row_blocks(len(starts), width, itemsize=1):
        matrix[part] = windows[starts[part]].view("<f4")
    return matrix if sys.byteorder == "little" else matrix.astype(np.float32)
