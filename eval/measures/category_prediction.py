"""Categories of words predicted from their vectors (Oshikiri 2017), by a linear classifier with cross-validation."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.datasets.word_categories import WordCategories
from embeddings.eval.measures.majority_scores import majority_scores
from embeddings.eval.measures.window_classifier import NOT_CONVERGED, Windows, train_classifier, whiten
from embeddings.eval.measures.word_matching import CaseFolding, look_up_rows
from embeddings.eval.statistics.confidence_intervals import MIN_ITEMS, NO_INTERVAL, bootstrap_weights, percentiles
from embeddings.eval.statistics.cross_validation import FOLDS, stratified_folds
from embeddings.eval.statistics.item_scores import BinaryScores, ItemScores
from embeddings.eval.statistics.paired_tests import WORDS, Comparison, bootstrap_test
from embeddings.eval.statistics.results import Key, Result
from embeddings.vectors.vectors import Vectors

UNKNOWN = -1
METHOD = f"{FOLDS} folds"
PROTOCOL = (
    f"logistic regression (L2 penalty, C = 1) on vectors, whitened over the training words; {FOLDS}-fold "
    "cross-validation, stratified by category; case is ignored, and of words that differ in case alone the most "
    "frequent is used; vectors are composed where possible; a word of two categories counts twice, in the same fold; "
    "F1 is over all words, and a word without a vector is predicted no category; macro: the mean over categories; "
    "accuracy is over words with vectors; interval: bootstrap over words (accuracy: Wilson's)"
)


def score_categories(vectors: Vectors, test: WordCategories, folding: CaseFolding, *, name: str) -> list[ItemScores]:
    """The F1 of each category (section), micro-F1, macro-F1, both scores of the most frequent one, and accuracy."""
    names, category = np.unique(test.categories, return_inverse=True)
    matrix, covered = look_up_rows(vectors, test.words, folding.find(test.words))
    reason = None if covered.any() else "no word has a vector"
    fold = stratified_folds([word.upper() for word in test.words], category)
    predicted, has_converged = cross_predict(matrix, covered, category, fold)
    actual, guesses = (side[:, None] == np.arange(len(names)) for side in (category, predicted))
    note = None if has_converged else NOT_CONVERGED
    score = partial(F1Scores, vectors=name, covered=covered, protocol=PROTOCOL, reason=reason, note=note)
    key = partial(Key, test.name, method=METHOD)
    scores: list[ItemScores] = []
    for column, one in enumerate(names):
        detail = key("f1", section=str(one), is_detail=True)
        scores.append(score(key=detail, actual=actual[:, [column]], predicted=guesses[:, [column]]))
    correct, everything = category == predicted, np.ones(len(category), dtype=bool)
    micro = {"actual": everything[:, None], "predicted": covered[:, None], "hits": correct[:, None]}
    scores += [score(key=key("micro-f1"), **micro), score(key=key("macro-f1"), actual=actual, predicted=guesses)]
    accuracy = BinaryScores(
        vectors=name, key=key("accuracy"), correct=correct, covered=covered, members=everything, protocol=PROTOCOL,
        reason=reason, note=note,
    )  # fmt: skip
    common = np.array([np.bincount(category[fold != number]).argmax() for number in range(FOLDS)])
    return [*scores, *majority_scores(name, test.name, category, common[fold]), accuracy]


def cross_predict(
    matrix: np.ndarray, covered: NDArray[np.bool_], category: NDArray[np.int64], fold: NDArray[np.int64]
) -> tuple[NDArray[np.int64], bool]:
    """The category predicted for each word by the other folds, UNKNOWN without a vector; and whether all converged."""
    predicted, has_converged = np.full(len(category), UNKNOWN), True
    for number in range(FOLDS):
        train, test = np.flatnonzero((fold != number) & covered), np.flatnonzero((fold == number) & covered)
        if len(train) and len(test):
            table = whiten(matrix, np.bincount(train, minlength=len(category)))
            classifier = train_classifier(Windows(table, train[:, None]), category[train], int(category.max()) + 1)
            predicted[test] = classifier.predict(Windows(table, test[:, None]))
            has_converged &= classifier.has_converged
    return predicted, has_converged


@dataclass(frozen=True, kw_only=True)
class F1Scores(ItemScores):
    """The mean F1 of some categories: twice the hits, over actual plus predicted members.

    `actual`, `predicted` and `hits` are (items, categories) bool; hits are by default where both are true. `test` names
    the paired test.
    """

    covered: np.ndarray
    actual: np.ndarray
    predicted: np.ndarray
    hits: np.ndarray | None = None
    test: str = WORDS

    def values(self, weights: np.ndarray) -> np.ndarray:
        """The value in each resample (resamples,), from how often each item is drawn, (resamples, items)."""
        hits = weights @ (self.actual & self.predicted if self.hits is None else self.hits)
        members = weights @ self.actual + weights @ self.predicted
        scores = np.divide(2 * hits, members, out=np.full_like(members, np.nan), where=members > 0)
        is_defined = np.isfinite(scores)
        total, count = np.where(is_defined, scores, 0).sum(axis=1), is_defined.sum(axis=1)
        return np.asarray(np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))

    @property
    def value(self) -> float:
        """The mean F1."""
        return float(self.values(np.ones((1, len(self.actual))))[0])

    def resampled(self) -> np.ndarray:
        """The value in each resample of the items, (resamples,)."""
        return np.concatenate([self.values(block) for block in bootstrap_weights(len(self.actual))])

    def result(self) -> Result:
        """The value with its bootstrap interval; coverage is of the words of these categories."""
        members = self.actual.any(axis=1)
        covered, total = int((self.covered & members).sum()), int(members.sum())
        if self.reason:
            return self.to_result(None, NO_INTERVAL, covered, total)
        interval = percentiles(self.resampled()) if total >= MIN_ITEMS else NO_INTERVAL
        return self.to_result(self.value, interval, covered, total)

    def compare(self, other: ItemScores) -> Comparison | None:
        """A paired test on all items; None where either has no value."""
        if not isinstance(other, F1Scores) or self.reason or other.reason:
            return None
        items = int(self.actual.any(axis=1).sum())
        interval, p = bootstrap_test(self.resampled() - other.resampled(), items)
        return self.pair(other, items).comparison((self.value, other.value), interval, items=items, p=p, test=self.test)
