"""A text classifier: the mean of the rows of a text's words and n-grams, and scores of labels (Joulin et al. 2017)."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np

from embeddings.classifier.feature_extraction import Features, index_entries, index_features
from embeddings.classifier.label_prediction import (
    OFFSET,
    RowScores,
    TextMeans,
    build_tree,
    multiply_along_tree,
    rank_in_tree,
    rank_labels,
)
from embeddings.corpora.reading.columns import is_null
from embeddings.corpora.word_rules import WordRules
from embeddings.errors import FormatError, SettingError
from embeddings.kernels.matrix_rows import DenseRows, QuantisedRows, Rows
from embeddings.setting_names import InteropMixin
from embeddings.settings import Range, check_list, check_value
from embeddings.support.arrow import starts_of
from embeddings.support.threads import run_slices
from embeddings.vectors import file_format
from embeddings.vectors.product_quantisation import decode, decoded_size, quantise, row_norms
from embeddings.vectors.subwords import LINE_END, to_bytes

Normalize = Callable[[bytes, np.ndarray], tuple[bytes, np.ndarray]]


@dataclass(frozen=True)
class TextNormalizer:
    """Replaces each text `text[starts[i]:starts[i + 1]]` by its tokens with a space after each."""

    rules: WordRules

    def __call__(self, text: bytes, starts: np.ndarray) -> tuple[bytes, np.ndarray]:
        """Return the texts and where each begins."""
        parts = []
        for begin, end in pairwise(starts.tolist()):
            tokens = list(self.rules.tokenizer(text[begin:end].decode("utf-8", "replace")))
            parts.append("".join(f"{token} " for token in self.rules.normalize_all(tokens)).encode("utf-8", "replace"))
        return b"".join(parts), starts_of(parts)


TABLE_SIZE, TABLE_LIMIT = 512, 8  # of fastText's table of the logistic function


def softmax(scores: np.ndarray) -> np.ndarray:
    """The probabilities of finite scores, written over them, each row for itself."""
    # The largest exponent becomes 0, so that none overflows.
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def sigmoid(scores: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-score))."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-scores))  # type: ignore[no-any-return]


def tabulated_sigmoid(scores: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-score)) from fastText's table; 0 and 1 beyond its limits."""
    # In float32 throughout, as in fastText: float64 would read other entries at the borders of steps.
    step = 2 * TABLE_LIMIT / TABLE_SIZE
    table = sigmoid(np.arange(TABLE_SIZE + 1, dtype=np.float32) * np.float32(step) - np.float32(TABLE_LIMIT))
    rows = ((np.clip(scores, -TABLE_LIMIT, TABLE_LIMIT) + np.float32(TABLE_LIMIT)) / np.float32(step)).astype(np.int64)
    return np.where(scores > TABLE_LIMIT, 1, np.where(scores < -TABLE_LIMIT, 0, table[rows])).astype(np.float32)


HIERARCHICAL_SOFTMAX, SOFTMAX = "hierarchical softmax", "softmax"
SMALL_BYTES = 1 << 26  # quantised matrices up to this size are decoded
MAX_PREDICTIONS = 1 << 20  # predicted labels of a batch
BLOCK_SCORES = 1 << 20  # scores of labels in memory at a time and thread, unless there are more labels


