"""The parts of a fastText file in order: header, dictionary, pruned buckets, input matrix, output matrix.

- signature: int32 magic number and version; absent before 2017
- arguments: 12 int32 and one float64
- dictionary: int32 entries, words and labels; int64 tokens
- pruning: int64 buckets left by pruning, -1 if not pruned; only in files with a signature

A matrix: one byte, whether norms are quantised too; int64 rows and dim; int32 number of codes; the codes; its
centroids; then, if norms are quantised, one code per row and their centroids. Centroids: int32 dim, parts, size of a
part and of the last part; then 256 float32 for each component.
"""

import io
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embeddings.corpora.reading.compression import file_compression, open_decompressed
from embeddings.errors import FormatError
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows
from embeddings.models.model import Model
from embeddings.models.subword_composer import composer
from embeddings.support.cosine import row_blocks
from embeddings.vectors.file_format import MAX_DIM, encode_words
from embeddings.vectors.subwords import MAX_NGRAM_LENGTH
from embeddings.vectors.vectors import Vectors

MAGIC, VERSION = 793712314, 12
SIGNATURE = struct.Struct("<2i")
ARGUMENTS = struct.Struct("<12id")
SIZES, PRUNED = struct.Struct("<3iq"), struct.Struct("<q")
MAX_HEADER_BYTES = SIGNATURE.size + ARGUMENTS.size + SIZES.size + PRUNED.size
CBOW, SKIPGRAM, SUPERVISED = 1, 2, 3
MODELS = {CBOW: "cbow", SKIPGRAM: "skipgram", SUPERVISED: "supervised"}
LOSSES = {1: "hierarchical softmax", 2: "negative sampling", 3: "softmax", 4: "one against all"}
NEGATIVE_SAMPLING = LOSSES[2]
QUANTISED = "has quantised matrices, so it can only classify texts; for vectors use the .bin file it was made from"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The fields in the order of the file, except for the version, with fastText's defaults."""

    dim: int
    window: int = 5
    epochs: int = 5
    min_count: int = 1
    negatives: int = 5
    word_ngrams: int = 1
    loss: int = 2
    model: int = SKIPGRAM
    buckets: int = 0
    min_n: int = 0
    max_n: int = 0
    learning_rate_updates: int = 100
    subsample: float = 1e-4
    entries: int
    words: int
    labels: int = 0
    tokens: int
    pruned_size: int = -1
    version: int = VERSION

    def pack(self) -> bytes:
        """Encode the header in the newest version."""
        # the fields are declared in the order of the file
        values = astuple(self)
        parts = (SIGNATURE, (MAGIC, VERSION)), (ARGUMENTS, values[:13]), (SIZES, values[13:17]), (PRUNED, values[17:18])
        return b"".join(layout.pack(*part) for layout, part in parts)

    @property
    def size(self) -> int:
        """Size of the header in its file, in bytes."""
        return MAX_HEADER_BYTES if self.version else ARGUMENTS.size + SIZES.size

    @property
    def output_rows(self) -> int:
        """Rows of the output matrix: one per label in a supervised model, else one per word."""
        return self.labels if self.model == SUPERVISED else self.words

    @property
    def input_rows(self) -> int:
        """Rows of the input matrix of a quantised file: one per word and bucket left by pruning."""
        return self.words + (self.buckets if self.pruned_size < 0 else self.pruned_size)

    @property
    def has_ngrams(self) -> bool:
        """Whether words have n-grams; supervised models before version 12 have none, whatever their arguments say."""
        # fastText itself reads these files so
        is_old_supervised = self.model == SUPERVISED and self.version < VERSION
        return self.max_n > 0 and self.min_n <= self.max_n and self.pruned_size != 0 and not is_old_supervised


def find_header(start: bytes) -> Header | None:
    """Parse the start of a file; without a magic number, `version` is 0, and implausible values give None."""
    has_magic = start[:4] == SIGNATURE.pack(MAGIC, 0)[:4]
    if len(start) < (MAX_HEADER_BYTES if has_magic else ARGUMENTS.size + SIZES.size):
        return None
    version = SIGNATURE.unpack_from(start)[1] if has_magic else 0
    offset = SIGNATURE.size if has_magic else 0
    values = ARGUMENTS.unpack_from(start, offset) + SIZES.unpack_from(start, offset + ARGUMENTS.size)
    pruned = PRUNED.unpack_from(start, offset + ARGUMENTS.size + SIZES.size)[0] if has_magic else -1
    names = [field.name for field in fields(Header)]
    header = Header(**dict(zip(names, (*values, pruned, version), strict=True)))
    return header if has_magic or is_plausible(header) else None


