"""Small classifiers: pruned and quantised rows."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from embeddings.classifier.feature_extraction import index_entries, index_features
from embeddings.errors import S, SettingError
from embeddings.kernels.matrix_rows import DenseRows
from embeddings.models.subwords import LINE_END
from embeddings.vectors.product_quantisation import row_norms

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor


def prune(classifier: "LabelPredictor", cutoff: int) -> "LabelPredictor":
    """Keep the `cutoff` rows of words and n-grams with the largest norms, and the row of `</s>`.

    N-grams without a row are left out of the mean of a text. Without a row of any n-gram, there are no n-grams.
    """
    if cutoff < 1:
        raise SettingError(f"{S.cutoff} must be at least 1, got {cutoff}")
    table, features = dense_table(classifier), classifier.features
    if cutoff >= len(table):
        return classifier
    norms, line_end = row_norms(table), line_end_row(classifier)
    if line_end >= 0:
        norms[line_end] = np.inf
    rows = np.sort(np.argsort(-norms, kind="stable")[:cutoff])
    words, ngrams = rows[rows < features.words], rows[rows >= features.words] - features.words
    buckets = ngrams if classifier.bucket_rows is None else buckets_of_rows(classifier.bucket_rows)[ngrams]
    lengths, is_kept = np.diff(features.starts), np.zeros(len(features.starts) - 1, bool)
    is_kept[words] = is_kept[features.words :] = True  # all labels
    text, starts = features.text[np.repeat(is_kept, lengths)], np.append(0, np.cumsum(lengths[is_kept]))
    pairs = np.column_stack([buckets, np.arange(len(buckets))]).astype(np.int32)
    values = np.concatenate([table[words], table[features.words + ngrams]])
    without = {} if len(pairs) else {"min_n": 0, "max_n": 0, "word_ngrams": 1}
    sizes = {name: getattr(features, name) for name in ("label_prefix", "min_n", "max_n", "word_ngrams", "buckets")}
    counts = classifier.word_counts
    return replace(
        classifier,
        features=index_features(
            text, starts, index_entries(text, starts)[0], pairs, words=len(words), **sizes | without
        ),
        inputs=DenseRows(values),
        word_counts=None if counts is None else counts[words],
        bucket_rows=pairs,
    )


def dense_table(classifier: "LabelPredictor") -> np.ndarray:
    """The rows of words and n-grams; refuses quantised ones."""
    if isinstance(classifier.inputs, DenseRows):
        return classifier.inputs.table
    raise SettingError(f"{classifier.name} is quantised already; use the model it was made from")


def line_end_row(classifier: "LabelPredictor") -> int:
    """The row of `</s>`, or -1."""
    features = classifier.features
    starts = features.starts[: features.words + 1]
    places = np.flatnonzero(np.diff(starts) == len(LINE_END)).tolist()
    is_line_end = (features.text[starts[word] : starts[word + 1]].tobytes() == LINE_END for word in places)
    return next((word for word, matches in zip(places, is_line_end, strict=True) if matches), -1)


def buckets_of_rows(bucket_rows: np.ndarray) -> np.ndarray:
    """The bucket of each row of n-grams."""
    buckets = np.empty(len(bucket_rows), np.int32)
    buckets[bucket_rows[:, 1]] = bucket_rows[:, 0]
    return buckets
