"""Checks and conversions that several file formats share: words to and from UTF-8, finite numbers, size limits."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from embeddings.errors import FormatError, SettingError
from embeddings.support.cosine import row_blocks
from embeddings.vectors.base_vectors import BaseVectors

ERROR_HANDLERS = ("strict", "replace", "ignore")
WHITE_SPACE = re.compile(r"[ \t\n\v\f\r]")
NUMBER = re.compile(rb"[+-]?((\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|nan|inf|infinity)", re.IGNORECASE)
MAX_DIM = 1 << 20  # a row of 4 MiB; used where the file size implies no limit
MAX_TEXT_DIM = 1 << 16  # components of a line of text, each of which is an Arrow column while it is read
MAX_WORD_BYTES = 1 << 15  # formats are recognised by the start of a file, which must contain a whole word


def is_number(field: bytes) -> bool:
    """Whether a field is a decimal number; NaN and infinity count."""
    return NUMBER.fullmatch(field) is not None


def encode_words(vectors: BaseVectors, *, format: str, forbidden: re.Pattern[str] | None = None) -> Iterator[bytes]:
    """The words in UTF-8; refuses empty ones, `forbidden` characters, invalid Unicode, and more than 32 KiB."""
    for word in vectors.words:
        match = forbidden.search(word) if forbidden else None
        if not word or match:
            why = f"contains {match[0]!r}" if match else "is empty"
            raise FormatError(f"the {format} format cannot store the word {word!r:.80}, which {why}")
        try:
            encoded = word.encode("utf-8")
        except UnicodeEncodeError:
            raise FormatError(f"the {format} format cannot store the word {word!r:.80}: not valid Unicode") from None
        if len(encoded) > MAX_WORD_BYTES:
            raise FormatError(f"the word {word!r:.80}... has {len(encoded)} bytes, more than {MAX_WORD_BYTES}")
        yield encoded


def check_error_handler(errors: str) -> None:
    """Refuse an unknown handler of invalid UTF-8."""
    if errors not in ERROR_HANDLERS:
        raise SettingError(f"errors must be one of {', '.join(ERROR_HANDLERS)}, got {errors!r}")


def decode_words(words: Sequence[bytes], errors: str, place: str, first: int) -> list[str]:
    """Decode words of a file; errors locate an invalid one by `place` and its number, counted from `first`."""
    with suppress(UnicodeDecodeError):  # decoding all at once is several times faster
        decoded = b"\n".join(words).decode("utf-8").split("\n")
        if len(decoded) == len(words):
            return decoded
    decoded = []
    try:
        decoded.extend(word.decode("utf-8", errors) for word in words)
    except UnicodeDecodeError:
        raise FormatError(
            f"{place} {first + len(decoded)}: the word {words[len(decoded)]!r:.80} is not UTF-8 (word2vec.c truncates "
            "long words); read it with errors='replace' or 'ignore'"
        ) from None
    return decoded


def check_dim(dim: int, place: object, limit: int = MAX_DIM) -> None:
    """Refuse implausibly many components."""
    if dim > limit:
        raise FormatError(f"{place}: {dim} components, but at most {limit} are supported")


def check_writable(vectors: BaseVectors) -> None:
    """Refuse to write NaN, infinity, or more components than can be read back."""
    check_dim(vectors.dim, "nothing is written")
    try:
        vectors.check_finite()
    except SettingError as error:
        raise FormatError(f"nothing is written: {error}") from None


def row_chunks(vectors: BaseVectors, itemsize: int) -> Iterator[np.ndarray]:
    """The matrix in contiguous chunks of bounded memory at `itemsize` bytes per component."""
    for rows in row_blocks(*vectors.matrix.shape, itemsize=itemsize):
        yield np.ascontiguousarray(vectors.matrix[rows])
