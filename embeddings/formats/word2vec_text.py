"""word2vec's text format: a header line, then a line for each word with its components, separated by spaces.

The output is byte-identical to gensim's: the shortest digits that round-trip as float32. A word must not be empty or
contain ASCII white space, because most readers of the format split lines there. A trailing space on each line, as
word2vec.c writes it, and a last line without a line break are accepted.

Arrow's CSV reader parses well-formed files, also those of GloVe; a slow reader handles the others and locates the
broken line. Whole lines are copied to memory that Arrow owns: its threads may outlive an error, and so the open file,
and must not hold Python bytes, because releasing those at interpreter shutdown aborts the process (Arrow's issue
GH-34314).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embeddings.corpora.reading.compression import HEAD_SIZE, file_compression, open_decompressed, read_head
from embeddings.errors import FormatError
from embeddings.formats.build_vectors import RowBuffer
from embeddings.support.arrow import pa, pc, string_scalar, to_arrow, to_numpy, to_string_array
from embeddings.vectors import file_format
from embeddings.vectors.vectors import Vectors

BLOCK_BYTES = 1 << 22
BOM = b"\xef\xbb\xbf"
MAX_EMPTY_LINES = 10_000  # at the end of a file; a gigabyte of them compresses to a megabyte of gzip


class LongLineError(ValueError):
    """A line is longer than the limit."""


def read_columns(stream: BinaryIO, types: list[Any], *, max_line: int) -> Iterator[Any]:
    """Record batches of a few MB with columns of the given types between spaces, without quoting or nulls.

    Raises:
        pyarrow.ArrowException: a line has the wrong number of fields, or a field does not parse.
        LongLineError: a line has more than about `max_line` bytes.
    """
    names = [str(column) for column in range(len(types))]
    parse = pa.csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False, ignore_empty_lines=False)
    convert = pa.csv.ConvertOptions(column_types=dict(zip(names, types, strict=True)), null_values=[], check_utf8=False)
    for lines in read_whole_lines(stream, max_line):
        lines = BOM + lines if lines.startswith(BOM) else lines  # Arrow drops a BOM, but it belongs to the first field
        read = pa.csv.ReadOptions(column_names=names, block_size=max(1 << 20, min(2 * max_line, len(lines))))
        yield from pa.csv.read_csv(pa.BufferReader(arrow_buffer(lines)), read, parse, convert).to_batches()


def arrow_buffer(data: bytes) -> Any:
    """A copy of the bytes that Arrow owns."""
    stream = pa.BufferOutputStream()
    stream.write(data)
    return stream.getvalue()


def read_whole_lines(stream: BinaryIO, max_line: int) -> Iterator[bytes]:
    """The bytes of a stream in blocks that end at a line break."""
    rest: list[bytes] = []
    while block := stream.read(BLOCK_BYTES):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, block[:end]])
            rest = []
        rest.append(block[end:])
        if sum(map(len, rest)) > max_line + BLOCK_BYTES:
            raise LongLineError(f"a line is longer than {max_line} bytes")
    if any(rest):
        yield b"".join(rest)


@dataclass(frozen=True)
class Layout:
    """The layout of a file, known before its lines are read.

    Arguments:
        dim: components per line.
        dim_source: where `dim` comes from, as the start of a sentence in messages, such as "the header says".
        words: the number of lines; None if unknown.
        skip: lines before the first vector.
        allow_spaces: a word may contain spaces; its components are then the last fields of the line.
    """

    dim: int
    dim_source: str
    words: int | None = None
    skip: int = 0
    allow_spaces: bool = False

    @property
    def max_line(self) -> int:
        """Maximum length of a line, in bytes."""
        return self.dim * 64 + HEAD_SIZE


def write_lines(vectors: Vectors, stream: BinaryIO, *, forbidden: re.Pattern[str], format: str) -> None:
    """Write all vectors with the shortest digits that round-trip as float32, as numpy and gensim write them."""
    words = file_format.encode_words(vectors, forbidden=forbidden, format=format)
    for chunk in file_format.row_chunks(vectors, 64):
        stream.write(b"".join(b"%b %b\n" % (next(words), row) for row in format_rows(chunk)))


def format_rows(matrix: np.ndarray) -> list[bytes]:
    """Each row as text, its numbers joined by spaces, each as numpy (and so gensim) writes a float32.

    Arrow finds the same digits faster, but formats integers, very small and very large numbers differently; numpy
    formats those values.
    """
    values, sizes = matrix.ravel(), np.abs(matrix.ravel())
    # the negation also selects NaN, for which every comparison is false
    differs = ~((sizes > 1e-3) & (sizes < 1e5) & (values != np.trunc(values)))
    texts = to_arrow(values).cast(pa.string())
    if differs.any():
        replacements = to_string_array([str(value) for value in values[differs]]).cast(pa.string())
        texts = pc.replace_with_mask(texts, to_arrow(differs), replacements)
    offsets = np.arange(0, matrix.size + 1, matrix.shape[1], dtype=np.int64)
    fields = pa.LargeListArray.from_arrays(to_arrow(offsets), texts.cast(pa.large_string()))
    rows: list[bytes] = pc.binary_join(fields, string_scalar(" ")).cast(pa.large_binary()).to_pylist()
    return rows


def read_lines(path: Path, layout: Layout) -> RowBuffer:
    """The words and their vectors; errors name the line."""
    rows = read_fast(path, layout)
    return read_slowly(path, layout) if rows is None else rows


def read_fast(path: Path, layout: Layout) -> RowBuffer | None:
    """Read all lines with Arrow's CSV reader; None if a line is not well-formed."""
    rows = RowBuffer(path, layout.dim, layout.words)
    with open_decompressed(path) as stream:
        first = b"".join(stream.readline(layout.max_line) for _ in range(layout.skip + 1))
    # not strings: words that are not UTF-8 are decoded later, with the error handler of the caller
    types = [pa.binary()] + [pa.float32()] * layout.dim
    types += [pa.binary()] * first.endswith((b" \n", b" \r\n"))  # an empty last column
    try:
        with open_decompressed(path) as stream:
            for _ in range(layout.skip):
                stream.readline(layout.max_line)
            for batch in read_columns(stream, types, max_line=layout.max_line):
                if layout.words is not None and len(rows) + batch.num_rows > layout.words:
                    return None
                numbers = np.stack([to_numpy(column) for column in batch.columns[1 : layout.dim + 1]], axis=1)
                rows.add(batch.column(0).to_pylist(), numbers)
                if batch.num_columns > layout.dim + 1 and any(batch.column(layout.dim + 1).to_pylist()):
                    return None
    except (pa.ArrowException, ValueError):
        return None
    return rows if layout.words in (None, len(rows)) else None


