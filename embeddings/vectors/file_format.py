"""The contract of file formats: what a package declares to add one."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.reading.compression import open_decompressed
from embeddings.errors import FormatError, S, SettingError
from embeddings.support.cosine import row_blocks
from embeddings.vectors.base_vectors import BaseVectors

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file or folder format, declared by an entry point of the group `embeddings.formats`.

    Name the entry point after the format, and let it point to an instance:

        [project.entry-points."embeddings.formats"]
        lines = "my_package.lines:FORMAT"

    Listing the formats imports all of them, so import heavy libraries inside the functions.

    Arguments:
        summary: one line for listings.
        read: `read(path, *, allow_pickle, errors)` returns the vectors. It raises `FormatError`, in one line, if the
            file is broken. `errors`, which the caller checks, is "strict", "replace" or "ignore" and applies to words
            that are not UTF-8. Only a format that is a pickle needs `allow_pickle`.
        write: `write(vectors, path, **options)` writes a new file, or fills an empty folder; the caller makes that
            atomic, and refuses NaN and infinity. Its keyword arguments, such as `dtype`, are the options of the format.
            It raises `FormatError` if the format cannot store a word.
        sniff: `sniff(start)` returns the confidence, from 0 to 1, that a file which starts with these (decompressed)
            bytes has this format, broken or not. Required of a file format.
        sniff_folder: `sniff_folder(path)` returns the same for a folder. Required of a folder format.
        extensions: the file extensions that select the format for output, such as ".npy". Folders have none.
        companions: the extensions of further files that `write` puts next to its path, such as ".txt".
        stores_counts: whether a file stores word counts itself.
        describe: `describe(path)` returns properties by name for `embeddings info`, read from the start of the file.
        read_model: as `read`, for formats that store whole models.
        has_model: `has_model(path)` returns whether a file of this format contains a whole model.
        read_classifier: `read_classifier(path, *, errors)` returns the classifier in a file, for formats that have
            classifiers.
        write_classifier: `write_classifier(classifier, path)` writes a classifier.
        write_model: `write_model(model, path)` writes a whole model.
    """

    summary: str
    read: Callable[..., "Vectors"]
    write: Callable[..., None]
    sniff: Callable[[bytes], float] | None = None
    sniff_folder: Callable[[Path], float] | None = None
    extensions: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    stores_counts: bool = False
    describe: Callable[[Path], dict[str, Any]] = lambda _: {}
    read_model: Callable[..., "Model"] | None = None
    has_model: Callable[[Path], bool] = lambda _: False
    read_classifier: Callable[..., "LabelPredictor"] | None = None
    write_model: Callable[["Model", Path], None] | None = None
    write_classifier: Callable[["LabelPredictor", Path], None] | None = None

    def __post_init__(self) -> None:
        if (self.sniff is None) == (self.sniff_folder is None):
            raise TypeError("a Format requires either sniff, for files, or sniff_folder, for folders")

    @property
    def is_folder(self) -> bool:
        """Whether the format is a folder, not a file."""
        return self.sniff_folder is not None


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
            f"long words); read it with {S.errors} 'replace' or 'ignore'"
        ) from None
    return decoded


def stripped_lines(path: Path) -> list[str]:
    """The lines of a text file, which may be compressed, without white space around them."""
    with open_decompressed(path) as stream:
        lines = [line.strip() for line in stream]
    return decode_words(lines, "strict", f"{path}, line", 1)


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
