"""A classifier of texts: the trainer `classifier` as a scikit-learn estimator."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.sources import Texts
from embeddings.errors import S, SettingError
from embeddings.plugins.classifier.text_classification import TextClassification
from embeddings.settings import check_value
from embeddings.sklearn.estimator import TextEstimator, as_texts, as_training_texts, checked_settings

TRAINER = "classifier"
TEXT, LABELS = "text", "labels"  # columns of the training texts


@dataclass(repr=False, eq=False, kw_only=True)
class TextClassifier(ClassifierMixin, TextEstimator):  # type: ignore[misc]
    """Learns to label texts from their words and n-grams (Joulin et al. 2017).

    >>> import embeddings as em
    >>> texts, labels = ["a good film", "a bad film", "a good book", "a bad book"] * 9, ["+", "-"] * 18
    >>> settings = {"dim": 8, "epochs": 20, "learning_rate": 1.0}
    >>> classifier = em.sklearn.TextClassifier(settings=settings).fit(texts, labels)
    >>> classifier.predict(["good", "bad"])
    array(['+', '-'], dtype='<U1')
    >>> classifier.predict_proba(["good", "bad"]).shape
    (2, 2)

    A text may have several labels: `y` is then a list of lists, or an indicator matrix (texts, classes), and `predict`
    returns the same kind. Lists of equal length that hold only 0 and 1 are an indicator matrix. Texts without labels
    are not learned from. With `threads=1` and an integer `random_state` the classifier is bit-reproducible.

    Arguments:
        trainer: "classifier", or an object such as `em.TextClassification(dim=50)`.
        settings: of the trainer, such as `{"dim": 50}`; parameter searches name one as `settings__dim`. With several
            labels per text the objective is "one-vs-all" unless it is set.
        k: the maximum number of labels that `predict` gives a text with several labels; None for any number.
        threshold: the minimum probability of these labels.
        tokenizer: the name of a tokenizer; by default as fastText, at white space.
        case: "lower" or "keep"; "keep" by default.
        threads: for training and prediction; None for all cores.
        random_state: a seed, a numpy.random.RandomState, or None for numpy's global generator.
        run_options: an `embeddings.training.RunOptions` with callbacks, vectors to start from and the like.
        verbose: show a progress bar.

    After `fit`: `model_`; `classes_`, the labels in ascending order (classes,); `multilabel_`.
    """

    k: int | None = None
    threshold: float = 0.5

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from texts and their labels.

        Raises:
            SettingError: a parameter is out of range, X does not hold texts, or y does not fit them.
            CorpusError: the texts hold no words, or no text has a label.
        """
        if y is None:
            raise SettingError("a classifier requires y to be passed, but the target y is None")
        texts, seed = as_training_texts(X, has_tokens=False), self._seed()
        targets = Targets.of(y)
        check_value("k", self.k, int | None, {"ge": 1})
        check_value("threshold", self.threshold, float, {"ge": 0, "le": 1})
        check_consistent_length(texts, targets.rows)
        trainer = self._make_trainer(TRAINER)
        if not isinstance(trainer, TextClassification):
            raise SettingError(f"{S.trainer} must be 'classifier' or a TextClassification, got {self.trainer!r}")
        if targets.is_multilabel and self.trainer is None and "objective" not in checked_settings(self.settings):
            trainer = replace(trainer, objective="one-vs-all")
        names = [str(one) for one in targets.classes.tolist()]
        if len(set(names)) < len(names) or LabelFormat().split_tag(names) != names:  # not distinct or not plain
            names = [str(number) for number in range(len(names))]
        rows = Texts(
            {TEXT: text, LABELS: [names[number] for number in row]}
            for text, row in zip(texts, targets.rows, strict=True)
        )
        corpus = Corpus(
            rows, text_column=TEXT, labels=LabelFormat(label_column=LABELS),
            **self._text_settings(trainer.tokenizer, trainer.case),
        )  # fmt: skip
        self.model_ = self._learn(trainer, corpus, seed)
        self.classes_, self.multilabel_ = targets.classes, targets.is_multilabel
        self._is_indicator = targets.is_indicator
        known = {name: number for number, name in enumerate(names)}
        # the trainer orders labels by frequency, scikit-learn by value
        self._columns = np.array([known[label] for label in self.model_.classifier.labels])
        return self

    def predict(self, X: Any) -> Any:
        """The most probable class of each text, (texts,).

        With several labels per text, their lists, or an indicator matrix (texts, classes), as `y` was in `fit`: the
        most probable `k` of the labels whose probability is at least `threshold`.

        Raises:
            NotFittedError: `fit` was not called.
            SettingError: X does not hold texts.
        """
        probabilities = self.predict_proba(X)
        if not self.multilabel_:
            return self.classes_[probabilities.argmax(axis=1)]
        is_predicted = probabilities >= self.threshold
        if self.k is not None and self.k < len(self.classes_):
            ranks = np.argsort(np.argsort(-probabilities, axis=1, kind="stable"), axis=1)
            is_predicted &= ranks < self.k
        if self._is_indicator:
            return is_predicted.astype(np.int64)
        return [self.classes_[row].tolist() for row in is_predicted]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, float64 (texts, classes); 0 for those without a training text.

        Rows sum to 1 unless texts have several labels.

        Raises:
            NotFittedError: `fit` was not called.
            SettingError: X does not hold texts.
        """
        check_is_fitted(self)
        texts = as_texts(X, has_tokens=False)
        result = np.zeros((len(texts), len(self.classes_)))
        result[:, self._columns] = self.model_.classifier.predict_proba(texts, threads=self.threads)
        if not self.multilabel_:
            result /= np.maximum(result.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return result

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of texts whose labels are predicted exactly."""
        predicted = self.predict(X)
        if self.multilabel_ and not self._is_indicator:
            binarizer = MultiLabelBinarizer().fit([*y, *predicted])
            y, predicted = binarizer.transform(y), binarizer.transform(predicted)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = False
        return tags