def read_slowly(path: Path, layout: Layout) -> RowBuffer:
    """Read lines one by one, to locate a broken line."""
    rows, n_empty = RowBuffer(path, layout.dim, layout.words), 0
    for number, line in number_lines(path, layout):
        place = f"{path}, line {number}"
        is_end = layout.words in (None, len(rows))
        n_empty += is_end and not line.strip()
        if n_empty > MAX_EMPTY_LINES or (line.strip() and (n_empty or len(rows) == layout.words)):
            end = "an empty line" if layout.words is None else f"the {layout.words} words of the header"
            problem = "a word follows" if line.strip() else f"more than {MAX_EMPTY_LINES} empty lines follow"
            raise FormatError(f"{place}: {problem} {end}")
        if n_empty:
            continue
        word, fields = split_line(line, layout)
        with np.errstate(over="ignore"):  # overflow becomes infinity, which a later check refuses, naming the word
            rows.add([word], np.array([parse_components(fields, layout, place)], np.float32))
    if layout.words is not None and len(rows) < layout.words:
        raise FormatError(f"{path} is truncated: it has {len(rows)} of the {layout.words} words of its header")
    return rows


def number_lines(path: Path, layout: Layout) -> Iterator[tuple[int, bytes]]:
    """The lines of vectors with their line numbers."""
    with open_decompressed(path) as stream:
        number = 0
        while line := stream.readline(layout.max_line):
            number += 1
            if len(line) == layout.max_line:
                raise FormatError(f"{path}, line {number}: too long for {layout.dim} components")
            if number > layout.skip:
                yield number, line


def first_lines(path: Path) -> list[bytes]:
    """The whole lines in the first bytes of a file, without empty ones."""
    start = read_head(path)
    *lines, last = start.split(b"\n")
    if len(start) < HEAD_SIZE:
        lines.append(last)  # the file ends here
    return [line for line in lines if line.strip()]


def split_line(line: bytes, layout: Layout) -> tuple[bytes, list[bytes]]:
    """The word of a line, and the fields of its components."""
    word, *fields = line.rstrip().split(b" ")
    extra = len(fields) - layout.dim
    if not layout.allow_spaces or extra <= 0:
        return word, fields
    return b" ".join([word, *fields[:extra]]), fields[extra:]