class Predictions(NamedTuple):
    """The most probable labels of texts, most probable first: object (texts, k) and float32 (texts, k).

    Where fewer than k labels are predicted, the label is None and the probability 0.
    """

    labels: np.ndarray
    probabilities: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class LabelPredictor(InteropMixin):
    """A text classifier, as read from a file.

    Arguments:
        labels: the labels, as the file names them, with fastText's prefix `__label__`.
        label_counts: int64 (labels,), how often each occurred in training.
        features: how texts become rows of the input matrix.
        inputs: the input matrix.
        output: float32 (labels, dim), the row of each label, or of each inner node of a tree.
        loss: "softmax", "hierarchical softmax", "one against all" or "negative sampling".
        settings: the training arguments.
        name: the file, for messages.
        word_counts: int64 (words,), how often each word occurred in training; None if unknown.
        bucket_rows: int32 (buckets, 2), the buckets that pruning has left and the row of each; None if none is pruned.
            With `features.counts_missing`, all others have rows of zeros, which are not stored.
        quantised_output: the matrix that `output` has been decoded from, if it is quantised.
        normalize: replaces texts and their starts, before `features` are computed; None if it is not needed.
    """

    # working memory of threads, which cannot be shared with another process, and decoded rows, which are large
    CACHED_ATTRIBUTES = ("_rows", "_means")

    labels: list[str]
    label_counts: np.ndarray
    features: Features
    inputs: Rows
    output: np.ndarray
    loss: str
    settings: dict[str, Any] = field(default_factory=dict)
    name: str = "the classifier"
    word_counts: np.ndarray | None = None
    bucket_rows: np.ndarray | None = None
    quantised_output: QuantisedRows | None = None
    normalize: Normalize | None = None
    _row_scores: RowScores = field(default_factory=RowScores, init=False)

    def predict(
        self, texts: Iterable[str], k: Annotated[int, Range(ge=-1)] = 1,
        threshold: Annotated[float, Range(ge=0, le=1)] = 0.0, *, threads: int | None = None,
    ) -> Predictions:  # fmt: skip
        """Predict the most probable labels of texts.

        Words are separated by white space, as in fastText; line breaks count as spaces. Probabilities equal those of
        fastText, which adds 0.00001 to each, and in hierarchical softmax to each factor; for the losses "one against
        all" and "negative sampling" it reads them from a table with steps of up to 0.008.

        Arguments:
            texts: the texts. The word `</s>` ends each, as in fastText, so that a text without any other known word or
                n-gram gets the labels of `</s>`, or none from a classifier that does not know this word.
            k: maximum number of labels per text; -1 for all.
            threshold: minimum probability of a label.
            threads: by default all cores.

        Raises:
            SettingError: an argument is out of range, or `texts` is a single string.
            FormatError: the model contains NaN or infinity.
        """
        ids, probabilities = self.rank(*encode_texts(texts), k, threshold, threads=threads)
        names = np.array([*self.labels, None], object)  # the number -1 means no label
        return Predictions(names[ids], probabilities.astype(np.float32))

    def predict_proba(self, texts: Iterable[str], *, threads: int | None = None) -> np.ndarray:
        """Exact probabilities of all labels, float32 (texts, labels), without the approximations of `predict`.

        Rows sum to 1 with the losses "softmax" and "hierarchical softmax". A text that gets no label by `predict` has
        the probabilities of a zero vector.

        Raises:
            SettingError: `texts` is a single string.
            FormatError: the model contains NaN or infinity.
        """
        text, starts = self._normalize(*encode_texts(texts))
        result = np.empty((len(starts) - 1, len(self.labels)), np.float32)
        means = self.choose_means(len(text), threads)

        def work(lines: slice) -> None:
            for block in self._blocks(lines):
                numbers, _ = self._numbers(means, text, starts[block.start : block.stop + 1])
                if self.loss == HIERARCHICAL_SOFTMAX:
                    products = np.empty((len(numbers), 2 * len(self.labels) - 1))
                    multiply_along_tree(numbers, self.output, self._children, 0.0, products)
                    result[block] = products[:, : len(self.labels)]
                else:
                    result[block] = softmax(numbers) if self.loss == SOFTMAX else sigmoid(numbers)

        run_slices(len(result), work, threads)
        return result

    def embed(self, texts: Iterable[str], *, threads: int | None = None) -> np.ndarray:
        """The mean of the rows of each text's words and n-grams, float32 (texts, dim), from which labels are predicted.

        It is fastText's sentence vector of a supervised model, in which `</s>` ends each text; zeros if no word or
        n-gram is known.

        Raises:
            SettingError: `texts` is a single string.
            FormatError: the model contains NaN or infinity.
        """
        text, starts = self._normalize(*encode_texts(texts))
        result = np.empty((len(starts) - 1, self.output.shape[1]), np.float32)

        def work(lines: slice) -> None:
            for block in self._blocks(lines):
                result[block], _ = self._means(text, starts[block.start : block.stop + 1])
                self._check_finite(result[block])

        run_slices(len(result), work, threads)
        return result

    def export(self, path: str | os.PathLike[str], format: str = "fasttext", *, force: bool = False) -> None:
        """Write a file for other tools: a supervised model of fastText, which is `.ftz` by custom if it is quantised.

        What was read from such a file is written as it was.

        Raises:
            FormatError: the format cannot store this classifier.
            SettingError: the format stores no classifiers.
            OutputError: the path exists and `force` is not set, or it cannot be written.
        """
        file_format.write_classifier(self, path, format=format, force=force)

    def quantize(
        self, cutoff: int | None = None, *, dsub: int = 2, qnorm: bool = False, qout: bool = False, seed: int = 1
    ) -> "LabelPredictor":
        """A small copy of the classifier, as from `fasttext quantize`; write it with `export`.

        Rows are cut into parts of `dsub` components, and each part is replaced by the nearest of 256 centroids (product
        quantisation, Joulin et al. 2016). The same seed gives the same copy. N-grams without a row, because they are
        cut off or did not occur in training, are left out of the mean of a text.

        Arguments:
            cutoff: keep the N rows of words and n-grams with the largest norms; by default all.
            dsub: the number of components that share a code; more make the copy smaller and less accurate.
            qnorm: quantise norms apart from directions, which is more accurate and takes a byte for each row.
            qout: quantise the rows of labels too, in parts of 2 components, for thousands of labels.
            seed: of the samples that k-means starts from.

        Raises:
            SettingError: an argument is out of range, the classifier is quantised already, or it contains NaN.
        """
        dim = dense_table(self).shape[1]
        check_value("dsub", dsub, int, {"ge": 1, "le": dim})
        # Pruned first, so that centroids are those of the rows that stay.
        small = self if cutoff is None else prune(self, cutoff)
        small = replace(small, features=small.features._replace(counts_missing=False))  # as in fastText's pruned models
        inputs = quantise(dense_table(small), dsub, has_norms=qnorm, seed=seed)
        if not qout:
            return replace(small, inputs=inputs)
        output = quantise(self.output, min(2, dim), has_norms=qnorm, seed=seed)
        return replace(small, inputs=inputs, output=decode(output).table, quantised_output=output)

    def rank(
        self, text: bytes, starts: np.ndarray, k: int = 1, threshold: float = 0.0, *, threads: int | None = None,
        means: TextMeans | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """The numbers of the most probable labels and their probabilities, int64 and float64 (texts, k).

        Text i is `text[starts[i]:starts[i + 1]]`, `starts` int64 (texts + 1,). -1 and 0 stand for no label. `means` is
        from `choose_means`, which is called for the text by default. Other arguments and errors are those of `predict`.
        """
        if k != -1:  # all labels
            check_value("k", k, int, {"ge": 1})
        check_value("threshold", threshold, float, {"ge": 0, "le": 1})
        k = len(self.labels) if k == -1 else min(k, len(self.labels))
        text, starts = self._normalize(text, starts)
        ids, best = np.empty((len(starts) - 1, k), np.int64), np.empty((len(starts) - 1, k))
        means = means or self.choose_means(len(text), threads)

        def work(lines: slice) -> None:
            for block in self._blocks(lines):
                numbers, counts = self._numbers(means, text, starts[block.start : block.stop + 1])
                if self.loss == HIERARCHICAL_SOFTMAX:
                    rank_in_tree(numbers, self.output, self._children, threshold, ids[block], best[block])
                else:
                    probabilities = softmax(numbers) if self.loss == SOFTMAX else tabulated_sigmoid(numbers)
                    rank_labels(probabilities, threshold, OFFSET, ids[block], best[block])
                ids[block][counts == 0] = -1
                best[block][counts == 0] = 0
                np.minimum(best[block], 1, out=best[block])  # fastText adds an offset, and so prints 1.00001

        run_slices(len(ids), work, threads)
        return ids, best

    def _normalize(self, text: bytes, starts: np.ndarray) -> tuple[bytes, np.ndarray]:
        return (text, starts) if self.normalize is None else self.normalize(text, starts)

    def _blocks(self, lines: slice) -> Iterable[slice]:
        size = max(1, BLOCK_SCORES // len(self.labels))
        return (slice(start, min(start + size, lines.stop)) for start in range(lines.start, lines.stop, size))

    def choose_means(self, size: int, threads: int | None = None) -> TextMeans:
        """The fastest way to classify `size` more bytes of text; it depends on the sizes of previous texts, too.

        Both ways give equal scores, except for rounding.
        """
        if self.loss == HIERARCHICAL_SOFTMAX:
            return self._means
        return self._row_scores.after(size, self.features, self.inputs, self.output, threads) or self._means

    def _numbers(self, means: TextMeans, text: bytes, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores of labels, or with hierarchical softmax the means of the texts' rows, and the numbers of rows."""
        numbers, counts = means(text, starts)
        self._check_finite(numbers)
        if not means.gives_scores and self.loss != HIERARCHICAL_SOFTMAX:
            with np.errstate(over="ignore", invalid="ignore"):
                numbers = numbers @ self.output.T
            self._check_finite(numbers)
        return numbers, counts

    def _check_finite(self, numbers: np.ndarray) -> None:
        if not np.isfinite(numbers).all():
            raise FormatError(f"{self.name} is broken: its matrices contain NaN or infinity, or too large numbers")

    @cached_property
    def _means(self) -> TextMeans:
        """The means of the rows of texts."""
        return TextMeans(self.features, self._rows, self.output.shape[1])

    @cached_property
    def _rows(self) -> Rows:
        """The input matrix; decoded, which is faster, if it is quantised and small."""
        is_small = isinstance(self.inputs, QuantisedRows) and decoded_size(self.inputs) <= SMALL_BYTES
        return decode(self.inputs) if is_small else self.inputs  # type: ignore[arg-type]

    @cached_property
    def _children(self) -> np.ndarray:
        """The tree of hierarchical softmax: the children of each inner node, int64 (labels - 1, 2)."""
        labels = len(self.labels)
        self._check_finite(self.output)
        # Inner nodes follow the labels; building the tree sets their counts.
        counts = np.concatenate([self.label_counts, np.zeros(labels - 1, np.int64)])
        children = np.empty((labels - 1, 2), np.int64)
        build_tree(counts, children)
        return children

    def __repr__(self) -> str:
        return f"<LabelPredictor: {len(self.labels)} labels, {self.output.shape[1]} components>"


def encode_texts(texts: Iterable[str]) -> tuple[bytes, np.ndarray]:
    """All texts as UTF-8, and where each begins, int64 (texts + 1,); nulls are empty texts."""
    texts = ["" if is_null(text) else text for text in check_list("texts", texts)]
    if invalid := next((text for text in texts if not isinstance(text, str)), None):
        raise SettingError(f"texts must be strings, got {invalid!r:.40}, of type {type(invalid).__name__}")
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError:  # a lone surrogate
        encoded = [to_bytes(text) for text in texts]
    return b"".join(encoded), starts_of(encoded)


def texts_at_a_time(k: int, labels: int) -> int:
    """The number of texts in a batch of predictions of k labels, so that memory is bounded."""
    return max(1, MAX_PREDICTIONS // (k if 0 < k < labels else labels))


def prune(classifier: LabelPredictor, cutoff: int) -> LabelPredictor:
    """Keep the `cutoff` rows of words and n-grams with the largest norms, and the row of `</s>`.

    N-grams without a row are left out of the mean of a text. Without a row of any n-gram, there are no n-grams.
    """
    check_value("cutoff", cutoff, int, {"ge": 1})
    table, features = dense_table(classifier), classifier.features
    if cutoff >= len(table):
        return classifier
    norms, line_end = row_norms(table), line_end_row(classifier)
    if line_end >= 0:
        # As in fastText: otherwise a text may have no row at all.
        norms[line_end] = np.inf
    # In the order of the file, since words must stay before n-grams.
    rows = np.sort(np.argsort(-norms, kind="stable")[:cutoff])
    words, ngrams = rows[rows < features.words], rows[rows >= features.words] - features.words
    # Without pruning, row n after the words is that of bucket n.
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


def dense_table(classifier: LabelPredictor) -> np.ndarray:
    """The rows of words and n-grams; refuses quantised ones."""
    if isinstance(classifier.inputs, DenseRows):
        return classifier.inputs.table
    raise SettingError(f"{classifier.name} is quantised already; use the model it was made from")


def line_end_row(classifier: LabelPredictor) -> int:
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
