"""Reads the parts of a fastText file in order: header, dictionary, pruned buckets, input matrix, output matrix."""

import io
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.corpora.reading.compressed_files import file_compression, open_decompressed
from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import MAX_HEADER_BYTES, QUANTISED, SUPERVISED, Header, read_header
from embeddings.formats.fasttext_quantised import read_bucket_rows, read_flag, read_quantised
from embeddings.formats.row_buffer import first_duplicate
from embeddings.kernels.matrix_rows import DenseRows, Rows

ENTRY = struct.Struct("<qb")  # after a word and a NUL: count, and 0 for a word or 1 for a label
SHAPE = struct.Struct("<2q")
BLOCK_BYTES = 1 << 20
MAX_WORD_BYTES = 1 << 20
MAX_COMPRESSION = 100  # ratio of a compressed model, whose numbers hardly compress


@dataclass(frozen=True)
class Contents:
    """The content of a file.

    words, labels: as bytes.
    counts, label_counts: int64, how often each occurred.
    bucket_rows: int32 (buckets, 2), the buckets that pruning has left and the row of each; empty if none is pruned.
    inputs, outputs: the matrices; those of unsupervised models are dense.
    """

    header: Header
    words: list[bytes]
    labels: list[bytes]
    counts: np.ndarray
    label_counts: np.ndarray
    bucket_rows: np.ndarray
    inputs: Rows
    outputs: Rows


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

    def matrix(self, header: Header, what: str, rows: int) -> DenseRows:
        """The next matrix after its flag, float32 (rows, dim), read-only; refuses other shapes."""
        shape = SHAPE.unpack(self.read(SHAPE.size))
        if shape != (rows, header.dim):
            raise FormatError(f"{self.path} is broken: its {what} matrix is {shape}, not {(rows, header.dim)}")
        self.check_size(rows * header.dim * 4, f"an {what} matrix of {shape}")
        if not rows:
            return DenseRows(np.empty(shape, np.float32))
        return DenseRows(self.map(*shape) if self.is_mapped else self.copy(*shape))

    def quantisation_flag(self, header: Header) -> bool:
        """Whether the next matrix is quantised, which only matrices of supervised models are."""
        is_quantised = bool(header.version) and read_flag(self)
        if is_quantised and header.model != SUPERVISED:
            raise FormatError(f"{self.path}: {QUANTISED}")
        return is_quantised

    def matrices(self, header: Header) -> tuple[Rows, Rows]:
        """The input and the output matrix; as in fastText, the output can be quantised only if the input is."""
        is_quantised = self.quantisation_flag(header)
        if header.pruned_size > 0 and not is_quantised:
            raise FormatError(f"{self.path} is broken: its buckets are pruned, but its input matrix is not quantised")
        inputs: Rows
        if is_quantised:
            inputs = read_quantised(self, "input", header.input_rows, header.dim)
        else:
            inputs = self.matrix(header, "input", header.words + header.buckets)
        if self.quantisation_flag(header) and is_quantised:
            return inputs, read_quantised(self, "output", header.output_rows, header.dim)
        return inputs, self.matrix(header, "output", header.output_rows)

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
        bucket_rows = read_bucket_rows(parts, header.buckets, header.pruned_size)
        inputs, outputs = parts.matrices(header)
        parts.check_end()
    all_counts = np.array(counts, np.int64)
    return Contents(
        header, words[:size], words[size:], all_counts[:size], all_counts[size:], bucket_rows, inputs, outputs
    )
