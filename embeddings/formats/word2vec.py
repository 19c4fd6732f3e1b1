"""What the two word2vec formats share: the header line, the words they can hold, checks of what is read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.neighbours import row_blocks
from embeddings.vectors import Vectors

HEADER_LIMIT = 64
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?\n")
POLICIES = ("strict", "replace", "ignore")


@dataclass(frozen=True)
class Header:
    """The first line: how many words, how many components, and the byte where the rest begins."""

    words: int
    dim: int
    end: int


def find_header(start: bytes) -> Header | None:
    """The header in the first bytes of a file, if there is one."""
    match = HEADER.match(start[:HEADER_LIMIT])
    return Header(int(match[1]), int(match[2]), match.end()) if match else None


def read_header(path: Path, *, least_row: int) -> Header:
    """The header, checked against the size of the file before anything is allocated.

    Arguments:
        least_row: the fewest bytes a component may take; a word takes one more at least.

    Raises:
        FormatError: the file is empty, has no header, or is too short for what the header promises.
    """
    with opened(path) as stream:
        start = stream.read(HEADER_LIMIT * 16)
        size = stream.seek(0, 2)
    header = find_header(start)
    if header is None:
        raise FormatError(missing_header(path, start))
    if header.dim < 1:
        raise FormatError(f"{path}, line 1: the header says {header.dim} components; at least 1 is needed")
    needed = header.words * (header.dim * least_row + 1)
    if needed > size - header.end:
        raise FormatError(
            f"{path} is truncated, or its header is wrong: {header.words} words of {header.dim} components "
            f"take at least {needed} bytes, and {size - header.end} follow"
        )
    return header


def opened(path: Path) -> BinaryIO:
    """The file, opened for reading bytes.

    Raises:
        FormatError: it is missing, a folder, or may not be read.
    """
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error


def missing_header(path: Path, start: bytes) -> str:
    """One line on why the first bytes of a file are no header."""
    if not start:
        return f"{path} is empty"
    fields = start.split(b"\n", 1)[0].split()
    if len(fields) > 2 and all(map(is_number, fields[1:-1])):
        return (
            f"{path}, line 1: no 'WORDS COMPONENTS' header, as in GloVe's text files; "
            "put such a line first (in gensim: load_word2vec_format(..., no_header=True))"
        )
    return f"{path}, line 1: not the 'WORDS COMPONENTS' header of a word2vec file"


def is_number(field: bytes) -> bool:
    """Whether a field is a decimal number, NaN and infinity included."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def encoded_words(vectors: Vectors, *, refused: re.Pattern[str], form: str) -> Iterator[bytes]:
    """The words in UTF-8.

    Raises:
        FormatError: a word is empty, holds a refused character, or is no valid Unicode; it is named.
    """
    for word in vectors.words:
        if not word or refused.search(word):
            why = "is empty" if not word else "holds white space"
            raise FormatError(f"the {form} format cannot hold the word {word!r}, which {why}")
        try:
            yield word.encode("utf-8")
        except UnicodeEncodeError:
            raise FormatError(f"the {form} format cannot hold the word {word!r}: not valid Unicode") from None


def check_policy(errors: str) -> None:
    """Refuse an unknown way with broken UTF-8.

    Raises:
        SettingError: it is not strict, replace or ignore.
    """
    if errors not in POLICIES:
        raise SettingError(f"errors must be one of {', '.join(POLICIES)}, not {errors!r}")


def decode(words: list[bytes], errors: str, place: str, first: int) -> list[str]:
    """Words read from a file; `place` and a number that starts at `first` say where each stands.

    Raises:
        FormatError: one is not UTF-8 and `errors` is strict.
    """
    found: list[str] = []
    try:
        found.extend(word.decode("utf-8", errors) for word in words)
    except UnicodeDecodeError:
        raise FormatError(
            f"{place} {first + len(found)}: the word {words[len(found)]!r} is not UTF-8 (word2vec.c cuts "
            "long words); errors='replace' or 'ignore' reads it"
        ) from None
    return found


def checked(path: Path, words: list[str], matrix: np.ndarray, counts: np.ndarray | None = None) -> Vectors:
    """Vectors of what was read.

    Raises:
        FormatError: a word stands twice, or a number is NaN or infinite; the word is named.
    """
    try:
        vectors = Vectors(words, matrix, counts=counts)
        vectors.check_finite()
    except SettingError as error:
        raise FormatError(f"{path}: {error}") from None
    return vectors


def check_writable(vectors: Vectors) -> None:
    """Refuse to write a NaN or an infinity.

    Raises:
        FormatError: naming the word.
    """
    try:
        vectors.check_finite()
    except SettingError as error:
        raise FormatError(f"nothing is written: {error}") from None


def written_blocks(vectors: Vectors, width: int) -> Iterator[np.ndarray]:
    """The matrix a block of rows at a time, `width` bytes to a component while it is written."""
    for part in row_blocks(*vectors.matrix.shape, itemsize=width):
        yield np.ascontiguousarray(vectors.matrix[part])
