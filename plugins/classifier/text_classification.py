"""The classifier of fastText (Joulin et al. 2017): a linear model of labels on the mean of the rows of a text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from embeddings.classifier.classifier import LabelPredictor
from embeddings.classifier.classifier_settings import HIERARCHICAL_SOFTMAX, ClassifierSettings
from embeddings.classifier.saved_classifier import (
    NGRAM_BUCKETS,
    OUTPUT,
    check_tables,
    output_rows,
    saved_classifier,
)
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.label_encoding import PREFIXED, TextLabels, corpus_labels
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import read_only, separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.models.model import Model
from embeddings.models.model_files import INPUTS
from embeddings.models.table import VECTORS, Arrays, Initializer, Table, uniform
from embeddings.models.text_settings import LABEL_PREFIX, label_prefix
from embeddings.objectives.objective import Objective
from embeddings.plugins.classifier.learn_texts import (
    NOISE_EXPONENT,
    TILE,
    ClassifierOperands,
    LabelSource,
    TextStream,
    learn_texts,
    new_label_objective,
)
from embeddings.plugins.classifier.training_features import (
    LINE_END_WORD,
    TextFeatures,
    check_known_words,
    text_features,
)
from embeddings.support.logs import log
from embeddings.training.continued_training import extend_vocabulary, rows_in
from embeddings.training.plan import Plan
from embeddings.training.run import NOTES
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData


@dataclass(frozen=True)
class PreviousClassifier:
    """The classifier that continued training starts from.

    Arguments:
        words: its vocabulary; the count of `</s>` is the number of texts.
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
    def of(cls, model: Model, settings: ClassifierSettings) -> Self:
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
        """The labels of new texts, as rows of the union of previous and new labels, with added counts."""
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
        """The features of texts, with rows for all words and n-grams, previous and new."""
        min_count, max_vocab = settings.min_count, settings.max_vocab
        words = extend_vocabulary(self.words, encoded.vocabulary, min_count=min_count, max_vocab=max_vocab)
        line_ends = encoded.meta["documents"] + int(self.words.counts[self.words.index(LINE_END_WORD)])
        return text_features(settings, encoded, words, texts, line_ends=line_ends, known_buckets=self.buckets)

    def continued_tables(
        self, tables: Mapping[str, Table], features: TextFeatures, labels: Vocabulary
    ) -> dict[str, Table]:
        """The tables `inputs` and `output`, in this order, initialised with the rows of the previous classifier."""
        rows = self.input_rows(features), rows_in(self.labels, labels)
        starts = zip(tables.items(), (self.inputs, self.output), rows, strict=True)
        return {
            name: replace(table, init=copying_initializer(matrix, previous_rows, table.init), on_continue="restart")
            for (name, table), matrix, previous_rows in starts
        }

    def input_rows(self, features: TextFeatures) -> np.ndarray:
        """The previous row of each word and n-gram, -1 for new ones."""
        words = rows_in(self.words, features.vocabulary)
        _, previous_ngrams, new_ngrams = np.intersect1d(self.buckets, features.ngram_buckets, return_indices=True)
        ngrams = np.full(len(features.ngram_buckets), -1)
        ngrams[new_ngrams] = len(self.words) + previous_ngrams
        return np.concatenate([words, ngrams])


def copying_initializer(source: np.ndarray, rows: np.ndarray, initialize: Initializer | None) -> Initializer:
    """An initialiser that copies rows (n,) of a matrix; where the row is -1, it sets the usual initial values."""

    def copy(table: np.ndarray, dim: int, seed: int) -> None:
        if initialize is not None:
            initialize(table, dim, seed)
        targets = np.flatnonzero(rows >= 0)
        table[targets, :dim] = source[rows[targets]]

    return copy


