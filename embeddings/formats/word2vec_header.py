"""The header line of the two word2vec formats."""

import re
from dataclasses import dataclass
from pathlib import Path

from embeddings.corpora.reading.compressed_files import file_compression, read_head
from embeddings.errors import FormatError
from embeddings.vectors.file_validation import MAX_DIM, check_dim, is_number

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
