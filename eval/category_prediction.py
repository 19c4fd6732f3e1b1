"""Categories of nouns told from their vectors (Oshikiri 2017), by a linear classifier and cross-validation."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from embeddings.eval.categories import Categories
from embeddings.eval.comparison import WORDS, Comparison, from_resamples, made
from embeddings.eval.confidence_intervals import FEWEST, Interval, percentiles, weights
from embeddings.eval.cross_validation import FOLDS, folds
from embeddings.eval.item_scores import Outcome, Shares
from embeddings.eval.results import Key, Result
from embeddings.eval.window_classifier import STOPPED, Windows, learn, whitened
from embeddings.eval.word_matching import Folded, found_or_composed
from embeddings.vectors.vectors import Vectors

UNKNOWN = -1
METHOD = f"{FOLDS} folds"
PROTOCOL = (
    "each fifth of the words, drawn once with every category in proportion, is told by logistic regression (L2 "
    "penalty, C = 1) from vectors of the others, whitened over these; case does not count, and of words alike but for "
    "case the most frequent is taken; a vector that can be composed is; one of two categories stands twice, in the "
    "same fifth; F1 is over all words, and one without a vector is told no category; macro: the mean of the "
    "categories' own; accuracy is over words with vectors; interval: bootstrap over words (accuracy: Wilson's)"
)


def prediction(vectors: Vectors, test: Categories, folded: Folded, *, name: str) -> list[Outcome]:
    """Which words are told their category: F1 of each (section), of all (micro), its mean (macro), and accuracy.

    Raises:
        SettingError: a vector holds NaN or infinity; the word is named.
    """
    kinds, asked = np.unique(test.categories, return_inverse=True)
    matrix, seen = found_or_composed(vectors, test.words, folded.find(test.words))
    reason = None if seen.any() else "no word has a vector"
    told, converged = predicted(matrix, seen, asked, folds([word.upper() for word in test.words], asked))
    is_asked, is_told = (side[:, None] == np.arange(len(kinds)) for side in (asked, told))
    note = None if converged else STOPPED
    score = partial(FScores, vectors=name, seen=seen, protocol=PROTOCOL, reason=reason, note=note)
    found: list[Outcome] = []
    for place, kind in enumerate(kinds):
        key, column = Key(test.name, "f1", section=str(kind), method=METHOD, detail=True), slice(place, place + 1)
        found.append(score(key=key, asked=is_asked[:, column], told=is_told[:, column]))
    right, whole = (asked == told)[:, None], np.ones((len(asked), 1), dtype=bool)
    micro = score(key=Key(test.name, "micro-f1", method=METHOD), asked=whole, told=seen[:, None], hit=right)
    macro = score(key=Key(test.name, "macro-f1", method=METHOD), asked=is_asked, told=is_told)
    accuracy = Shares(
        vectors=name, key=Key(test.name, "accuracy", method=METHOD), right=asked == told, seen=seen,
        members=whole[:, 0], protocol=PROTOCOL, reason=reason, note=note,
    )  # fmt: skip
    return [*found, micro, macro, accuracy]


def predicted(
    matrix: np.ndarray, seen: NDArray[np.bool_], asked: NDArray[np.int64], fold: NDArray[np.int64]
) -> tuple[NDArray[np.int64], bool]:
    """The category that each word is told (words,), by a classifier of the other folds; UNKNOWN without a vector.

    And whether all classifiers converged.
    """
    told, converged = np.full(len(asked), UNKNOWN), True
    for number in range(FOLDS):
        train, test = np.flatnonzero((fold != number) & seen), np.flatnonzero((fold == number) & seen)
        if len(train) and len(test):
            table = whitened(matrix, np.bincount(train, minlength=len(asked)))
            classifier = learn(Windows(table, train[:, None]), asked[train], int(asked.max()) + 1)
            told[test] = classifier.predict(Windows(table, test[:, None]))
            converged &= classifier.converged
    return told, converged


@dataclass(frozen=True, kw_only=True)
class FScores(Outcome):
    """The mean F1 of some categories: twice the hits, over what was asked and what was told.

    Arguments:
        seen: (items,) whether there are vectors for the item.
        asked: (items, categories) bool, whether an item is of the category.
        told: (items, categories) bool, whether it was told to be.
        hit: (items, categories) bool, whether rightly so; where both are, unless given.
    """

    seen: np.ndarray
    asked: np.ndarray
    told: np.ndarray
    hit: np.ndarray | None = None

    def values(self, drawn: np.ndarray) -> np.ndarray:
        """The value in each resample, (resamples,), of (resamples, items) of how often each item is drawn."""
        hits = drawn @ (self.asked & self.told if self.hit is None else self.hit)
        both = drawn @ self.asked + drawn @ self.told
        scores = np.divide(2 * hits, both, out=np.full_like(both, np.nan), where=both > 0)
        some = np.isfinite(scores)
        total, count = np.where(some, scores, 0).sum(axis=1), some.sum(axis=1)
        return np.asarray(np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))

    @property
    def value(self) -> float:
        """The mean F1."""
        return float(self.values(np.ones((1, len(self.asked))))[0])

    def resampled(self) -> np.ndarray:
        """The value in each resample of the items, (resamples,)."""
        return np.concatenate([self.values(drawn) for drawn in weights(len(self.asked))])

    def result(self) -> Result:
        """The value with the interval of the bootstrap; seen and total are of the words of these categories."""
        members = self.asked.any(axis=1)
        seen, total = int((self.seen & members).sum()), int(members.sum())
        if self.reason:
            return self.made(None, (None, None), seen, total)
        interval: Interval = percentiles(self.resampled()) if total >= FEWEST else (None, None)
        return self.made(self.value, interval, seen, total)

    def compare(self, other: Outcome) -> Comparison | None:
        """A paired test on all items; None where either has no value."""
        if not isinstance(other, FScores) or self.reason or other.reason:
            return None
        items = int(self.asked.any(axis=1).sum())
        interval, p = from_resamples(self.resampled() - other.resampled(), items)
        values = self.value, other.value
        return made(self.key, self.vectors, other.vectors, values, interval, items=items, p=p, test=WORDS)