def parse_components(fields: list[bytes], layout: Layout, place: str) -> list[float]:
    """The numbers of one line."""
    if len(fields) != layout.dim:
        raise FormatError(f"{place}: {len(fields)} components, but {layout.dim_source} {layout.dim}")
    invalid = next((field for field in fields if not file_format.is_number(field)), None)
    if invalid is not None:
        raise FormatError(f"{place}: {invalid.decode('utf-8', 'replace')!r:.80} is not a number")
    return [float(field) for field in fields]


CONTROL_CHARACTER = re.compile(rb"[\x00-\x08\x0e-\x1f]")
HEADER_LIMIT = 64
HEADER = re.compile(rb"(?:\xef\xbb\xbf)?[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?\n")


@dataclass(frozen=True)
class Header:
    """The numbers of the first line, and the offset of the first byte after it."""

    words: int
    dim: int
    end: int


def find_header(start: bytes) -> Header | None:
    """The header in the first bytes of a file, if there is one; a byte order mark may precede it."""
    match = HEADER.match(start[:HEADER_LIMIT])
    return Header(int(match[1]), int(match[2]), match.end()) if match else None


def read_header(path: Path, *, min_component_bytes: int, max_dim: int = file_format.MAX_DIM) -> Header:
    """The header, checked against the size of an uncompressed file before memory is allocated."""
    start = read_head(path, HEADER_LIMIT * 16)
    header = find_header(start)
    if header is None:
        raise FormatError(explain_missing_header(path, start))
    if header.dim < 1:
        raise FormatError(f"{path}, line 1: the number of components must be at least 1, got {header.dim}")
    available = path.stat().st_size - header.end
    required = header.words * (header.dim * min_component_bytes + 1)
    if file_compression(path) is None and required > available:
        raise FormatError(
            f"{path} is truncated, or its header is wrong: {header.words} words of {header.dim} components "
            f"take at least {required} bytes, but {available} follow"
        )
    file_format.check_dim(header.dim, f"{path}, line 1", max_dim)
    return header


def explain_missing_header(path: Path, start: bytes) -> str:
    """Why the first bytes of a file are not a header, in one line."""
    if not start:
        return f"{path} is empty"
    fields = start.split(b"\n", 1)[0].split()
    if len(fields) > 2 and all(map(file_format.is_number, fields[1:-1])):
        return f"{path}, line 1: no 'WORDS COMPONENTS' header; if it is a GloVe file, read it with the format glove"
    return f"{path}, line 1: not the 'WORDS COMPONENTS' header of a word2vec file"


def sniff(start: bytes) -> float:
    """0.9 if a header is followed by a word and fields, at least half of them decimal numbers; else 0."""
    header = find_header(start)
    if header is None:
        return 0
    line, line_break, _ = start[header.end :].partition(b"\n")
    fields = line.split()[1:]
    if not line_break and len(start) == HEAD_SIZE:
        # the head of the file may end inside a number
        del fields[-1:]
    if len(fields) < header.dim and CONTROL_CHARACTER.search(start):
        return 0  # binary vectors, the first of which begins with a digit and a line feed
    return 0.9 if header.words == 0 or (fields and 2 * sum(map(file_format.is_number, fields)) >= len(fields)) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, of at most 2**16 components."""
    file_format.check_dim(vectors.dim, "the word2vec-text format", file_format.MAX_TEXT_DIM)
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (len(vectors), vectors.dim))
        write_lines(vectors, stream, forbidden=file_format.WHITE_SPACE, format="word2vec-text")


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors; errors name the line."""
    header = read_header(path, min_component_bytes=2, max_dim=file_format.MAX_TEXT_DIM)
    layout = Layout(header.dim, "the header says", words=header.words, skip=1)
    return read_lines(path, layout).to_vectors(errors, f"{path}, line", 2)


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the first lines."""
    header = read_header(path, min_component_bytes=2, max_dim=file_format.MAX_TEXT_DIM)
    first_words = [line.split(b" ", 1)[0].decode("utf-8", "replace") for line in first_lines(path)[1:]]
    return {"words": header.words, "dim": header.dim, "first_words": first_words}


FORMAT = file_format.Format(
    summary="word2vec text: a header line, then words and numbers",
    extensions=(".txt", ".vec"),
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
