"""Continued training of a classifier: old words, n-grams and labels keep their rows, and new ones are added."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.label_encoding import TextLabels
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.models.model_files import INPUTS
from embeddings.models.table import Table
from embeddings.models.text_settings import LABEL_PREFIX, label_prefix
from embeddings.plugins.classifier.classifier_settings import ClassifierSettings
from embeddings.plugins.classifier.saved_classifier import NGRAM_BUCKETS, OUTPUT, check_tables
from embeddings.plugins.classifier.training_features import LINE_END_WORD, TextFeatures, text_features
from embeddings.training.continued_training import extend_vocabulary, rows_in
from embeddings.training.result import NOTES

if TYPE_CHECKING:
    from embeddings.models.model import Model

Initialize = Callable[[np.ndarray, int, int], None]


@dataclass(frozen=True)
class PreviousClassifier:
    """What a run starts from.

    Arguments:
        words: its words, with `</s>`, which has the number of texts as its count.
        labels: its labels.
        prefix: the prefix of labels in its text.
        buckets: int32 (n-grams,), the hash bucket of each n-gram.
        inputs: float32 (words + n-grams, dim). output: float32 (labels, dim).
    """

    words: Vocabulary
    labels: Vocabulary
    prefix: str
    buckets: np.ndarray
    inputs: np.ndarray
    output: np.ndarray

    @classmethod
    def of(cls, model: "Model", settings: ClassifierSettings) -> Self:
        """The classifier of a model.

        Raises:
            FormatError: a table or the labels are missing or broken.
        """
        if model.labels is None or LINE_END_WORD not in model.vocabulary:
            raise FormatError(f"the {model.name} model is broken: it has no labels, or no word {LINE_END_WORD}")
        buckets = np.asarray(model.tables.get(NGRAM_BUCKETS, np.empty(0, np.int32)))
        check_tables(model, settings, buckets)
        inputs, output = model.tables[INPUTS], model.tables[OUTPUT]
        return cls(model.vocabulary, model.labels, label_prefix(model), buckets, inputs, output)

    def extend_labels(self, labels: TextLabels) -> TextLabels:
        """The labels of texts, as rows of all labels, old and new, with added counts."""
        everything = extend_vocabulary(self.labels, labels.vocabulary, min_count=1, max_vocab=None)
        return TextLabels(everything, labels.starts, rows_in(everything, labels.vocabulary)[labels.ids])

    def record(self, labels: Vocabulary) -> dict[str, Any]:
        """What a model with these labels records."""
        new = len(labels) - len(self.labels)
        return {
            LABEL_PREFIX: self.prefix,
            NOTES: [f"{len(self.labels):,} labels continue from the model, {new:,} are new"],
        }

    def extend_features(self, settings: ClassifierSettings, encoded: EncodedCorpus, texts: np.ndarray) -> TextFeatures:
        """The features of texts, with rows for all words and n-grams, old and new."""
        min_count, max_vocab = settings.min_count, settings.max_vocab
        words = extend_vocabulary(self.words, encoded.vocabulary, min_count=min_count, max_vocab=max_vocab)
        line_ends = encoded.meta["documents"] + int(self.words.counts[self.words.index(LINE_END_WORD)])
        return text_features(settings, encoded, words, texts, line_ends=line_ends, known_buckets=self.buckets)

    def copy_rows(self, tables: Mapping[str, Table], features: TextFeatures, labels: Vocabulary) -> dict[str, Table]:
        """Tables of inputs and of labels, in this order, that start with the rows of old ones."""
        rows = self.input_rows(features), rows_in(self.labels, labels)
        starts = zip(tables.items(), (self.inputs, self.output), rows, strict=True)
        return {
            name: replace(table, init=copy_rows(matrix, old_rows, table.init), on_continue="restart")
            for (name, table), matrix, old_rows in starts
        }

    def input_rows(self, features: TextFeatures) -> np.ndarray:
        """The old row of each word and n-gram, -1 for new ones."""
        words = rows_in(self.words, features.vocabulary)
        row_of_bucket = np.full(int(max(self.buckets.max(initial=0), features.ngram_buckets.max(initial=0))) + 1, -1)
        row_of_bucket[self.buckets] = len(self.words) + np.arange(len(self.buckets))
        return np.concatenate([words, row_of_bucket[features.ngram_buckets]])


def copy_rows(source: np.ndarray, rows: np.ndarray, initialize: Initialize | None) -> Initialize:
    """An initialiser that copies rows (n,) of a matrix; where the row is -1, it sets the usual initial values."""

    def copy(table: np.ndarray, dim: int, seed: int) -> None:
        if initialize is not None:
            initialize(table, dim, seed)
        targets = np.flatnonzero(rows >= 0)
        table[targets, :dim] = source[rows[targets]]

    return copy
