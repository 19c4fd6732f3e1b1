"""Reads a supervised fastText model, quantised or not, as a classifier."""

from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import LOSSES, SUPERVISED, Header
from embeddings.formats.fasttext_reader import Contents, read_contents
from embeddings.kernels.feature_slots import Features
from embeddings.kernels.matrix_rows import DenseRows, QuantisedRows, Rows
from embeddings.models.classifier import SMALL_BYTES, Classifier
from embeddings.models.feature_index import index_features
from embeddings.models.quantisation import decode, decoded_size
from embeddings.vectors.file_validation import check_error_handler, decode_words

LABEL_PREFIX = np.frombuffer(b"__label__", np.uint8)  # a file does not store the prefix
MAX_WORD_NGRAMS = 100
MAX_EXPANSION = 64  # times the size of the codes: the size of a decoded matrix of labels, if it is not small
SETTINGS = (  # of the header
    "dim", "window", "epochs", "min_count", "negatives", "word_ngrams", "buckets", "min_n", "max_n",
    "learning_rate_updates", "subsample", "tokens",
)  # fmt: skip


def read_classifier(path: Path, *, errors: str = "strict") -> Classifier:
    """The classifier in a file; `errors` applies to labels that are not UTF-8.

    Raises:
        FormatError: the file is broken, or its model is unsupervised.
    """
    check_error_handler(errors)
    contents = read_contents(path)
    header = contents.header
    check_supervised(path, header)
    if sum(contents.label_counts.tolist()) >= 1 << 63:
        raise FormatError(f"{path} is broken: the sum of the counts of its labels is too large")
    return Classifier(
        labels=decode_words(contents.entries.to_list(header.words), errors, f"{path}, label", 1),
        label_counts=contents.label_counts,
        features=read_features(contents),
        inputs=contents.inputs,
        output=decode_output(path, contents.outputs),
        loss=LOSSES[header.loss],
        settings={name: getattr(header, name) for name in SETTINGS},
        name=str(path),
        word_counts=contents.counts,
        bucket_rows=contents.bucket_rows if header.pruned_size >= 0 else None,
        quantised_output=contents.outputs if isinstance(contents.outputs, QuantisedRows) else None,
    )


def check_supervised(path: Path, header: Header) -> None:
    """Refuse a model that cannot classify."""
    if header.model != SUPERVISED:
        raise FormatError(f"{path} is not a classifier but an unsupervised model; load it with load_model")
    if not header.labels:
        raise FormatError(f"{path} is broken: it has no labels")
    if not 0 <= header.word_ngrams <= MAX_WORD_NGRAMS:
        raise FormatError(
            f"{path} has n-grams of up to {header.word_ngrams} words; at most {MAX_WORD_NGRAMS} are supported"
        )
    if header.word_ngrams > 1 and not header.buckets:
        raise FormatError(f"{path} is broken: it has n-grams of words but no buckets")


def read_features(contents: Contents) -> Features:
    """How the model turns texts into rows."""
    header = contents.header
    return index_features(
        contents.entries.text,
        contents.entries.starts,
        contents.entries.slots,
        contents.bucket_rows,
        words=header.words,
        label_prefix=LABEL_PREFIX,
        **used_ngrams(header),
    )


def used_ngrams(header: Header) -> dict[str, int]:
    """The settings of n-grams that take effect, under the names of fields of `Features`."""
    return {
        "min_n": max(header.min_n, 0) if header.has_ngrams else 0,
        "max_n": header.max_n if header.has_ngrams else 0,
        "word_ngrams": max(header.word_ngrams, 1) if header.pruned_size != 0 else 1,
        "buckets": header.buckets,
    }


def decode_output(path: Path, outputs: Rows) -> np.ndarray:
    """The rows of labels, float32 (labels, dim)."""
    if isinstance(outputs, DenseRows):
        return outputs.table
    if decoded_size(outputs) > max(SMALL_BYTES, MAX_EXPANSION * outputs.table.size):
        raise FormatError(
            f"{path}: the parts of its quantised output matrix are too large: {outputs.part_size} columns"
        )
    return decode(outputs).table
