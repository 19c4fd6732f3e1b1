"""The parts of a fastText file in their order: header, words, input matrix, output matrix."""

import io
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.corpora.reading.compressed_files import compressed, plain
from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import LONGEST, QUANTISED, Header, read_header

ENTRY = struct.Struct("<qb")  # after a word and its NUL: count, and 0 for a word or 1 for a label
SHAPE = struct.Struct("<2q")
BLOCK = 1 << 20
LONGEST_WORD = 1 << 20
COMPRESSION = 100  # times smaller than its content a compressed model may be: most of it is noise


@dataclass(frozen=True)
class Contents:
    """All of a file: its words, as bytes, and labels; how often each word occurs, (words,); rows of both matrices."""

    header: Header
    words: list[bytes]
    labels: list[bytes]
    counts: np.ndarray
    input: np.ndarray
    output: np.ndarray


class Parts:
    """A file read from its start on, plain or compressed; a plain one's matrices are mapped, not read."""

    def __init__(self, path: Path, stream: io.BufferedReader) -> None:
        self.path, self.stream = path, stream
        self.ahead = b""  # read and not yet used
        self.at = 0
        self.mapped = compressed(path) is None
        size = path.stat().st_size
        self.most = size if self.mapped else size * COMPRESSION + BLOCK

    def take(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            FormatError: the file ends before.
        """
        while len(self.ahead) < size and (more := self.stream.read(size - len(self.ahead))):
            self.ahead += more
        if len(self.ahead) < size:
            raise FormatError(f"{self.path} is truncated: it ends after {self.at + len(self.ahead)} bytes")
        return self.use(size)

    def use(self, size: int) -> bytes:
        """The next bytes of those read ahead."""
        data, self.ahead = self.ahead[:size], self.ahead[size:]
        self.at += size
        return data

    def promise(self, size: int, what: str) -> None:
        """Refuse a part that is larger than the file can hold.

        Raises:
            FormatError: saying what was promised.
        """
        if size > self.most - self.at:
            raise FormatError(f"{self.path} is truncated or broken: {what} would take {size} bytes, beyond its end")

    def header(self) -> Header:
        """The header; FormatError if it is broken."""
        self.ahead = self.stream.read(LONGEST)
        header = read_header(self.path, self.ahead)
        self.use(header.size)
        return header

    def entries(self, number: int) -> tuple[list[bytes], list[int], list[int]]:
        """The entries of the dictionary: words, their counts, and what each is.

        Raises:
            FormatError: the file ends before, or an entry stands twice or is longer than 1 MiB.
        """
        self.promise(number * (1 + ENTRY.size), f"{number} words")
        words, counts, kinds, seen = list[bytes](), list[int](), list[int](), set[bytes]()
        while len(words) < number:
            more = self.stream.read(BLOCK)
            self.ahead += more
            self.promise(len(self.ahead), f"{number} words")
            end = scan(self.ahead, number, words, counts, kinds)
            self.use(end)
            seen.update(words[len(seen) :])
            if len(seen) < len(words):
                raise FormatError(f"{self.path}: the word {twice(words)} stands twice")
            if not end and (not more or len(self.ahead) > LONGEST_WORD):
                why = "is truncated: it ends" if not more else "is broken: there is no end"
                raise FormatError(f"{self.path} {why} within word {len(words) + 1} of {number}")
        return words, counts, kinds

    def matrix(self, header: Header, what: str, expected: int) -> np.ndarray:
        """The next matrix, float32 (rows, dim), read-only.

        Raises:
            FormatError: it is quantised, has another shape than expected, or the file ends before it does.
        """
        if header.version and self.take(1) != b"\0":
            raise FormatError(f"{self.path}: {QUANTISED}")
        shape = SHAPE.unpack(self.take(SHAPE.size))
        if shape != (expected, header.dim):
            raise FormatError(f"{self.path} is broken: its {what} matrix is {shape}, not {(expected, header.dim)}")
        self.promise(expected * header.dim * 4, f"an {what} matrix of {shape}")
        if not expected:
            return np.empty(shape, np.float32)
        return self.map(*shape) if self.mapped else self.copy(*shape)

    def map(self, rows: int, dim: int) -> np.ndarray:
        """The next numbers as a view of the file."""
        found = np.memmap(self.path, "<f4", "r", offset=self.at, shape=(rows, dim))
        self.ahead = b""
        self.at += rows * dim * 4
        self.stream.seek(self.at)
        return found

    def copy(self, rows: int, dim: int) -> np.ndarray:
        """The next numbers of a compressed file, in memory that follows what was read."""
        found, end = np.empty(0, "<f4"), 0
        while end < rows * dim:
            part = np.frombuffer(self.take(4 * min(BLOCK, rows * dim - end)), "<f4")
            if end + len(part) > len(found):
                found.resize(min(rows * dim, max(end + len(part), 2 * len(found))), refcheck=False)
            found[end : end + len(part)] = part
            end += len(part)
        return found.reshape(rows, dim)

    def end(self) -> None:
        """Refuse what follows."""
        if self.ahead or self.stream.read(1):
            raise FormatError(f"{self.path} is broken: more follows its last matrix")


def scan(data: bytes, number: int, words: list[bytes], counts: list[int], kinds: list[int]) -> int:
    """Add the whole entries of some bytes, up to `number` in all; where the last ends."""
    start, last = 0, len(data) - 1 - ENTRY.size
    while len(words) < number:
        nul = data.find(b"\0", start)
        if not 0 <= nul <= last:
            break
        count, kind = ENTRY.unpack_from(data, nul + 1)
        words.append(data[start:nul])
        counts.append(count)
        kinds.append(kind)
        start = nul + 1 + ENTRY.size
    return start


def twice(words: list[bytes]) -> str:
    """A word that stands twice, for a message."""
    return repr(Counter(words).most_common(1)[0][0].decode("utf-8", "replace"))


def read_contents(path: Path) -> Contents:
    """All of a fastText file.

    Raises:
        FormatError: it is missing, truncated, overlong, quantised, or broken.
    """
    with plain(path) as stream:
        parts = Parts(path, stream)
        header = parts.header()
        size = header.words
        words, counts, kinds = parts.entries(header.entries)
        if kinds != [0] * size + [1] * header.labels or min(counts, default=0) < 0:
            raise FormatError(f"{path} is broken: its entries are not {size} words and then labels, with counts")
        rows = size + header.buckets
        read = parts.matrix(header, "input", rows), parts.matrix(header, "output", header.outputs)
        parts.end()
    return Contents(header, words[:size], words[size:], np.array(counts[:size], np.int64), *read)
