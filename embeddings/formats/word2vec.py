"""The header line of the two word2vec formats."""

import re
from dataclasses import dataclass
from pathlib import Path

from embeddings.corpora.reading.compressed_files import compressed, start_of
from embeddings.errors import FormatError
from embeddings.vectors.word_encoding import LARGEST_DIM, check_dim, is_number

HEADER_LIMIT = 64
HEADER = re.compile(rb"(?:\xef\xbb\xbf)?[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?\n")


@dataclass(frozen=True)
class Header:
    """The first line: how many words, how many components, and the byte where the rest begins."""

    words: int
    dim: int
    end: int


def find_header(start: bytes) -> Header | None:
    """The header in the first bytes of a file, if there is one; a byte order mark may stand before it."""
    match = HEADER.match(start[:HEADER_LIMIT])
    return Header(int(match[1]), int(match[2]), match.end()) if match else None


def read_header(path: Path, *, least_row: int, most: int = LARGEST_DIM) -> Header:
    """The header, checked against the size of a plain file before anything is allocated.

    Arguments:
        least_row: the fewest bytes a component may take; a word takes one more at least.
        most: components.

    Raises:
        FormatError: the file is empty, has no header, or is too short for what the header promises.
    """
    start = start_of(path, HEADER_LIMIT * 16)
    header = find_header(start)
    if header is None:
        raise FormatError(missing_header(path, start))
    if header.dim < 1:
        raise FormatError(f"{path}, line 1: the header says {header.dim} components; at least 1 is needed")
    size, needed = path.stat().st_size, header.words * (header.dim * least_row + 1)
    if compressed(path) is None and needed > size - header.end:
        raise FormatError(
            f"{path} is truncated, or its header is wrong: {header.words} words of {header.dim} components "
            f"take at least {needed} bytes, and {size - header.end} follow"
        )
    check_dim(header.dim, f"{path}, line 1", most)
    return header


def missing_header(path: Path, start: bytes) -> str:
    """One line on why the first bytes of a file are no header."""
    if not start:
        return f"{path} is empty"
    fields = start.split(b"\n", 1)[0].split()
    if len(fields) > 2 and all(map(is_number, fields[1:-1])):
        return f"{path}, line 1: no 'WORDS COMPONENTS' header, as in GloVe's text files; read it as glove"
    return f"{path}, line 1: not the 'WORDS COMPONENTS' header of a word2vec file"
