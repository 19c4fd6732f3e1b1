"""Reads the parts of a fastText file in order: header, dictionary, pruned buckets, input matrix, output matrix."""

import io
import re
import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from embeddings.corpora.reading.compressed_files import file_compression, open_decompressed
from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import MAX_HEADER_BYTES, QUANTISED, SUPERVISED, Header, read_header
from embeddings.formats.fasttext_quantised import read_bucket_rows, read_flag, read_quantised
from embeddings.kernels.matrix_rows import DenseRows, Rows

ENTRY = struct.Struct("<qb")  # after a word and a NUL: count and kind
WORD, LABEL = 0, 1  # kinds
ENTRY_PATTERN = re.compile(rb"([^\0]*+)\0.{9}", re.DOTALL)
SHAPE = struct.Struct("<2q")
BLOCK_BYTES = 1 << 20
MAX_WORD_BYTES = 1 << 20
MAX_COMPRESSION = 100  # ratio of a compressed model, whose numbers hardly compress


class Entries(NamedTuple):
    """A dictionary: words, then labels.

    text, starts: the bytes of all entries, uint8, and where each begins, int64 (entries + 1,).
    counts, kinds: int64 and int8 (entries,), how often each occurred, and 0 for a word or 1 for a label.
    slots: the hash table of all entries; see `Features`.
    """

    text: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    kinds: np.ndarray
    slots: np.ndarray

    def to_list(self, start: int = 0, stop: int | None = None) -> list[bytes]:
        """The entries from number `start` on, by default all."""
        starts = self.starts[start:][: None if stop is None else stop - start + 1].tolist()
        text = self.text[starts[0] : starts[-1]].tobytes()
        return [text[first - starts[0] : last - starts[0]] for first, last in pairwise(starts)]


@dataclass(frozen=True)
class Contents:
    """The content of a file.

    bucket_rows: int32 (buckets, 2), the buckets that pruning has left and the row of each; empty if none is pruned.
    inputs, outputs: the matrices; those of unsupervised models are dense.
    """

    header: Header
    entries: Entries
    bucket_rows: np.ndarray
    inputs: Rows
    outputs: Rows

    @cached_property
    def words(self) -> list[bytes]:
        """The words."""
        return self.entries.to_list(0, self.header.words)

    @property
    def counts(self) -> np.ndarray:
        """How often each word occurred, int64."""
        return self.entries.counts[: self.header.words]

    @property
    def label_counts(self) -> np.ndarray:
        """How often each label occurred, int64."""
        return self.entries.counts[self.header.words :]


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

    def entries(self, number: int) -> Entries:
        """The dictionary; refuses duplicates and words longer than 1 MiB."""
        self.check_size(number * (1 + ENTRY.size), f"{number} words")
        parts, found = [split_block(b"", 0)], 0
        while found < number:
            data = self.stream.read(BLOCK_BYTES)
            self.read_ahead += data
            self.check_size(len(self.read_ahead), f"{number} words")
            parts.append(split_block(self.read_ahead, number - found))
            self.index(parts[-1].text, parts[-1].lengths)  # so that a repetitive file is not read to its end
            found += len(parts[-1].counts)
            self.consume(parts[-1].size)
            if not parts[-1].size and (not data or len(self.read_ahead) > MAX_WORD_BYTES):
                why = "is truncated: it ends" if not data else "is broken: it has no end mark"
                raise FormatError(f"{self.path} {why} within word {found + 1} of {number}")
        return self.join_entries(parts)

    def join_entries(self, parts: "list[EntryBlock]") -> Entries:
        """All blocks of the dictionary, with its hash table."""
        text, lengths, counts, kinds = (np.concatenate(part) for part in list(zip(*parts, strict=True))[:4])
        starts, slots = self.index(text, lengths)
        return Entries(text, starts, counts, kinds, slots)

    def index(self, text: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where each entry begins, and the hash table of entries; refuses duplicates."""
        from embeddings.models.feature_index import index_entries

        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        slots, duplicate = index_entries(text, starts, str(self.path))
        if duplicate >= 0:
            word = text[starts[duplicate] : starts[duplicate + 1]].tobytes().decode("utf-8", "replace")
            raise FormatError(f"{self.path}: duplicate word {word!r}")
        return starts, slots

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
        is_pruned = header.pruned_size > 0 or (header.pruned_size == 0 and header.model == SUPERVISED)
        if is_pruned and not is_quantised:  # fastText refuses it too
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


class EntryBlock(NamedTuple):
    """Complete entries of the dictionary: text, lengths, counts and kinds, and their size in the file."""

    text: np.ndarray
    lengths: np.ndarray
    counts: np.ndarray
    kinds: np.ndarray
    size: int


def split_block(data: bytes, number: int) -> EntryBlock:
    """The complete entries at the start of `data`, at most `number`."""
    from embeddings.kernels.dictionary_entries import split_entries

    size = min(number, len(data) // (1 + ENTRY.size))
    text, lengths = np.empty(len(data), np.uint8), np.empty(size, np.int64)
    counts, kinds, ends = np.empty(size, np.int64), np.empty(size, np.int8), np.zeros(3, np.int64)
    split_entries(np.frombuffer(data, np.uint8), text, lengths, counts, kinds, ends)
    found, stop, length = ends.tolist()
    return EntryBlock(text[:length].copy(), lengths[:found], counts[:found], kinds[:found], stop)


def first_entries(data: bytes, number: int) -> list[bytes]:
    """The complete entries at the start of `data`, at most `number`; found without compiled code."""
    entries: list[bytes] = []
    end = 0
    while len(entries) < number and (match := ENTRY_PATTERN.match(data, end)):
        entries.append(match[1])
        end = match.end()
    return entries


def read_contents(path: Path) -> Contents:
    """All of a fastText file, checked."""
    with open_decompressed(path) as stream:
        parts = PartReader(path, stream)
        header = parts.header()
        entries = parts.entries(header.entries)
        expected = np.repeat([WORD, LABEL], [header.words, header.labels])
        if not np.array_equal(entries.kinds, expected) or entries.counts.min(initial=0) < 0:
            raise FormatError(f"{path} is broken: its entries must be {header.words} words, then labels, with counts")
        bucket_rows = read_bucket_rows(parts, header.buckets, header.pruned_size)
        inputs, outputs = parts.matrices(header)
        parts.check_end()
    return Contents(header, entries, bucket_rows, inputs, outputs)
