"""Reads and writes fastText's supervised models (.bin and quantised .ftz) as classifiers."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from embeddings.classifier.classifier import SMALL_BYTES, LabelPredictor, dense_table, line_end_row
from embeddings.classifier.feature_extraction import index_features
from embeddings.errors import FormatError
from embeddings.formats import fasttext_file
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows
from embeddings.support.cosine import row_blocks
from embeddings.support.foreign_files import format_errors
from embeddings.support.logs import log
from embeddings.support.word_list import sum_counts
from embeddings.vectors.file_format import decode_words
from embeddings.vectors.product_quantisation import decode, decoded_size, row_norms

LABEL_PREFIX = np.frombuffer(b"__label__", np.uint8)  # a file does not store the prefix
NGRAMS = ("min_n", "max_n", "word_ngrams", "buckets")
MAX_WORD_NGRAMS = 100
MAX_EXPANSION = 64  # maximum decoded size of a quantised output matrix, as a multiple of its codes
SETTINGS = (  # of the header
    "dim", "window", "epochs", "min_count", "negatives", "word_ngrams", "buckets", "min_n", "max_n",
    "learning_rate_updates", "subsample", "tokens",
)  # fmt: skip


def read_classifier(path: Path, *, errors: str = "strict") -> LabelPredictor:
    """The classifier in a file; `errors` applies to labels that are not UTF-8.

    Raises:
        FormatError: the file is broken, or its model is unsupervised.
    """
    contents = fasttext_file.read_contents(path)
    header, output = contents.header, contents.outputs
    if header.model != fasttext_file.SUPERVISED:
        raise FormatError(f"{path} is not a classifier but an unsupervised model; load it with load_model")
    limit = MAX_WORD_NGRAMS if header.buckets else 1
    if not header.labels or not 0 <= header.word_ngrams <= limit:
        problem = f"{header.labels} labels and n-grams of up to {header.word_ngrams} words"
        raise FormatError(f"{path} has {problem}; at least 1 label and at most {limit} words are supported")
    quantised = output if isinstance(output, QuantisedRows) else None
    if quantised and decoded_size(quantised) > max(SMALL_BYTES, MAX_EXPANSION * quantised.table.size):
        problem = f"the parts of its quantised output matrix are too large: {quantised.part_size} columns"
        raise FormatError(f"{path}: {problem}")
    with format_errors(path):
        sum_counts(contents.label_counts)
    return LabelPredictor(
        labels=decode_words(contents.entries(header.words, header.entries), errors, f"{path}, label", 1),
        label_counts=contents.label_counts,
        features=index_features(
            contents.text,
            contents.starts,
            contents.slots,
            contents.bucket_rows,
            words=header.words,
            label_prefix=LABEL_PREFIX,
            **used_ngrams(header),
        ),
        inputs=contents.inputs,
        output=(decode(quantised) if quantised else output).table,
        loss=fasttext_file.LOSSES[header.loss],
        settings={name: getattr(header, name) for name in SETTINGS},
        name=str(path),
        word_counts=contents.counts,
        bucket_rows=contents.bucket_rows if header.pruned_size >= 0 else None,
        quantised_output=quantised,
    )


def used_ngrams(header: fasttext_file.Header) -> dict[str, int]:
    """The settings of n-grams that take effect, under the names of fields of `Features`."""
    return {
        "min_n": max(header.min_n, 0) if header.has_ngrams else 0,
        "max_n": header.max_n if header.has_ngrams else 0,
        "word_ngrams": max(header.word_ngrams, 1) if header.pruned_size != 0 else 1,
        "buckets": header.buckets,
    }


def write_classifier(classifier: LabelPredictor, path: Path) -> None:
    """Write a classifier; one that was read from a file of the current version is written byte for byte.

    Raises:
        FormatError: its buckets are pruned, but its rows are not quantised; an entry contains NUL; or the model
            contains NaN or infinity.
    """
    features, inputs = classifier.features, classifier.inputs
    is_pruned = classifier.bucket_rows is not None and not features.counts_missing
    if is_pruned and isinstance(inputs, DenseRows):
        raise FormatError("fastText stores buckets that are pruned only in quantised models; quantize the classifier")
    header = build_header(classifier)
    fasttext_file.check_size(header)
    text, starts = features.text.tobytes(), features.starts.tolist()
    entries = [text[start:end] for start, end in pairwise(starts)]
    if b"\0" in text:
        raise FormatError("the fasttext format cannot store a word or label that contains NUL")
    if classifier.normalize is not None:
        log.warning("fastText does not normalize text: normalize texts as in training before it classifies them")
    words, counts = entries[: header.words], classifier.word_counts
    with path.open("wb") as stream:
        stream.write(header.pack())
        fasttext_file.write_entries(
            stream, words, [1] * header.words if counts is None else counts.tolist(), fasttext_file.WORD
        )
        fasttext_file.write_entries(
            stream, entries[header.words :], classifier.label_counts.tolist(), fasttext_file.LABEL
        )
        if is_pruned:
            stream.write(np.ascontiguousarray(classifier.bucket_rows, fasttext_file.PRUNED_ENTRY).data)
        write_inputs(stream, classifier)
        quantised = classifier.quantised_output if isinstance(inputs, QuantisedRows) else None
        write_rows(stream, quantised or DenseRows(classifier.output))


def build_header(classifier: LabelPredictor) -> fasttext_file.Header:
    """The header of a file; settings of n-grams are copied from the classifier's file if they have the same effect."""
    features, settings, counts = classifier.features, classifier.settings, classifier.word_counts
    labels, dim = classifier.output.shape
    tokens = settings.get("tokens", features.words if counts is None else int(counts.sum()))
    effective = {name: int(getattr(features, name)) for name in NGRAMS}
    header = fasttext_file.Header(
        dim=dim,
        entries=features.words + labels,
        words=features.words,
        labels=labels,
        tokens=tokens,
        model=fasttext_file.SUPERVISED,
        loss={name: number for number, name in fasttext_file.LOSSES.items()}[classifier.loss],
        pruned_size=-1 if classifier.bucket_rows is None or features.counts_missing else len(classifier.bucket_rows),
        **fasttext_file.header_arguments(settings),
        **effective,
    )
    # a file that was read may say more n-grams than take effect; written again, it must have the same bytes
    own = {name: settings[name] for name in NGRAMS if type(settings.get(name)) is int}
    stored = replace(header, **{name: value for name, value in own.items() if abs(value) <= fasttext_file.INT32_MAX})
    return stored if used_ngrams(stored) == effective else header


