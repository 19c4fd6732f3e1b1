"""What several formats share: the words they can hold, checks of what is read and written."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.support.cosine import row_blocks
from embeddings.support.word_list import Words
from embeddings.vectors.vectors import Vectors

POLICIES = ("strict", "replace", "ignore")
WHITE_SPACE = re.compile(r"[ \t\n\v\f\r]")
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
LARGEST_DIM = 1 << 20  # a row of 4 MiB; what binds where no file size does
WIDEST_LINE = 1 << 16  # components of a line of text, each of which is a column while it is read
LONGEST_WORD = 1 << 15  # bytes; files of vectors are told by their first lines, which must hold a word and more


def is_number(field: bytes) -> bool:
    """Whether a field is a decimal number, NaN and infinity included."""
    return NUMBER.fullmatch(field) is not None


def encoded_words(vectors: Vectors, *, refused: re.Pattern[str], form: str) -> Iterator[bytes]:
    """The words in UTF-8.

    Raises:
        FormatError: a word is empty, holds a refused character, is longer than 32 KiB, or is no valid Unicode; it is
            named.
    """
    for word in vectors.words:
        if not word or refused.search(word):
            why = "is empty" if not word else "holds white space"
            raise FormatError(f"the {form} format cannot hold the word {word!r:.80}, which {why}")
        try:
            encoded = word.encode("utf-8")
        except UnicodeEncodeError:
            raise FormatError(f"the {form} format cannot hold the word {word!r:.80}: not valid Unicode") from None
        if len(encoded) > LONGEST_WORD:
            raise FormatError(f"a word of {len(encoded)} bytes, {word!r:.80}..., is longer than {LONGEST_WORD}")
        yield encoded


def check_policy(errors: str) -> None:
    """Refuse an unknown way with broken UTF-8.

    Raises:
        SettingError: it is not strict, replace or ignore.
    """
    if errors not in POLICIES:
        raise SettingError(f"errors must be one of {', '.join(POLICIES)}, not {errors!r}")


def decode(words: Sequence[bytes], errors: str, place: str, first: int) -> list[str]:
    """Words read from a file; `place` and a number that starts at `first` say where each stands.

    Raises:
        FormatError: one is not UTF-8 and `errors` is strict.
    """
    with suppress(UnicodeDecodeError):  # all at once is several times faster
        found = b"\n".join(words).decode("utf-8").split("\n")
        if len(found) == len(words):
            return found
    found = []
    try:
        found.extend(word.decode("utf-8", errors) for word in words)
    except UnicodeDecodeError:
        raise FormatError(
            f"{place} {first + len(found)}: the word {words[len(found)]!r:.80} is not UTF-8 (word2vec.c cuts "
            "long words); errors='replace' or 'ignore' reads it"
        ) from None
    return found


def checked(
    path: Path,
    words: Words | list[str],
    matrix: np.ndarray,
    counts: np.ndarray | None = None,
    *,
    finite: bool = False,
) -> Vectors:
    """Vectors of what was read; `finite` where its numbers are known to be so.

    Raises:
        FormatError: a word stands twice, or a number is NaN or infinite; the word is named. Or the components are
            more than 2**20, as no words at all may have.
    """
    check_dim(matrix.shape[1], path)
    try:
        vectors = Vectors(words, matrix, counts=counts)
        if not finite:
            vectors.check_finite()
    except SettingError as error:
        raise FormatError(f"{path}: {error}") from None
    return vectors


def check_dim(dim: int, place: object, most: int = LARGEST_DIM) -> None:
    """Refuse more components than can be meant.

    Raises:
        FormatError: saying how many, and where.
    """
    if dim > most:
        raise FormatError(f"{place}: {dim} components, more than {most}")


def check_writable(vectors: Vectors) -> None:
    """Refuse to write a NaN, an infinity, or more components than are read.

    Raises:
        FormatError: naming the word.
    """
    check_dim(vectors.dim, "nothing is written")
    try:
        vectors.check_finite()
    except SettingError as error:
        raise FormatError(f"nothing is written: {error}") from None


def written_blocks(vectors: Vectors, width: int) -> Iterator[np.ndarray]:
    """The matrix a block of rows at a time, `width` bytes to a component while it is written."""
    for part in row_blocks(*vectors.matrix.shape, itemsize=width):
        yield np.ascontiguousarray(vectors.matrix[part])
