"""Scores of the items of a test set, which yield a value with its interval, and paired tests."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Self

import numpy as np

from embeddings.eval.statistics.confidence_intervals import (
    MIN_ITEMS,
    NO_INTERVAL,
    Interval,
    correlation_interval,
    mean_bootstrap,
    ratio_interval,
    wilson,
)
from embeddings.eval.statistics.paired_tests import QUERIES, Comparison, Pair
from embeddings.eval.statistics.results import Key, Result


@dataclass(frozen=True, kw_only=True)
class ItemScores:
    """Fields that all kinds of scores share; see `Result`."""

    vectors: str
    key: Key
    protocol: str
    reason: str | None = None
    note: str | None = None

    def result(self) -> Result:
        """The value with its interval."""
        raise NotImplementedError

    def compare(self, other: "ItemScores") -> Comparison | None:
        """A paired test against the scores of other vectors on the same items; None if there is none."""
        raise NotImplementedError

    def to_result(self, value: float | None, interval: Interval, covered: int, total: int, composed: int = 0) -> Result:
        """The result with this value."""
        return Result(
            **asdict(self.key), vectors=self.vectors, value=value, low=interval[0], high=interval[1], covered=covered,
            total=total, composed=composed, reason=self.reason, protocol=self.protocol, note=self.note,
        )  # fmt: skip

    def pair(self, other: "ItemScores", total: int) -> Pair:
        """What a paired test against other vectors compares; `total` items are in the set."""
        return Pair(self.key, self.vectors, other.vectors, total)


@dataclass(frozen=True, kw_only=True)
class BinaryScores(ItemScores):
    """Items that are answered correctly or not; the value is the share that is.

    `correct`, `covered` (has vectors) and `members` (of the section) are (items,) bool; with `over_all` the value is
    over all members, else over the covered ones. `clusters` (items,) numbers the sentences of items that are not
    independent. `absent` is the reason given when no item counts.
    """

    covered: np.ndarray
    correct: np.ndarray
    members: np.ndarray
    over_all: bool = False
    clusters: np.ndarray | None = None
    absent: str = "no item has vectors"

    @property
    def counted(self) -> np.ndarray:
        """The items that the value is over, (items,) bool."""
        return np.asarray(self.members if self.over_all else self.members & self.covered)

    def section(self, name: str | None, members: np.ndarray, *, is_detail: bool = False) -> Self:
        """The scores of some of the items."""
        return replace(self, key=replace(self.key, section=name, is_detail=is_detail), members=self.members & members)

    def by_class(self, names: Iterable[str], class_of: np.ndarray) -> list[Self]:
        """The scores of each class that has items, then these; `class_of` (items,) holds indexes into the names."""
        parts = [self.section(str(name), class_of == n, is_detail=True) for n, name in enumerate(names)]
        return [*(part for part in parts if part.members.any()), self]

    def result(self) -> Result:
        """The share of correct items with its interval."""
        covered, total = int((self.covered & self.members).sum()), int(self.members.sum())
        counted = self.counted
        if self.reason or not counted.any():
            return replace(self, reason=self.reason or self.absent).to_result(None, NO_INTERVAL, covered, total)
        return self.to_result(float(self.correct[counted].mean()), self.interval(counted), covered, total)

    def interval(self, counted: np.ndarray) -> Interval:
        """Wilson's interval, or the bootstrap over clusters, unless all items are alike and resamples are constant."""
        hits, items = int(self.correct[counted].sum()), int(counted.sum())
        if self.clusters is None or hits in (0, items):
            return wilson(hits, items)
        return ratio_interval(self.count_per_cluster(self.correct & counted), self.count_per_cluster(counted))

    def count_per_cluster(self, items: np.ndarray) -> np.ndarray:
        """How many of the items, (items,) bool, each cluster holds."""
        return np.bincount(np.asarray(self.clusters)[items], minlength=int(np.asarray(self.clusters).max()) + 1)

    def compare(self, other: ItemScores) -> Comparison | None:
        """A paired test on the items that count for both; None where either has no value."""
        if not isinstance(other, BinaryScores) or self.reason or other.reason:
            return None
        both = self.counted & other.counted
        return self.compare_on(both, other) if both.any() else None

    def compare_on(self, both: np.ndarray, other: "BinaryScores") -> Comparison:
        """A paired test on some of the items, (items,) bool."""
        if self.clusters is None:
            return self.test_against(other).compare_shares(self.correct[both], other.correct[both])
        counts = map(self.count_per_cluster, (self.correct & both, other.correct & both, both))
        return self.test_against(other).compare_clusters(*counts)

    def test_against(self, other: ItemScores) -> Pair:
        """What a paired test on the items of this section compares."""
        return self.pair(other, int(self.members.sum()))


@dataclass(frozen=True, kw_only=True)
class CorrelationScores(ItemScores):
    """Pairs with a score and a rating each, (pairs,); scores of pairs that are not `covered` are meaningless.

    `composed` of the covered pairs have an out-of-vocabulary word.
    """

    covered: np.ndarray
    scores: np.ndarray
    ratings: np.ndarray
    value: float | None
    composed: int = 0

    @property
    def is_ranked(self) -> bool:
        """Whether ranks are correlated (Spearman) or the numbers themselves (Pearson)."""
        return self.key.measure == "spearman"

    def result(self) -> Result:
        """The correlation over the covered pairs, with its bootstrap interval."""
        sides = self.scores[self.covered], self.ratings[self.covered]
        interval = NO_INTERVAL if self.value is None else correlation_interval(*sides, ranked=self.is_ranked)
        return self.to_result(self.value, interval, int(self.covered.sum()), len(self.covered), self.composed)

    def compare(self, other: ItemScores) -> Comparison | None:
        """A paired test on the pairs that both cover; None where either has no value."""
        if not isinstance(other, CorrelationScores) or self.value is None or other.value is None:
            return None
        both = self.covered & other.covered
        if both.sum() < 2:
            return None
        scores = self.scores[both], other.scores[both]
        return self.pair(other, len(both)).compare_correlations(*scores, self.ratings[both], ranked=self.is_ranked)


@dataclass(frozen=True, kw_only=True)
class MeanScores(ItemScores):
    """A value of each query, `values` (queries,), whose mean counts; those that are not `covered` (queries,) are 0.

    `test` names the paired test.
    """

    values: np.ndarray
    covered: np.ndarray
    test: str = QUERIES

    def result(self) -> Result:
        """The mean with its bootstrap interval."""
        covered, total = int(self.covered.sum()), len(self.covered)
        if self.reason:
            return self.to_result(None, NO_INTERVAL, covered, total)
        interval = mean_bootstrap(self.values) if total >= MIN_ITEMS else NO_INTERVAL
        return self.to_result(float(self.values.mean()), interval, covered, total)

    def compare(self, other: ItemScores) -> Comparison | None:
        """A paired test on all queries; None where either has no value."""
        if not isinstance(other, MeanScores) or self.reason or other.reason:
            return None
        return self.pair(other, len(self.covered)).compare_means(self.values, other.values, self.test)


@dataclass(frozen=True, kw_only=True)
class Measurement(ItemScores):
    """A value over `covered` of `total` items without a paired test, since the items differ between vectors."""

    value: float | None
    covered: int
    total: int
    interval: Interval = NO_INTERVAL

    def result(self) -> Result:
        """The value, and its interval if there is one."""
        return self.to_result(self.value, self.interval, self.covered, self.total)

    def compare(self, other: ItemScores) -> None:
        """No test; see the class."""
