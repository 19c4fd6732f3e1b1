"""A model, or vectors alone, written as fastText writes its own models."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import CBOW, NEGATIVE_SAMPLING, SKIPGRAM, Header
from embeddings.formats.fasttext_reading import ENTRY, SHAPE
from embeddings.models.model import Model
from embeddings.models.subword_vectors import composer
from embeddings.support.cosine import row_blocks
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_writable, encoded_words

REFUSED = re.compile("\0")
MOST = 2**31 - 1
ARGUMENTS = ("window", "epochs", "min_count", "negatives")


@dataclass(frozen=True)
class Tables:
    """Rows of words and n-grams, (words, dim) and (buckets, dim), and the output (words, dim) if there is one."""

    words: np.ndarray
    ngrams: np.ndarray
    output: np.ndarray | None


def write_vectors(vectors: Vectors, path: Path) -> None:
    """Write vectors alone; see `formats.fasttext.write`."""
    tokens = len(vectors) if vectors.counts is None else int(vectors.counts.sum())
    header = Header(dim=vectors.dim, entries=len(vectors), words=len(vectors), tokens=tokens)
    write_file(path, header, vectors, Tables(vectors.matrix, np.empty((0, vectors.dim), np.float32), None))


def write_model(model: Model, path: Path) -> None:
    """Write a whole model: fastText's with its n-grams, any other without; the output table if it has a row for a word.

    Raises:
        FormatError: a word is empty or holds a NUL, a table holds NaN or infinity or does not fit, or the model
            composes in another way than fastText's.
    """
    vectors, known = model.vectors, model.tables
    size, shape = len(vectors), (len(vectors), vectors.dim)
    output = known.get("output")
    if not fits(output, shape) or model.record.get("loss", NEGATIVE_SAMPLING) != NEGATIVE_SAMPLING:
        output = None  # of another loss its rows are not those of words
    tables = Tables(vectors.matrix, np.empty((0, vectors.dim), np.float32), output)
    lengths = {}
    if model.composer is not None:
        own = known.get("words")
        if own is None or not fits(own, shape) or "ngrams" not in known:
            raise FormatError(f"the fasttext format cannot hold a {model.name} model, which is not made of n-grams")
        parts = composer(model)
        lengths = {"min_n": parts.min_n, "max_n": parts.max_n, "buckets": len(parts.ngrams)}
        tables = Tables(own, parts.ngrams, tables.output)
    header = Header(
        dim=vectors.dim, entries=size, words=size, tokens=model.vocabulary.total, **arguments(model), **lengths
    )
    write_file(path, header, vectors, tables)


def fits(table: np.ndarray | None, shape: tuple[int, int]) -> bool:
    """Whether a table is a float32 row for each word."""
    return table is not None and table.shape == shape and table.dtype == np.float32


def arguments(model: Model) -> dict[str, Any]:
    """How the model was trained, as far as its settings say so in numbers that the header can hold."""
    settings = model.settings
    found = {name: settings[name] for name in ARGUMENTS if whole(settings.get(name))}
    sample = settings.get("sample")
    if isinstance(sample, int | float) and 0 <= sample <= 1:
        found["sample"] = sample
    return found | {"model": CBOW if settings.get("architecture", model.name) == "cbow" else SKIPGRAM}


def whole(value: Any) -> bool:
    """Whether it is a number that an int32 holds, from 0 up."""
    return type(value) is int and 0 <= value <= MOST


def write_file(path: Path, header: Header, vectors: Vectors, tables: Tables) -> None:
    """Write header, dictionary and matrices, a block at a time.

    Raises:
        FormatError: as `write_model`.
    """
    check_writable(vectors)
    if header.words + header.buckets > MOST:
        raise FormatError(
            f"the fasttext format holds at most {MOST} words and buckets, not {header.words + header.buckets}"
        )
    counts = [1] * len(vectors) if vectors.counts is None else vectors.counts.tolist()
    words = encoded_words(vectors, refused=REFUSED, form="fasttext")
    with path.open("wb") as stream:
        stream.write(header.packed())
        stream.writelines(b"%b\0%b" % (word, ENTRY.pack(count, 0)) for word, count in zip(words, counts, strict=True))
        write_matrix(stream, header.dim, [tables.words, tables.ngrams])
        write_matrix(stream, header.dim, [zeros(len(vectors), header.dim) if tables.output is None else tables.output])


def zeros(rows: int, dim: int) -> np.ndarray:
    """Rows of zeros that take no memory."""
    return np.broadcast_to(np.float32(0), (rows, dim))


def write_matrix(stream: BinaryIO, dim: int, parts: list[np.ndarray]) -> None:
    """Write tables, one below another, as one matrix that is not quantised.

    Raises:
        FormatError: one holds NaN or infinity.
    """
    stream.write(b"\0" + SHAPE.pack(sum(map(len, parts)), dim))
    for block in (part[rows] for part in parts for rows in row_blocks(*part.shape)):
        if not np.isfinite(block).all():
            raise FormatError("nothing is written: a table of the model holds NaN or infinity")
        stream.write(np.ascontiguousarray(block, "<f4").data)
