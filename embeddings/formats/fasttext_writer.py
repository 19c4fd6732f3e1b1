"""Writes a model, or vectors alone, as fastText's own model file."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import CBOW, NEGATIVE_SAMPLING, SKIPGRAM, Header
from embeddings.formats.fasttext_reader import ENTRY, SHAPE, WORD
from embeddings.models.model import Model
from embeddings.models.subword_vectors import composer
from embeddings.support.cosine import row_blocks
from embeddings.vectors.file_validation import check_writable, encode_words
from embeddings.vectors.vectors import Vectors

FORBIDDEN = re.compile("\0")
INT32_MAX = 2**31 - 1
ARGUMENTS = ("window", "epochs", "min_count", "negatives", "learning_rate_updates")


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
    if not has_shape(output, shape) or loss not in (NEGATIVE_SAMPLING, "negative-sampling"):
        output = None  # with other losses, rows do not belong to words
    inputs, subword_sizes = [vectors.matrix], {}
    if model.composer is not None:
        words = model.tables.get("words")
        if words is None or not has_shape(words, shape) or "ngrams" not in model.tables:
            raise FormatError(f"the fasttext format cannot store a {model.name} model: it lacks tables for n-grams")
        subwords = composer(model)
        subword_sizes = {"min_n": subwords.min_n, "max_n": subwords.max_n, "buckets": len(subwords.ngrams)}
        inputs = [words, subwords.ngrams]
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
    numbers = ((name, settings.get(name)) for name in ARGUMENTS)
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
    check_writable(vectors)
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
