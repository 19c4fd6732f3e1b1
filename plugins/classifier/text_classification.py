"""The classifier of fastText (Joulin et al. 2017): a linear model of labels on the mean of the rows of a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.label_encoding import PREFIXED, TextLabels, corpus_labels
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.noise_sampling import alias_table
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.models.classifier import Classifier
from embeddings.models.model import Model
from embeddings.models.model_files import INPUTS
from embeddings.models.parameters import VECTORS, Arrays, fill_random_rows
from embeddings.models.table import Table
from embeddings.models.text_settings import LABEL_PREFIX
from embeddings.objectives.objective import Objective
from embeddings.plugins.classifier.classifier_settings import HIERARCHICAL_SOFTMAX, ClassifierSettings
from embeddings.plugins.classifier.continued_classifier import PreviousClassifier
from embeddings.plugins.classifier.label_objectives import NOISE_EXPONENT, new_label_objective
from embeddings.plugins.classifier.learn_texts import TILE, Operands, learn_texts
from embeddings.plugins.classifier.saved_classifier import (
    NGRAM_BUCKETS,
    OUTPUT,
    output_rows,
    saved_classifier,
)
from embeddings.plugins.classifier.text_stream import LabelSource, TextStream
from embeddings.plugins.classifier.training_features import TextFeatures, check_known_words, read_only, text_features
from embeddings.support.logs import log
from embeddings.training.plan import Plan
from embeddings.training.saved_tables import recorded_settings
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData


@dataclass(frozen=True, kw_only=True)
class TextClassification(Trainer, ClassifierSettings):
    """Text classifier like fastText's: predicts labels from words and n-grams. Reads texts with labels."""

    trainer_name = "classifier"
    tokenizer = "ascii-whitespace"
    case = "keep"
    reads_labels = True
    precompile_settings: ClassVar[Mapping[str, Any]] = {"word_ngrams": 2, "min_n": 1, "max_n": 2}
    fixed_settings = ("dim", "word_ngrams", "min_n", "max_n", "buckets")

    @property
    def can_continue(self) -> bool:
        """Whether a model can be trained further; a tree of labels depends on their counts."""
        return self.objective != HIERARCHICAL_SOFTMAX

    def extend_corpus(self, model: Model, encoded: EncodedCorpus) -> EncodedCorpus:
        """The new text as it is: rare words are part of n-grams."""
        return encoded

    @staticmethod
    def predictor(model: Model) -> Classifier:
        """The classifier of a trained model."""
        return saved_classifier(recorded_settings(TextClassification, model), model)

    def plan(self, data: TrainingData) -> Plan:
        """A model with the table "inputs" (words + n-grams, dim), whose first rows are the vectors.

        Also "output" (labels, dim), and "ngram_buckets" (n-grams,), the hash bucket of each n-gram.
        """
        check_known_words(data.encoded)
        continued = data.run_options.continued
        old = None if continued is None else PreviousClassifier.of(continued, self)
        labels = self.text_labels(data, old)
        texts = labelled_texts(labels)
        starts, ids = read_only(np.append(labels.starts[texts], len(labels.ids))), read_only(labels.ids)
        features = self.text_features(data, texts, old)
        objective = new_label_objective(self, labels.vocabulary, starts, ids)
        noise = new_noise(labels.vocabulary) if self.negative_count else np.empty(0, np.uint64)
        weights = self.text_weights(starts, ids)
        source = LabelSource(np.arange(len(texts)), starts, ids, noise)
        tables = self.tables(features, objective, old)

        def operands(arrays: Arrays) -> Operands:
            return new_operands(features, arrays[INPUTS], objective.operand(arrays))

        def export(arrays: Arrays) -> Arrays:
            return self.saved_arrays(features, {name: table.unpad(arrays[name]) for name, table in tables.items()})

        return Plan(
            tables=tables,
            stream=TextStream(source, self.negative_count, weights),
            kernel=learn_texts,
            operands=operands,
            buffers=lambda: new_step_buffers(1, objective.max_targets, padded(self.dim), contexts=TILE, rows=2),
            word_table=INPUTS,
            export=export,
            vocabulary=features.vocabulary,
            labels=labels.vocabulary,
            record={LABEL_PREFIX: label_prefix(data)} if old is None else old.record(labels.vocabulary),
            loss_is_estimate=objective.estimates_loss,
        )

    def text_labels(self, data: TrainingData, old: PreviousClassifier | None) -> TextLabels:
        """The labels of the texts."""
        if old is not None:
            return old.extend_labels(corpus_labels(data.encoded, self.min_label_count, old.labels.words))
        return corpus_labels(data.encoded, self.min_label_count)

    def text_features(self, data: TrainingData, texts: np.ndarray, old: PreviousClassifier | None) -> TextFeatures:
        """The features of some texts."""
        if old is not None:
            return old.extend_features(self, data.encoded, texts)
        return text_features(self, data.encoded, data.vocabulary, texts, line_ends=data.encoded.meta["documents"])

    def tables(self, features: TextFeatures, objective: Objective, old: PreviousClassifier | None) -> dict[str, Table]:
        """The rows of words, then of n-grams, which start at zero, as if they were unknown; and those of labels."""
        words = len(features.vocabulary)

        def initialize(table: np.ndarray, dim: int, seed: int) -> None:
            fill_random_rows(table[:words], dim, seed)

        rows = words + len(features.ngram_buckets)
        inputs = Table(rows=rows, dim=self.dim, axis="subwords", init=initialize, on_continue="restart")
        tables = {INPUTS: inputs, **objective.tables()}
        return tables if old is None else old.copy_rows(tables, features, objective.vocabulary)

    def saved_arrays(self, features: TextFeatures, arrays: Arrays) -> Arrays:
        """The arrays to save, from the tables without padding."""
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


def label_prefix(data: TrainingData) -> str:
    """The prefix of labels in the text; empty if they came from tables."""
    meta = data.encoded.meta
    return str(meta["settings"]["labels"]["prefix"]) if meta.get(PREFIXED) else ""


def new_noise(labels: Vocabulary) -> np.ndarray:
    """The alias table of negative samples."""
    return alias_table(labels.noise_weights(NOISE_EXPONENT))


def new_operands(features: TextFeatures, inputs: np.ndarray, objective: Any) -> Operands:
    """What one thread works on."""
    items = features.items, features.starts, features.subword_starts, features.subword_rows
    return Operands(inputs, *items, separate_zeros(3, np.int64), objective)