def is_plausible(header: Header) -> bool:
    """Whether the numbers are plausible for a fastText model."""
    is_known = header.model in MODELS and header.loss in LOSSES and 0 < header.dim <= MAX_DIM
    fits = header.words >= 0 and header.labels >= 0 and header.entries == header.words + header.labels
    return is_known and fits and header.tokens >= 0 and header.buckets >= 0 and 0 <= header.subsample <= 1


def read_header(path: Path, start: bytes) -> Header:
    """The header of a file, checked."""
    header = find_header(start)
    if header is None:
        raise FormatError(f"{path} is truncated or not a fastText model")
    if not 0 <= header.version <= VERSION:
        raise FormatError(f"{path} has fastText version {header.version}; versions up to {VERSION} are supported")
    can_have_ngrams = header.buckets and header.max_n <= MAX_NGRAM_LENGTH
    is_possible = is_plausible(header) and (can_have_ngrams or not header.has_ngrams)
    if not is_possible or not -1 <= header.pruned_size <= header.buckets:
        raise FormatError(f"{path} is broken: its header contains impossible numbers")
    return header


QUANTISED_SIZES = struct.Struct("<2qi")
PARTS = struct.Struct("<4i")
PRUNED_ENTRY = np.dtype("<i4")


def read_quantised(parts: "PartReader", what: str, rows: int, dim: int) -> QuantisedRows:
    """The next quantised matrix after its flag, (rows, dim); refuses other shapes, and NaN and infinity."""
    has_norms = read_flag(parts)
    sizes = QUANTISED_SIZES.unpack(parts.read(QUANTISED_SIZES.size))
    parts.expect(f"shape of the {what} matrix", sizes[:2], (rows, dim))
    codes = read_codes(parts, sizes[2], what)
    part_size, centroids = read_centroids(parts, dim)
    parts.expect(f"number of codes of the {what} matrix", len(codes), rows * -(-dim // part_size))
    norm_codes = read_codes(parts, rows if has_norms else 0, what)
    norms = read_centroids(parts, 1)[1] if has_norms else np.ones(CENTROIDS, np.float32)
    return QuantisedRows(codes.reshape(rows, -(-dim // part_size)), centroids, part_size, dim, norm_codes, norms)


def read_codes(parts: "PartReader", size: int, what: str) -> np.ndarray:
    """The next codes, uint8 (size,)."""
    parts.check_size(size, f"the codes of the {what} matrix")
    return np.frombuffer(parts.read(size), np.uint8)


def read_centroids(parts: "PartReader", dim: int) -> tuple[int, np.ndarray]:
    """The number of components of a part, and the next centroids, float32 (256 * dim,)."""
    header = PARTS.unpack(parts.read(PARTS.size))
    part_size = header[2]
    parts.expect("header of a quantised matrix", header, expected_parts(dim, min(max(part_size, 1), dim)))
    size = CENTROIDS * dim * 4
    parts.check_size(size, "the centroids of a matrix")
    centroids = np.frombuffer(parts.read(size), "<f4")
    parts.require(np.isfinite(centroids).all(), "is broken: its centroids contain NaN or infinity")
    return part_size, centroids


def expected_parts(dim: int, part_size: int) -> tuple[int, int, int, int]:
    """The header of centroids."""
    number = -(-dim // part_size)
    return dim, number, part_size, dim - (number - 1) * part_size


def read_flag(parts: "PartReader") -> bool:
    """The next byte, which must be 0 or 1."""
    flag = parts.read(1)[0]
    parts.expect("flag", flag, int(flag > 0))
    return flag == 1


ENTRY = struct.Struct("<qb")  # after a word and a NUL: count and kind
WORD, LABEL = 0, 1  # kinds
ENTRY_PATTERN = re.compile(rb"([^\0]*+)\0.{9}", re.DOTALL)
SHAPE = struct.Struct("<2q")
BLOCK_BYTES = 1 << 20
MAX_WORD_BYTES = 1 << 20
MAX_COMPRESSION = 100  # ratio of a compressed model, whose numbers hardly compress


@dataclass(frozen=True)
class Contents:
    """The content of a file; its dictionary has the words, then the labels.

    text, starts: the bytes of all entries, uint8, and where each begins, int64 (entries + 1,).
    entry_counts: int64 (entries,), how often each occurred.
    slots: the hash table of all entries; see `Features`.
    bucket_rows: int32 (buckets, 2), the buckets that pruning has left and the row of each; empty if none is pruned.
    inputs, outputs: the matrices; those of unsupervised models are dense.
    """

    header: Header
    text: np.ndarray
    starts: np.ndarray
    entry_counts: np.ndarray
    slots: np.ndarray
    bucket_rows: np.ndarray
    inputs: Rows
    outputs: Rows

    @cached_property
    def words(self) -> list[bytes]:
        """The words."""
        return self.entries(0, self.header.words)

    @property
    def counts(self) -> np.ndarray:
        """How often each word occurred, int64."""
        return self.entry_counts[: self.header.words]

    @property
    def label_counts(self) -> np.ndarray:
        """How often each label occurred, int64."""
        return self.entry_counts[self.header.words :]

    def entries(self, first: int, stop: int) -> list[bytes]:
        """The entries with these numbers."""
        text = self.text.tobytes()
        return [text[start:end] for start, end in pairwise(self.starts[first : stop + 1].tolist())]


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
        end = self.position + len(self.read_ahead)
        self.require(len(self.read_ahead) >= size, f"is truncated: it ends after {end} bytes")
        return self.consume(size)

    def require(self, is_met: Any, problem: str) -> None:
        """Refuse the file unless a requirement is met."""
        if not is_met:
            raise FormatError(f"{self.path} {problem}")

    def expect(self, name: str, value: Any, expected: Any) -> None:
        """Refuse a value that does not follow from the header."""
        self.require(value == expected, f"is broken: the {name} is {value}, not {expected}")

    def consume(self, size: int) -> bytes:
        """Remove and return the first `size` of the bytes read ahead."""
        data, self.read_ahead = self.read_ahead[:size], self.read_ahead[size:]
        self.position += size
        return data

    def check_size(self, size: int, what: str) -> None:
        """Refuse a part that cannot fit in the rest of the file."""
        fits = size <= self.max_size - self.position
        self.require(fits, f"is truncated or broken: {what} would take {size} bytes, beyond its end")

    def entries(self, number: int) -> tuple[np.ndarray, ...]:
        """The text, starts, counts, kinds and slots of the dictionary; refuses duplicates and words above 1 MiB.

        Kinds are int8 (entries,), 0 for a word or 1 for a label; see `Contents` for the others.
        """
        self.check_size(number * (1 + ENTRY.size), f"{number} words")
        parts, found = [split_block(b"", 0)[0]], 0
        while found < number:
            data = self.stream.read(BLOCK_BYTES)
            self.read_ahead += data
            self.check_size(len(self.read_ahead), f"{number} words")
            part, size = split_block(self.read_ahead, number - found)
            self.index(part[0], part[1])  # so that a repetitive file is not read to its end
            parts.append(part)
            found += len(part[1])
            self.consume(size)
            why = "is truncated: it ends" if not data else "is broken: it has no end mark"
            has_word = size or (data and len(self.read_ahead) <= MAX_WORD_BYTES)
            self.require(has_word, f"{why} within word {found + 1} of {number}")
        text, lengths, counts, kinds = map(np.concatenate, zip(*parts, strict=True))
        starts, slots = self.index(text, lengths)
        return text, starts, counts, kinds, slots

    def index(self, text: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where each entry begins, and the hash table of entries; refuses duplicates."""
        from embeddings.classifier.feature_extraction import index_entries

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
        self.expect(f"shape of the {what} matrix", shape, (rows, header.dim))
        self.check_size(rows * header.dim * 4, f"an {what} matrix of {shape}")
        if not rows:
            return DenseRows(np.empty(shape, np.float32))
        if self.is_mapped:
            # the stream has read ahead into the matrix, which is mapped from where its numbers begin
            matrix = np.memmap(self.path, "<f4", "r", offset=self.position, shape=shape)
            self.read_ahead = b""
            self.position += matrix.nbytes
            self.stream.seek(self.position)
            return DenseRows(matrix)
        numbers, end, size = np.empty(0, "<f4"), 0, rows * header.dim  # memory grows with the bytes read
        while end < size:
            part = np.frombuffer(self.read(4 * min(BLOCK_BYTES, size - end)), "<f4")
            if end + len(part) > len(numbers):
                numbers.resize(min(size, max(end + len(part), 2 * len(numbers))), refcheck=False)
            numbers[end : end + len(part)] = part
            end += len(part)
        return DenseRows(numbers.reshape(shape))

    def quantisation_flag(self, header: Header) -> bool:
        """Whether the next matrix is quantised, which only matrices of supervised models are."""
        is_quantised = bool(header.version) and read_flag(self)
        self.require(not is_quantised or header.model == SUPERVISED, QUANTISED)
        return is_quantised

    def matrices(self, header: Header) -> tuple[Rows, Rows]:
        """The input and the output matrix; as in fastText, the output can be quantised only if the input is."""
        is_quantised = self.quantisation_flag(header)
        is_pruned = header.pruned_size > 0 or (header.pruned_size == 0 and header.model == SUPERVISED)
        # fastText refuses it too
        problem = "is broken: its buckets are pruned, but its input matrix is not quantised"
        self.require(is_quantised or not is_pruned, problem)
        inputs: Rows
        if is_quantised:
            inputs = read_quantised(self, "input", header.input_rows, header.dim)
        else:
            inputs = self.matrix(header, "input", header.words + header.buckets)
        if self.quantisation_flag(header) and is_quantised:
            return inputs, read_quantised(self, "output", header.output_rows, header.dim)
        return inputs, self.matrix(header, "output", header.output_rows)


def split_block(data: bytes, number: int) -> tuple[tuple[np.ndarray, ...], int]:
    """The complete entries at the start of `data`, at most `number`, and their size in the file.

    Entries are arrays: the text of all, and the length, the count and the kind of each.
    """
    from embeddings.kernels.word_bytes import split_entries

    size = min(number, len(data) // (1 + ENTRY.size))
    text, lengths = np.empty(len(data), np.uint8), np.empty(size, np.int64)
    counts, kinds, ends = np.empty(size, np.int64), np.empty(size, np.int8), np.zeros(3, np.int64)
    split_entries(np.frombuffer(data, np.uint8), text, lengths, counts, kinds, ends)
    found, stop, length = ends.tolist()
    return (text[:length].copy(), lengths[:found], counts[:found], kinds[:found]), stop


def read_contents(path: Path) -> Contents:
    """All of a fastText file, checked."""
    with open_decompressed(path) as stream:
        parts = PartReader(path, stream)
        parts.read_ahead = stream.read(MAX_HEADER_BYTES)
        header = read_header(path, parts.read_ahead)
        parts.consume(header.size)
        text, starts, counts, kinds, slots = parts.entries(header.entries)
        expected = np.repeat([WORD, LABEL], [header.words, header.labels])
        is_sorted = np.array_equal(kinds, expected) and counts.min(initial=0) >= 0
        parts.require(is_sorted, f"is broken: its entries must be {header.words} words, then labels, with counts")
        bucket_rows = np.empty((0, 2), np.int32)
        if (left := header.pruned_size) > 0:
            parts.check_size(2 * left * PRUNED_ENTRY.itemsize, f"{left} buckets")
            bucket_rows = np.frombuffer(parts.read(2 * left * PRUNED_ENTRY.itemsize), PRUNED_ENTRY).reshape(left, 2)
            is_used = bucket_rows.max(axis=0) < (header.buckets, left)
            parts.require(bucket_rows.min() >= 0 and is_used.all(), "is broken: a bucket or its row is out of range")
        inputs, outputs = parts.matrices(header)
        parts.require(not parts.read_ahead and not stream.read(1), "is broken: bytes follow its last matrix")
    return Contents(header, text, starts, counts, slots, bucket_rows, inputs, outputs)


FORBIDDEN = re.compile("\0")
INT32_MAX = 2**31 - 1
NUMERIC_SETTINGS = ("window", "epochs", "min_count", "negatives", "learning_rate_updates")


def write_vectors(vectors: Vectors, path: Path) -> None:
    """Write vectors alone, as a model without n-grams whose output matrix is zero."""
    if vectors.compose is not None:
        raise FormatError("the fasttext format stores n-grams only in a whole model; use Model.export")
    tokens = len(vectors) if vectors.counts is None else int(vectors.counts.sum())
    header = Header(dim=vectors.dim, entries=len(vectors), words=len(vectors), tokens=tokens)
    write_file(path, header, vectors, [vectors.matrix], None)


def write_model(model: Model, path: Path) -> None:
    """Write a whole model: words, n-grams if it has any, and the output table if it has a row for each word."""
    vectors, shape = model.vectors, model.vectors.matrix.shape
    output = model.tables.get("output")
    loss = model.settings.get("objective", model.record.get("loss", NEGATIVE_SAMPLING))
    # fastText reads a row of the output for each word, and continues training with it
    if not has_shape(output, shape) or loss not in (NEGATIVE_SAMPLING, "negative-sampling"):
        output = None  # with other losses, rows do not belong to words
    inputs, subword_sizes = [vectors.matrix], {}
    if model.composer is not None:
        words, has_ngrams = model.tables.get("words"), "ngrams" in model.tables and not model.compact
        if words is None or not has_shape(words, shape) or not has_ngrams or model.settings.get("hashes", 1) != 1:
            needed = "tables of words and n-grams, n-grams with one row each (hashes=1), and no small model"
            raise FormatError(f"the fasttext format cannot store this {model.name} model: it requires {needed}")
        subwords = composer(model)
        subword_sizes = {"min_n": subwords.min_n, "max_n": subwords.max_n, "buckets": len(model.tables["ngrams"])}
        inputs = [words, model.tables["ngrams"]]
    header = Header(
        dim=vectors.dim,
        entries=len(vectors),
        words=len(vectors),
        tokens=model.vocabulary.total,
        **header_arguments(model.settings),
        model=CBOW if model.settings.get("architecture", model.name) == "cbow" else SKIPGRAM,
        **subword_sizes,
    )
    write_file(path, header, vectors, inputs, output)


def has_shape(table: np.ndarray | None, shape: tuple[int, ...]) -> bool:
    """Whether the table exists, is float32 and has this shape."""
    return table is not None and table.shape == shape and table.dtype == np.float32


def header_arguments(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the header can store."""
    numbers = ((name, settings.get(name)) for name in NUMERIC_SETTINGS)
    arguments: dict[str, Any] = {
        name: value for name, value in numbers if type(value) is int and 0 <= value <= INT32_MAX
    }
    subsample = settings.get("subsample")
    if isinstance(subsample, int | float) and 0 <= subsample <= 1:
        arguments["subsample"] = subsample
    return arguments


def write_file(
    path: Path, header: Header, vectors: Vectors, inputs: list[np.ndarray], output: np.ndarray | None
) -> None:
    """Write header, dictionary and both matrices in chunks; if counts are unknown, 1 is written."""
    check_size(header)
    counts = [1] * len(vectors) if vectors.counts is None else vectors.counts.tolist()
    words = encode_words(vectors, forbidden=FORBIDDEN, format="fasttext")
    if output is None:
        output = np.broadcast_to(np.float32(0), (len(vectors), header.dim))  # zeros that take no memory
    with path.open("wb") as stream:
        stream.write(header.pack())
        write_entries(stream, words, counts, WORD)
        write_matrix(stream, header.dim, inputs)
        write_matrix(stream, header.dim, [output])


def check_size(header: Header) -> None:
    """Refuse more rows than fastText can number."""
    if (rows := header.words + header.buckets) > INT32_MAX:
        raise FormatError(f"the fasttext format stores at most {INT32_MAX} words and buckets, got {rows}")


def write_entries(stream: BinaryIO, entries: Iterable[bytes], counts: Iterable[int], kind: int) -> None:
    """Write words or labels with their counts."""
    stream.writelines(
        b"%b\0%b" % (entry, ENTRY.pack(count, kind)) for entry, count in zip(entries, counts, strict=True)
    )


def write_matrix(stream: BinaryIO, dim: int, tables: list[np.ndarray]) -> None:
    """Stack tables and write them as one unquantised matrix; refuses NaN and infinity."""
    stream.write(b"\0" + SHAPE.pack(sum(map(len, tables)), dim))
    write_blocks(stream, (table[rows] for table in tables for rows in row_blocks(*table.shape)))


def write_blocks(stream: BinaryIO, blocks: Iterable[np.ndarray]) -> None:
    """Write blocks of rows; refuses NaN and infinity."""
    for block in blocks:
        if not np.isfinite(block).all():
            raise FormatError("nothing is written: a table of the model contains NaN or infinity")
        stream.write(np.ascontiguousarray(block, "<f4").data)
