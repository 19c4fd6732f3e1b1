"""word2vec's text format: a header line, then a line for each word with its components, separated by spaces.

The output is byte-identical to gensim's: the shortest digits that round-trip as float32. A word must not be empty or
contain ASCII white space, because most readers of the format split lines there. A trailing space on each line, as
word2vec.c writes it, and a last line without a line break are accepted.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compression import HEAD_SIZE, file_compression, read_head
from embeddings.errors import FormatError
from embeddings.formats.vector_lines import Layout, first_lines, read_lines, write_lines
from embeddings.vectors.file_format import (
    MAX_DIM,
    MAX_TEXT_DIM,
    WHITE_SPACE,
    Format,
    check_dim,
    is_number,
)
from embeddings.vectors.vectors import Vectors

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


def read_header(path: Path, *, min_component_bytes: int, max_dim: int = MAX_DIM) -> Header:
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
    check_dim(header.dim, f"{path}, line 1", max_dim)
    return header


def explain_missing_header(path: Path, start: bytes) -> str:
    """Why the first bytes of a file are not a header, in one line."""
    if not start:
        return f"{path} is empty"
    fields = start.split(b"\n", 1)[0].split()
    if len(fields) > 2 and all(map(is_number, fields[1:-1])):
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
        del fields[-1:]
    if len(fields) < header.dim and CONTROL_CHARACTER.search(start):
        return 0  # binary vectors, the first of which begins with a digit and a line feed
    return 0.9 if header.words == 0 or (fields and 2 * sum(map(is_number, fields)) >= len(fields)) else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors, of at most 2**16 components."""
    check_dim(vectors.dim, "the word2vec-text format", MAX_TEXT_DIM)
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (len(vectors), vectors.dim))
        write_lines(vectors, stream, forbidden=WHITE_SPACE, format="word2vec-text")


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors; errors name the line."""
    header = read_header(path, min_component_bytes=2, max_dim=MAX_TEXT_DIM)
    layout = Layout(header.dim, "the header says", words=header.words, skip=1)
    return read_lines(path, layout).to_vectors(errors, f"{path}, line", 2)


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the first lines."""
    header = read_header(path, min_component_bytes=2, max_dim=MAX_TEXT_DIM)
    first_words = [line.split(b" ", 1)[0].decode("utf-8", "replace") for line in first_lines(path)[1:]]
    return {"words": header.words, "dim": header.dim, "first_words": first_words}


FORMAT = Format(
    summary="word2vec text: a header line, then words and numbers",
    extensions=(".txt", ".vec"),
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