@dataclass(frozen=True, kw_only=True)
class TextClassification(Trainer, ClassifierSettings):
    """Text classifier like fastText's: predicts labels from words and n-grams. Reads texts with labels."""

    trainer_name = "classifier"
    tokenizer = "ascii-whitespace"
    case = "keep"
    reads_labels = True
    precompile_settings: ClassVar[Mapping[str, Any]] = {"word_ngrams": 2, "min_n": 1, "max_n": 2}
    fixed_settings = ("dim", "objective", "word_ngrams", "min_n", "max_n", "buckets")

    @property
    def can_continue(self) -> bool:
        """Whether a model can be trained further; a tree of labels depends on their counts."""
        return self.objective != HIERARCHICAL_SOFTMAX

    def extend_corpus(self, model: Model, encoded: EncodedCorpus) -> EncodedCorpus:
        """Return the corpus unchanged: rare words are part of word n-grams."""
        return encoded

    @staticmethod
    def predictor(model: Model) -> LabelPredictor:
        """The classifier of a trained model."""
        return saved_classifier(model)

    def plan(self, data: TrainingData) -> Plan:
        """A model with the table "inputs" (words + n-grams, dim), whose first rows are the vectors.

        Also "output" (labels, dim), and "ngram_buckets" (n-grams,), the hash bucket of each n-gram.
        """
        check_known_words(data.encoded)
        continued = data.run_options.continued
        previous = None if continued is None else PreviousClassifier.of(continued, self)
        labels = self.text_labels(data, previous)
        texts = labelled_texts(labels)
        starts, ids = read_only(np.append(labels.starts[texts], len(labels.ids))), read_only(labels.ids)
        features = self.text_features(data, texts, previous)
        objective = new_label_objective(self, labels.vocabulary, starts, ids)
        noise = np.empty(0, np.uint64)
        if self.negative_count:
            noise = alias_table(labels.vocabulary.noise_weights(NOISE_EXPONENT))
        source = LabelSource(np.arange(len(texts)), starts, ids, noise)
        items = features.items, features.starts, features.subword_starts, features.subword_rows

        def operands(arrays: Arrays) -> ClassifierOperands:
            return ClassifierOperands(arrays[INPUTS], *items, separate_zeros(3, np.int64), objective.operand(arrays))

        return Plan(
            tables=self.tables(features, objective, previous),
            stream=TextStream(source, self.negative_count, self.text_weights(starts, ids)),
            kernel=learn_texts,
            operands=operands,
            buffers=lambda: new_step_buffers(1, objective.max_targets, padded(self.dim), contexts=TILE, rows=2),
            word_table=INPUTS,
            export=lambda arrays: self.export(features, arrays),
            vocabulary=features.vocabulary,
            labels=labels.vocabulary,
            record={LABEL_PREFIX: corpus_label_prefix(data)}
            if previous is None
            else previous.record(labels.vocabulary),
            loss_is_estimate=objective.estimates_loss,
        )

    def text_labels(self, data: TrainingData, previous: PreviousClassifier | None) -> TextLabels:
        """The labels of the texts."""
        if previous is not None:
            return previous.extend_labels(corpus_labels(data.encoded, self.min_label_count, previous.labels.words))
        return corpus_labels(data.encoded, self.min_label_count)

    def text_features(self, data: TrainingData, texts: np.ndarray, previous: PreviousClassifier | None) -> TextFeatures:
        """The features of some texts."""
        if previous is not None:
            return previous.extend_features(self, data.encoded, texts)
        return text_features(self, data.encoded, data.vocabulary, texts, line_ends=data.encoded.meta["documents"])

    def tables(
        self, features: TextFeatures, objective: Objective, previous: PreviousClassifier | None
    ) -> dict[str, Table]:
        """The table `inputs`, of words and then n-grams, which start at zero, and the tables of the objective."""
        words = len(features.vocabulary)

        def initialize(table: np.ndarray, dim: int, seed: int) -> None:
            uniform(table[:words], dim, seed)

        rows = words + len(features.ngram_buckets)
        inputs = Table(rows=rows, dim=self.dim, axis="subwords", init=initialize, on_continue="restart")
        tables = {INPUTS: inputs, **objective.tables()}
        return tables if previous is None else previous.continued_tables(tables, features, objective.vocabulary)

    def export(self, features: TextFeatures, arrays: Arrays) -> Arrays:
        """The arrays to save."""
        inputs = arrays.pop(INPUTS)
        (output,) = arrays.values()
        ngrams = {NGRAM_BUCKETS: features.ngram_buckets} if self.has_ngrams else {}
        vectors = inputs[: len(features.vocabulary)]
        return {VECTORS: vectors, INPUTS: inputs, OUTPUT: output_rows(self.objective, output), **ngrams}

    def text_weights(self, starts: np.ndarray, ids: np.ndarray) -> np.ndarray | None:
        """How often each text is read, float64 (texts,): the mean of 1 / count over its labels; None for once."""
        if self.class_weights == "none":
            return None
        return np.asarray(np.add.reduceat(1 / np.bincount(ids)[ids], starts[:-1]) / np.diff(starts))


def labelled_texts(labels: TextLabels) -> np.ndarray:
    """The numbers of the texts with labels."""
    texts = np.flatnonzero(np.diff(labels.starts))
    without = len(labels.starts) - 1 - len(texts)
    if without:
        log.warning("%s of %s texts have no label and are skipped", f"{without:,}", f"{len(labels.starts) - 1:,}")
    return texts


def corpus_label_prefix(data: TrainingData) -> str:
    """The prefix of labels in the text; empty if they came from tables."""
    meta = data.encoded.meta
    return str(meta["settings"]["labels"]["prefix"]) if meta.get(PREFIXED) else ""