@dataclass(frozen=True)
class Targets:
    """The classes, and the numbers of the classes of each text."""

    classes: np.ndarray
    rows: Sequence[Sequence[int]]
    is_multilabel: bool = False
    is_indicator: bool = False

    @classmethod
    def of(cls, y: Any) -> "Targets":
        """Targets as estimators get them."""
        if getattr(getattr(y, "dtype", None), "kind", None) == "f":
            assert_all_finite(y, input_name="y")
        if is_list_of_lists(y):
            classes = np.unique([label for row in y for label in row])
            rows = [np.searchsorted(classes, sorted(set(row))).tolist() for row in y]
            targets = cls(classes, rows, is_multilabel=True)
        elif type_of_target(y, input_name="y") == "multilabel-indicator":
            matrix = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
            rows = [np.flatnonzero(row).tolist() for row in matrix]
            targets = cls(np.arange(matrix.shape[1]), rows, is_multilabel=True, is_indicator=True)
        else:
            labels = column_or_1d(y, warn=True)
            check_classification_targets(labels)
            classes, numbers = np.unique(labels, return_inverse=True)
            targets = cls(classes, numbers[:, None].tolist())
        if len(targets.classes) < 2:
            raise SettingError(f"a classifier requires two classes or more, got one class: {targets.classes.tolist()}")
        return targets


def is_list_of_lists(y: Any) -> bool:
    """Whether `y` is a sequence of lists, tuples or sets of labels, and not an indicator matrix."""
    if getattr(y, "ndim", 1) != 1 or isinstance(y, str) or not isinstance(y, Iterable) or not hasattr(y, "__len__"):
        return False
    rows = list(y)
    if not rows or not all(isinstance(row, list | tuple | set | frozenset) for row in rows):
        return False
    has_one_length = len(set(map(len, rows))) == 1 and not isinstance(rows[0], set | frozenset)
    return not (has_one_length and len(rows[0]) > 1 and all(one in (0, 1) for row in rows for one in row))
