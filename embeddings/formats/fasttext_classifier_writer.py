"""Writes a classifier, quantised or not, as a supervised model of fastText."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.fasttext_classifier import used_ngrams
from embeddings.formats.fasttext_header import LOSSES, SUPERVISED, Header
from embeddings.formats.fasttext_quantised import PARTS, PRUNED_ENTRY, SIZES, expected_parts
from embeddings.formats.fasttext_reader import LABEL, SHAPE, WORD
from embeddings.formats.fasttext_writer import (
    INT32_MAX,
    check_size,
    header_arguments,
    write_blocks,
    write_entries,
    write_matrix,
)
from embeddings.kernels.matrix_rows import DenseRows, QuantisedRows, Rows
from embeddings.models.classifier import Classifier
from embeddings.support.cosine import row_blocks
from embeddings.support.logs import log

NGRAMS = ("min_n", "max_n", "word_ngrams", "buckets")


def write_classifier(classifier: Classifier, path: Path) -> None:
    """Write a classifier; what was read from a file of the newest version is written as it was.

    Raises:
        FormatError: its buckets are pruned, but its rows are not quantised; an entry contains NUL; or the model
            contains NaN or infinity.
    """
    features, inputs = classifier.features, classifier.inputs
    is_pruned = classifier.bucket_rows is not None and not features.counts_missing
    if is_pruned and isinstance(inputs, DenseRows):
        raise FormatError("fastText stores buckets that are pruned only in quantised models; quantize the classifier")
    header = build_header(classifier)
    check_size(header)
    text, starts = features.text.tobytes(), features.starts.tolist()
    entries = [text[start:end] for start, end in pairwise(starts)]
    if b"\0" in text:
        raise FormatError("the fasttext format cannot store a word or label that contains NUL")
    if classifier.normalize is not None:
        log.warning("fastText splits text at white space and keeps its case; normalize it as for the training")
    words, counts = entries[: header.words], classifier.word_counts
    with path.open("wb") as stream:
        stream.write(header.pack())
        write_entries(stream, words, [1] * header.words if counts is None else counts.tolist(), WORD)
        write_entries(stream, entries[header.words :], classifier.label_counts.tolist(), LABEL)
        if is_pruned:
            stream.write(np.ascontiguousarray(classifier.bucket_rows, PRUNED_ENTRY).data)
        write_inputs(stream, classifier)
        quantised = classifier.quantised_output if isinstance(inputs, QuantisedRows) else None
        write_rows(stream, quantised or DenseRows(classifier.output))


def build_header(classifier: Classifier) -> Header:
    """The header; settings of n-grams are those of the classifier's file if they have the same effect."""
    features, settings, counts = classifier.features, classifier.settings, classifier.word_counts
    labels, dim = classifier.output.shape
    tokens = settings.get("tokens", features.words if counts is None else int(counts.sum()))
    effective = {name: int(getattr(features, name)) for name in NGRAMS}
    header = Header(
        dim=dim,
        entries=features.words + labels,
        words=features.words,
        labels=labels,
        tokens=tokens,
        model=SUPERVISED,
        loss={name: number for number, name in LOSSES.items()}[classifier.loss],
        pruned_size=-1 if classifier.bucket_rows is None or features.counts_missing else len(classifier.bucket_rows),
        **header_arguments(settings),
        **effective,
    )
    own = {name: settings[name] for name in NGRAMS if type(settings.get(name)) is int}
    stored = replace(header, **{name: value for name, value in own.items() if abs(value) <= INT32_MAX})
    return stored if used_ngrams(stored) == effective else header


def write_inputs(stream: BinaryIO, classifier: Classifier) -> None:
    """Write the input matrix; buckets without a row get zeros."""
    features, inputs, pairs = classifier.features, classifier.inputs, classifier.bucket_rows
    if pairs is None or not (features.counts_missing and isinstance(inputs, DenseRows)):
        write_rows(stream, inputs)
        return
    words, table = features.words, inputs.table
    rows, dim = words + features.buckets, table.shape[1]
    stream.write(b"\0" + SHAPE.pack(rows, dim))
    write_blocks(stream, (table[block] for block in row_blocks(words, dim)))
    write_blocks(stream, bucket_blocks(table[words:], pairs[np.argsort(pairs[:, 0])], features.buckets))


def bucket_blocks(table: np.ndarray, pairs: np.ndarray, buckets: int) -> Iterator[np.ndarray]:
    """The rows of all buckets, some at a time: those of a table for pairs of bucket and row, else zeros."""
    for block in row_blocks(buckets, table.shape[1]):
        first, end = np.searchsorted(pairs[:, 0], [block.start, block.stop])
        rows = np.zeros((min(block.stop, buckets) - block.start, table.shape[1]), np.float32)
        rows[pairs[first:end, 0] - block.start] = table[pairs[first:end, 1]]
        yield rows


def write_rows(stream: BinaryIO, matrix: Rows) -> None:
    """Write a dense or a quantised matrix after its flag."""
    if isinstance(matrix, DenseRows):
        write_matrix(stream, matrix.table.shape[1], [matrix.table])
        return
    has_norms = len(matrix.norm_codes) > 0
    stream.write(b"\1" + (b"\1" if has_norms else b"\0"))
    stream.write(SIZES.pack(len(matrix.table), matrix.dim, matrix.table.size))
    stream.write(np.ascontiguousarray(matrix.table).data)
    write_centroids(stream, matrix.dim, matrix.part_size, matrix.centroids)
    if has_norms:
        stream.write(np.ascontiguousarray(matrix.norm_codes).data)
        write_centroids(stream, 1, 1, matrix.norms)


def write_centroids(stream: BinaryIO, dim: int, part_size: int, centroids: np.ndarray) -> None:
    """Write the centroids of all parts after their sizes."""
    stream.write(PARTS.pack(*expected_parts(dim, part_size)))
    stream.write(np.ascontiguousarray(centroids, "<f4").data)
