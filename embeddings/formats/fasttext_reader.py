"""Reads the parts of a fastText file in order: header, dictionary, input matrix, output matrix."""

import io
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.corpora.reading.compressed_files import file_compression, open_decompressed
from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import MAX_HEADER_BYTES, QUANTISED, Header, read_header
from embeddings.formats.row_buffer import first_duplicate

ENTRY = struct.Struct("<qb")  # after a word and a NUL: count, and 0 for a word or 1 for a label
SHAPE = struct.Struct("<2q")
BLOCK_BYTES = 1 << 20
MAX_WORD_BYTES = 1 << 20
MAX_COMPRESSION = 100  # ratio of a compressed model, whose numbers hardly compress


@dataclass(frozen=True)
class Contents:
    """The content of a file: words and labels as bytes, the count of each word (words,), and both matrices."""

    header: Header
    words: list[bytes]
    labels: list[bytes]
    counts: np.ndarray
    input: np.ndarray
    output: np.ndarray


class PartReader:
    """Reads a plain or compressed file sequentially; the matrices of a plain file are memory-mapped."""

    def __init__(self, path: Path, stream: io.BufferedReader) -> None:
        self.path, self.stream = path, stream
        self.read_ahead = b""
        self.position = 0
        self.is_mapped = file_compression(path) is None
        size = path.stat().st_size
        self.max_size = size if self.is_mapped else size * MAX_COMPRESSION + BLOCK_BYTES

    def read(self, size: int) -> bytes:
        """The next `size` bytes; refuses a file that ends earlier."""
        while len(self.read_ahead) < size and (data := self.stream.read(size - len(self.read_ahead))):
            self.read_ahead += data
        if len(self.read_ahead) < size:
            raise FormatError(f"{self.path} is truncated: it ends after {self.position + len(self.read_ahead)} bytes")
        return self.consume(size)

    def consume(self, size: int) -> bytes:
        """Remove and return the first `size` of the bytes read ahead."""
        data, self.read_ahead = self.read_ahead[:size], self.read_ahead[size:]
        self.position += size
        return data

    def check_size(self, size: int, what: str) -> None:
        """Refuse a part that cannot fit in the rest of the file."""
        if size > self.max_size - self.position:
            raise FormatError(f"{self.path} is truncated or broken: {what} would take {size} bytes, beyond its end")

    def header(self) -> Header:
        """The header, checked."""
        self.read_ahead = self.stream.read(MAX_HEADER_BYTES)
        header = read_header(self.path, self.read_ahead)
        self.consume(header.size)
        return header

    def entries(self, number: int) -> tuple[list[bytes], list[int], list[int]]:
        """The words of the dictionary, their counts and kinds; refuses duplicates and words longer than 1 MiB."""
        self.check_size(number * (1 + ENTRY.size), f"{number} words")
        words, counts, kinds, seen = list[bytes](), list[int](), list[int](), set[bytes]()
        while len(words) < number:
            data = self.stream.read(BLOCK_BYTES)
            self.read_ahead += data
            self.check_size(len(self.read_ahead), f"{number} words")
            end = parse_entries(self.read_ahead, number, words, counts, kinds)
            self.consume(end)
            seen.update(words[len(seen) :])
            if len(seen) < len(words):
                raise FormatError(f"{self.path}: duplicate word {first_duplicate(words)}")
            if not end and (not data or len(self.read_ahead) > MAX_WORD_BYTES):
                why = "is truncated: it ends" if not data else "is broken: it has no end mark"
                raise FormatError(f"{self.path} {why} within word {len(words) + 1} of {number}")
        return words, counts, kinds

    def matrix(self, header: Header, what: str, rows: int) -> np.ndarray:
        """The next matrix, float32 (rows, dim), read-only; refuses other shapes and quantised matrices."""
        if header.version and self.read(1) != b"\0":
            raise FormatError(f"{self.path}: {QUANTISED}")
        shape = SHAPE.unpack(self.read(SHAPE.size))
        if shape != (rows, header.dim):
            raise FormatError(f"{self.path} is broken: its {what} matrix is {shape}, not {(rows, header.dim)}")
        self.check_size(rows * header.dim * 4, f"an {what} matrix of {shape}")
        if not rows:
            return np.empty(shape, np.float32)
        return self.map(*shape) if self.is_mapped else self.copy(*shape)

    def map(self, rows: int, dim: int) -> np.ndarray:
        """The next numbers as a memory map of the file."""
        matrix = np.memmap(self.path, "<f4", "r", offset=self.position, shape=(rows, dim))
        self.read_ahead = b""
        self.position += rows * dim * 4
        self.stream.seek(self.position)
        return matrix

    def copy(self, rows: int, dim: int) -> np.ndarray:
        """The next numbers of a compressed file, in memory that grows with the bytes read."""
        numbers, end = np.empty(0, "<f4"), 0
        while end < rows * dim:
            part = np.frombuffer(self.read(4 * min(BLOCK_BYTES, rows * dim - end)), "<f4")
            if end + len(part) > len(numbers):
                numbers.resize(min(rows * dim, max(end + len(part), 2 * len(numbers))), refcheck=False)
            numbers[end : end + len(part)] = part
            end += len(part)
        return numbers.reshape(rows, dim)

    def check_end(self) -> None:
        """Refuse trailing bytes."""
        if self.read_ahead or self.stream.read(1):
            raise FormatError(f"{self.path} is broken: bytes follow its last matrix")


def parse_entries(data: bytes, number: int, words: list[bytes], counts: list[int], kinds: list[int]) -> int:
    """Append the complete entries in `data`, up to `number` in total; returns the end of the last one."""
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


def read_contents(path: Path) -> Contents:
    """All of a fastText file, checked."""
    with open_decompressed(path) as stream:
        parts = PartReader(path, stream)
        header = parts.header()
        size = header.words
        words, counts, kinds = parts.entries(header.entries)
        if kinds != [0] * size + [1] * header.labels or min(counts, default=0) < 0:
            raise FormatError(f"{path} is broken: its entries must be {size} words, then labels, with counts")
        input_matrix = parts.matrix(header, "input", size + header.buckets)
        output_matrix = parts.matrix(header, "output", header.output_rows)
        parts.check_end()
    return Contents(header, words[:size], words[size:], np.array(counts[:size], np.int64), input_matrix, output_matrix)
