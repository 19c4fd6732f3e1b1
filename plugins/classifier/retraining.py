"""Trains the rows of a classifier further, on labelled texts, and makes it small."""

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from embeddings.classifier.classifier import LabelPredictor, TextNormalizer
from embeddings.classifier.classifier_settings import HIERARCHICAL_SOFTMAX
from embeddings.classifier.quantisation import buckets_of_rows, prune
from embeddings.classifier.saved_classifier import LOSSES, OUTPUT, output_rows
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.documents import TextLabels, corpus_labels
from embeddings.corpora.reading.encodings import DecodingPolicy
from embeddings.corpora.reading.labelled_texts import PREFIX, LabelFormat
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import S, SettingError
from embeddings.kernels.matrix_rows import DenseRows
from embeddings.kernels.separate_arrays import read_only
from embeddings.models.model import Model
from embeddings.models.model_files import INPUTS
from embeddings.models.table import Table
from embeddings.objectives.objective import Objective
from embeddings.plugins.classifier.text_classification import TextClassification, copying_initializer
from embeddings.plugins.classifier.training_features import TextFeatures
from embeddings.setting_names import WORD_SETTINGS
from embeddings.settings import Positive
from embeddings.support.progress_display import ProgressOption
from embeddings.training.training_data import TrainingData

EPOCHS, LEARNING_RATE = 5, 0.05  # as in fastText
Texts = Corpus | str | os.PathLike[str] | Iterable[Any]


def quantize(
    classifier: LabelPredictor, cutoff: Positive | None = None, *, retrain: Texts | None = None, epochs: int = EPOCHS,
    learning_rate: float = LEARNING_RATE, dsub: Positive = 2, qnorm: bool = False, qout: bool = False, seed: int = 1,
    threads: int | None = None, progress: ProgressOption = None,
) -> LabelPredictor:  # fmt: skip
    """A small copy of a classifier, whose rows can be trained further after the others are cut off.

    Arguments:
        classifier: the classifier, which is not changed.
        cutoff, dsub, qnorm, qout, seed: those of `LabelPredictor.quantize`.
        retrain: labelled texts, by custom those of the training; requires `cutoff`. Unless it is a `Corpus`, its words
            are split as in the training of the classifier.
        epochs, learning_rate: of this training.
        threads: by default all cores; single-threaded runs are bit-reproducible.
        progress: of this training, as for `Trainer.train`.

    Raises:
        SettingError: an argument is out of range, or the classifier is quantised already.
        CorpusError: the texts cannot be read, or have no label of the classifier.
    """
    given: Any = classifier
    if not isinstance(given, LabelPredictor):
        expected = "a classifier, such as model.classifier or embeddings.load_classifier(path)"
        raise SettingError(f"classifier must be {expected}, got {given!r:.80}")
    if retrain is None:
        return classifier.quantize(cutoff, dsub=dsub, qnorm=qnorm, qout=qout, seed=seed)
    if cutoff is None:
        raise SettingError(f"{S.retrain} requires {S.cutoff}: without it there is nothing to make up for")
    small = retrained(
        prune(classifier, cutoff), retrain, epochs=epochs, learning_rate=learning_rate, seed=seed, threads=threads,
        progress=progress,
    )  # fmt: skip
    return small.quantize(dsub=dsub, qnorm=qnorm, qout=qout, seed=seed)


def retrained(
    classifier: LabelPredictor, texts: Texts, *, epochs: int, learning_rate: float, seed: int, threads: int | None,
    progress: ProgressOption,
) -> LabelPredictor:  # fmt: skip
    """A classifier with the same words, n-grams and labels, whose rows are trained further."""
    features = classifier.features
    has_ngrams = features.word_ngrams > 1 or features.max_n > 0
    trainer = retraining(classifier)(
        dim=classifier.output.shape[1],
        epochs=epochs,
        learning_rate=learning_rate,
        word_ngrams=features.word_ngrams,
        min_n=features.min_n,
        max_n=features.max_n,
        buckets=features.buckets if has_ngrams else None,
        objective={loss: name for name, loss in LOSSES.items()}[classifier.loss],
    )
    text = labelled_corpus(classifier, texts)
    model = trainer.train(text, threads=threads, seed=seed, progress=progress)
    return replace(
        classifier, inputs=DenseRows(model.tables[INPUTS]), output=model.tables[OUTPUT], quantised_output=None
    )


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
