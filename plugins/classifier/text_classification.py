"""The classifier of fastText (Joulin et al. 2017), a linear model of labels, and its retraining."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from embeddings.classifier.classifier import LabelPredictor, TextNormalizer, buckets_of_rows, prune
from embeddings.classifier.classifier_settings import HIERARCHICAL_SOFTMAX, ClassifierSettings
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.documents import PREFIXED, TextLabels, corpus_labels
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.encodings import DecodingPolicy
from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.kernels.matrix_rows import DenseRows
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import read_only, separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.models.model import Model
from embeddings.models.model_files import INPUTS
from embeddings.models.saved_classifier import (
    LOSSES,
    NGRAM_BUCKETS,
    OUTPUT,
    check_tables,
    output_rows,
    saved_classifier,
)
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
    NO_BUCKETS,
    TextFeatures,
    check_known_words,
    text_features,
)
from embeddings.setting_names import WORD_SETTINGS
from embeddings.support.logs import log
from embeddings.support.progress_display import ProgressOption
from embeddings.training.continued_training import extend_vocabulary, rows_in
from embeddings.training.plan import Plan
from embeddings.training.run import NOTES
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData


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
    text_pool = "mean"
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
        previous = data.run_options.continued
        if previous is not None:
            check_tables(previous, self, previous_buckets(previous))
        labels = self.text_labels(data, previous)
        counts = np.diff(labels.starts)
        texts = np.flatnonzero(counts)
        if len(texts) < len(counts):
            without = f"{len(counts) - len(texts):,}"
            log.warning("%s of %s texts have no label and are skipped", without, f"{len(counts):,}")
        starts, ids = read_only(np.append(labels.starts[texts], len(labels.ids))), read_only(labels.ids)
        features = self.text_features(data, texts, previous)
        objective = new_label_objective(self, labels.vocabulary, starts, ids)
        meta = data.encoded.meta
        record: dict[str, Any] = {LABEL_PREFIX: str(meta["settings"]["labels"]["prefix"]) if meta.get(PREFIXED) else ""}
        if previous is not None and previous.labels is not None:
            old, new = len(previous.labels), len(labels.vocabulary) - len(previous.labels)
            notes = [f"{old:,} labels continue from the model, {new:,} are new"]
            record = {LABEL_PREFIX: label_prefix(previous), NOTES: notes}
        weights = np.empty(0)  # how often each text is read: the mean of 1 / count over its labels
        if self.class_weights == "balanced":
            weights = np.add.reduceat(1 / np.bincount(ids)[ids], starts[:-1]) / np.diff(starts)
        noise = np.empty(0, np.uint64)
        if self.negative_count:
            noise = alias_table(labels.vocabulary.noise_weights(NOISE_EXPONENT))
        source = LabelSource(np.arange(len(texts)), starts, ids, noise)
        items = features.items, features.starts, features.subword_starts, features.subword_rows

        def operands(arrays: Arrays) -> ClassifierOperands:
            return ClassifierOperands(arrays[INPUTS], *items, separate_zeros(3, np.int64), objective.operand(arrays))

        return Plan(
            tables=self.tables(features, objective, previous),
            stream=TextStream(source, self.negative_count, np.cumsum(weights)),
            kernel=learn_texts,
            operands=operands,
            buffers=lambda: new_step_buffers(1, objective.max_targets, padded(self.dim), contexts=TILE, rows=2),
            word_table=INPUTS,
            export=lambda arrays: self.export(features, arrays),
            vocabulary=features.vocabulary,
            labels=labels.vocabulary,
            record=record,
            loss_is_estimate=objective.estimates_loss,
        )

    def text_labels(self, data: TrainingData, previous: Model | None) -> TextLabels:
        """The labels of the texts, as rows of the union of the previous labels and the new ones, with added counts."""
        if previous is None or previous.labels is None:
            return corpus_labels(data.encoded, self.min_label_count)
        labels = corpus_labels(data.encoded, self.min_label_count, previous.labels.words)
        everything = extend_vocabulary(previous.labels, labels.vocabulary, min_count=1, max_vocab=None)
        return TextLabels(everything, labels.starts, rows_in(everything, labels.vocabulary)[labels.ids])

    def text_features(self, data: TrainingData, texts: np.ndarray, previous: Model | None) -> TextFeatures:
        """The features of some texts, with rows for all words and n-grams, previous and new."""
        words, line_ends, buckets = data.vocabulary, data.encoded.meta["documents"], NO_BUCKETS
        if previous is not None:
            old, new = previous.vocabulary, data.encoded.vocabulary
            words = extend_vocabulary(old, new, min_count=self.min_count, max_vocab=self.max_vocab)
            line_ends += int(old.counts[old.index(LINE_END_WORD)])
            buckets = previous_buckets(previous)
        return text_features(self, data.encoded, words, texts, line_ends=line_ends, known_buckets=buckets)

    def tables(self, features: TextFeatures, objective: Objective, previous: Model | None) -> dict[str, Table]:
        """The table `inputs`, of words and then n-grams, which start at zero, and the tables of the objective."""
        words = len(features.vocabulary)

        def initialize(table: np.ndarray, dim: int, seed: int) -> None:
            uniform(table[:words], dim, seed)

        rows = words + len(features.ngram_buckets)
        inputs = Table(rows=rows, dim=self.dim, axis="subwords", init=initialize, on_continue="restart")
        tables = {INPUTS: inputs, **objective.tables()}
        if previous is None or previous.labels is None:
            return tables
        # Rows of n-grams are in order of frequency, which the new text has changed: they are found by their buckets.
        _, old, new = np.intersect1d(previous_buckets(previous), features.ngram_buckets, return_indices=True)
        old_rows = np.concatenate([rows_in(previous.vocabulary, features.vocabulary), np.full(rows - words, -1)])
        old_rows[words + new] = len(previous.vocabulary) + old
        starts = {INPUTS: old_rows, OUTPUT: rows_in(previous.labels, objective.vocabulary)}
        return {
            name: replace(
                table, init=copying_initializer(previous.tables[saved], of_rows, table.init), on_continue="restart"
            )
            for (name, table), (saved, of_rows) in zip(tables.items(), starts.items(), strict=True)
        }

    def export(self, features: TextFeatures, arrays: Arrays) -> Arrays:
        """The arrays to save."""
        inputs = arrays.pop(INPUTS)
        (output,) = arrays.values()
        ngrams = {NGRAM_BUCKETS: features.ngram_buckets} if self.has_ngrams else {}
        vectors = inputs[: len(features.vocabulary)]
        return {VECTORS: vectors, INPUTS: inputs, OUTPUT: output_rows(self.objective, output), **ngrams}


def previous_buckets(model: Model) -> np.ndarray:
    """The hash bucket of each n-gram of a model, int32 (n-grams,)."""
    return np.asarray(model.tables.get(NGRAM_BUCKETS, NO_BUCKETS))


Texts = Corpus | str | os.PathLike[str] | Iterable[Any]


def retrain(
    classifier: "LabelPredictor | Model", texts: Texts, cutoff: int, *, epochs: int = 5, learning_rate: float = 0.05,
    seed: int = 1, threads: int | None = None, progress: ProgressOption = None,
) -> LabelPredictor:  # fmt: skip
    """A classifier with fewer rows of words and n-grams, trained further to make up for those that are cut off.

    Arguments:
        classifier: the classifier, or its model, which is not changed.
        texts: labelled texts, by custom those of the training. Unless it is a `Corpus`, its words are split as in the
            training of the classifier.
        cutoff: as for `LabelPredictor.quantize`, which may follow.
        epochs, learning_rate, seed: of this training, by default as in fastText.
        threads: by default all cores; single-threaded runs are bit-reproducible.
        progress: of this training, as for `Trainer.train`.

    Raises:
        SettingError: an argument is out of range, the classifier is quantised, or the texts have no label of it.
        CorpusError: the texts cannot be read.
    """
    classifier = classifier.classifier if isinstance(classifier, Model) else classifier
    small = prune(classifier, cutoff)
    features = small.features
    has_ngrams = features.word_ngrams > 1 or features.max_n > 0
    trainer = retraining(small)(
        dim=small.output.shape[1],
        epochs=epochs,
        learning_rate=learning_rate,
        word_ngrams=features.word_ngrams,
        min_n=features.min_n,
        max_n=features.max_n,
        buckets=features.buckets if has_ngrams else None,
        objective={loss: name for name, loss in LOSSES.items()}[small.loss],
    )
    model = trainer.train(labelled_corpus(small, texts), threads=threads, seed=seed, progress=progress)
    return replace(small, inputs=DenseRows(model.tables[INPUTS]), output=model.tables[OUTPUT], quantised_output=None)


def labelled_corpus(classifier: LabelPredictor, texts: Texts, encoding_errors: DecodingPolicy = "strict") -> Corpus:
    """Texts whose words are split as in the training of a classifier."""
    if isinstance(texts, Corpus):
        return texts
    words: dict[str, Any] = {"tokenizer": TextClassification.tokenizer, "case": TextClassification.case}
    if isinstance(classifier.normalize, TextNormalizer):
        rules = classifier.normalize.rules
        words = {name: getattr(rules, name) for name in WORD_SETTINGS}
    return Corpus(texts, **words, encoding_errors=encoding_errors, labels=LabelFormat())


def retraining(classifier: LabelPredictor) -> type[TextClassification]:
    """A trainer that starts from the rows of a classifier, and learns no others."""

    class Retraining(TextClassification):
        def text_labels(self, data: TrainingData, previous: Model | None) -> TextLabels:
            labels = corpus_labels(data.encoded, self.min_label_count)
            numbers = {name.removeprefix(PREFIX): number for number, name in enumerate(classifier.labels)}
            rows = np.array([numbers.get(name, -1) for name in labels.vocabulary.words], np.int64)[labels.ids]
            known = np.append(0, np.cumsum(rows >= 0))
            if not known[-1]:
                problem = "the texts have no label that the classifier has"
                raise SettingError(f"{problem}; retrain it on the texts of its training")
            vocabulary = Vocabulary(list(numbers), classifier.label_counts)
            return TextLabels(vocabulary, known[labels.starts], rows[rows >= 0])

        def text_features(self, data: TrainingData, texts: np.ndarray, previous: Model | None) -> TextFeatures:
            return known_features(super().text_features(data, texts, previous), classifier)

        def tables(self, features: TextFeatures, objective: Objective, previous: Model | None) -> dict[str, Table]:
            inputs, output = super().tables(features, objective, previous).items()
            matrix = classifier.output
            if self.objective == HIERARCHICAL_SOFTMAX:
                matrix = output_rows(HIERARCHICAL_SOFTMAX, matrix[: output[1].rows])[:-1]
            starts = (inputs, classifier.inputs.table), (output, matrix)
            return {
                name: replace(table, init=copying_initializer(matrix, np.arange(len(matrix)), None))
                for (name, table), matrix in starts
            }

    return Retraining


def known_features(features: TextFeatures, classifier: LabelPredictor) -> TextFeatures:
    """The features of texts that have rows in a classifier, as its rows."""
    own = classifier.features
    text, starts = own.text.tobytes(), own.starts.tolist()
    words = {text[starts[row] : starts[row + 1]]: row for row in range(own.words)}
    row_of_bucket = np.full(own.buckets, -1, np.int32)
    if classifier.bucket_rows is None:
        row_of_bucket[:] = own.words + np.arange(own.buckets)
    else:
        buckets = buckets_of_rows(classifier.bucket_rows)
        row_of_bucket[buckets] = own.words + np.arange(len(buckets))
    old_words = [words.get(word.encode("utf-8", "surrogatepass"), -1) for word in features.vocabulary.words]
    rows = np.concatenate([np.array(old_words, np.int32), row_of_bucket[features.ngram_buckets]])
    subwords, subword_starts = select_rows(features.subword_rows, features.subword_starts, rows)
    items, item_starts = select_rows(features.items, features.starts, rows, has_types=len(subwords) > 0)
    if (np.diff(item_starts) == 0).any():
        raise SettingError("the classifier has no row for </s>, so that some texts would have no row at all")
    numbers = Vocabulary(map(str, range(own.words)), np.ones(own.words, np.int64))  # only rows are used
    kept = np.flatnonzero(row_of_bucket >= 0).astype(np.int32)
    return TextFeatures(numbers, *map(read_only, (items, item_starts, subword_starts, subwords, kept)))


def select_rows(
    items: np.ndarray, starts: np.ndarray, rows: np.ndarray, *, has_types: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Replace the row numbers in items, drop items whose row is now -1; returns the items and where each text begins.

    Negative items stand for the rows of a type; they are kept if `has_types`.
    """
    is_row = items >= 0
    new = np.where(is_row, rows[np.where(is_row, items, 0)], items).astype(np.int32)
    keep = np.where(is_row, new >= 0, has_types)
    return new[keep], np.append(0, np.cumsum(keep))[starts]
