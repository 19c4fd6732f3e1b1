"""Makes classifiers small: keeps the rows of largest norm, and quantises them (Joulin et al. 2016)."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.matrix_rows import DenseRows
from embeddings.models.feature_index import index_entries, index_features
from embeddings.models.quantisation import decode, quantise, row_norms
from embeddings.models.subwords import LINE_END

if TYPE_CHECKING:
    from embeddings.models.classifier import Classifier


def prune(classifier: "Classifier", cutoff: int) -> "Classifier":
    """Keep the `cutoff` rows of words and n-grams that have the largest norms, and that of `</s>`.

    N-grams without a row are left out of the mean of a text. Without a row of any n-gram, there are no n-grams.

    Raises:
        SettingError: `cutoff` is below 1, or the rows are quantised.
    """
    if cutoff < 1:
        raise SettingError(f"cutoff must be at least 1, got {cutoff}")
    table, features = dense_table(classifier), classifier.features
    if cutoff >= len(table):
        return classifier
    words, ngrams = split_rows(largest_rows(table, cutoff, line_end_row(classifier)), features.words)
    buckets = ngrams if classifier.bucket_rows is None else buckets_of_rows(classifier.bucket_rows)[ngrams]
    text, starts = select_entries(features.text, features.starts, words, features.words)
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


def quantize(
    classifier: "Classifier", cutoff: int | None = None, *, dsub: int = 2, qnorm: bool = False, qout: bool = False,
    seed: int = 1,
) -> "Classifier":  # fmt: skip
    """Keep the rows of largest norm, and quantise rows; see `Classifier.quantize`."""
    table = dense_table(classifier)
    if not 1 <= dsub <= table.shape[1]:
        raise SettingError(f"dsub must be in [1, {table.shape[1]}], the dimension of the model, got {dsub}")
    small = classifier if cutoff is None else prune(classifier, cutoff)
    small = replace(small, features=small.features._replace(counts_missing=False))  # as in fastText's pruned models
    inputs = quantise(dense_table(small), dsub, has_norms=qnorm, seed=seed)
    if not qout:
        return replace(small, inputs=inputs)
    output = quantise(classifier.output, min(2, table.shape[1]), has_norms=qnorm, seed=seed)
    return replace(small, inputs=inputs, output=decode(output).table, quantised_output=output)


def dense_table(classifier: "Classifier") -> np.ndarray:
    """The rows of words and n-grams; refuses quantised ones."""
    if isinstance(classifier.inputs, DenseRows):
        return classifier.inputs.table
    raise SettingError(f"{classifier.name} is quantised already; use the model it was made from")


def line_end_row(classifier: "Classifier") -> int:
    """The row of `</s>`, or -1."""
    features = classifier.features
    lengths = np.diff(features.starts[: features.words + 1])
    starts = features.starts[:-1][: features.words]
    matches = [
        int(word)
        for word in np.flatnonzero(lengths == len(LINE_END))
        if features.text[starts[word] : starts[word] + len(LINE_END)].tobytes() == LINE_END
    ]
    return matches[0] if matches else -1


def largest_rows(table: np.ndarray, number: int, first: int) -> np.ndarray:
    """The rows of largest norm, ascending; row `first` is among them unless it is -1. Of equal rows the first ones."""
    norms = row_norms(table)
    if first >= 0:
        norms[first] = np.inf
    return np.sort(np.argsort(-norms, kind="stable")[:number])


def split_rows(rows: np.ndarray, words: int) -> tuple[np.ndarray, np.ndarray]:
    """The words, and the n-grams, numbered from 0, in ascending rows."""
    border = int(np.searchsorted(rows, words))
    return rows[:border], rows[border:] - words


def buckets_of_rows(bucket_rows: np.ndarray) -> np.ndarray:
    """The bucket of each row of n-grams."""
    buckets = np.empty(len(bucket_rows), np.int32)
    buckets[bucket_rows[:, 1]] = bucket_rows[:, 0]
    return buckets


def select_entries(
    text: np.ndarray, starts: np.ndarray, words: np.ndarray, old_words: int
) -> tuple[np.ndarray, np.ndarray]:
    """The bytes and starts of these words, and of all labels."""
    lengths, keep = np.diff(starts), np.zeros(len(starts) - 1, bool)
    keep[words] = keep[old_words:] = True
    return text[np.repeat(keep, lengths)], np.append(0, np.cumsum(lengths[keep]))