def write_inputs(stream: BinaryIO, classifier: LabelPredictor) -> None:
    """Write the input matrix; buckets without a row get zeros."""
    features, inputs, pairs = classifier.features, classifier.inputs, classifier.bucket_rows
    if pairs is None or not (features.counts_missing and isinstance(inputs, DenseRows)):
        write_rows(stream, inputs)
        return
    words, buckets, table = features.words, features.buckets, inputs.table
    dim, pairs = table.shape[1], pairs[np.argsort(pairs[:, 0])]  # of bucket and row
    stream.write(b"\0" + fasttext_file.SHAPE.pack(words + buckets, dim))
    fasttext_file.write_blocks(stream, (table[block] for block in row_blocks(words, dim)))
    for block in row_blocks(buckets, dim):
        first, end = np.searchsorted(pairs[:, 0], [block.start, block.stop])
        # block by block: two million buckets, most of them empty, would take gigabytes at once
        rows = np.zeros((min(block.stop, buckets) - block.start, dim), np.float32)
        rows[pairs[first:end, 0] - block.start] = table[words:][pairs[first:end, 1]]
        fasttext_file.write_blocks(stream, [rows])


def write_rows(stream: BinaryIO, matrix: Rows) -> None:
    """Write a dense or a quantised matrix after its flag."""
    if isinstance(matrix, DenseRows):
        fasttext_file.write_matrix(stream, matrix.table.shape[1], [matrix.table])
        return
    has_norms = len(matrix.norm_codes) > 0
    stream.write(b"\1" + (b"\1" if has_norms else b"\0"))
    stream.write(fasttext_file.QUANTISED_SIZES.pack(len(matrix.table), matrix.dim, matrix.table.size))
    stream.write(np.ascontiguousarray(matrix.table).data)
    write_centroids(stream, matrix.dim, matrix.part_size, matrix.centroids)
    if has_norms:
        stream.write(np.ascontiguousarray(matrix.norm_codes).data)
        write_centroids(stream, 1, 1, matrix.norms)


def write_centroids(stream: BinaryIO, dim: int, part_size: int, centroids: np.ndarray) -> None:
    """Write the centroids of all parts after their sizes."""
    stream.write(fasttext_file.PARTS.pack(*fasttext_file.expected_parts(dim, part_size)))
    stream.write(np.ascontiguousarray(centroids, "<f4").data)


def cutoff_for_size(
    classifier: LabelPredictor, size: int, *, dsub: int = 2, qnorm: bool = False, qout: bool = False
) -> int:
    """The largest cutoff with which the quantised classifier fits a file of `size` bytes; 0 if none does.

    Other arguments are those of `LabelPredictor.quantize`.
    """
    (labels, dim), words = classifier.output.shape, classifier.features.words
    norms = row_norms(dense_table(classifier))
    line_end = line_end_row(classifier)
    if line_end >= 0:
        # fastText keeps the row of the end of a line whatever its norm is
        norms[line_end] = np.inf
    entry_sizes = np.diff(classifier.features.starts).astype(np.int64) + 1 + fasttext_file.ENTRY.size
    row_sizes = np.full(
        len(norms), -(-dim // dsub) + qnorm, np.int64
    )  # code bytes of a row; its dictionary entry is added below
    row_sizes[:words] += entry_sizes[:words]
    row_sizes[words:] += 2 * fasttext_file.PRUNED_ENTRY.itemsize
    output = 1 + fasttext_file.SHAPE.size + 4 * labels * dim
    if qout:
        output = quantised_size(dim, qnorm) + labels * (-(-dim // min(2, dim)) + qnorm)
    fixed_size = fasttext_file.MAX_HEADER_BYTES + int(entry_sizes[words:].sum()) + quantised_size(dim, qnorm) + output
    sizes = fixed_size + np.cumsum(row_sizes[np.argsort(-norms, kind="stable")])
    return int(np.searchsorted(sizes, size, side="right"))


def quantised_size(dim: int, qnorm: bool) -> int:
    """The bytes of a quantised matrix without rows: flags, sizes, and float32 centroids."""
    return (
        2
        + fasttext_file.QUANTISED_SIZES.size
        + fasttext_file.PARTS.size
        + 4 * CENTROIDS * dim
        + (fasttext_file.PARTS.size + 4 * CENTROIDS) * qnorm
    )
