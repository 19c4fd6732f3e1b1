"""What became of each item of a test set: from this come a value with its interval, and paired tests."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from embeddings.eval.comparison import Comparison, compare_clusters, compare_correlations, compare_shares
from embeddings.eval.confidence_intervals import Interval, bootstrap, ratio_interval, wilson
from embeddings.eval.results import Key, Result


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What all have: of which vectors, by what measure; how it was come by; why there is no value; what went amiss."""

    vectors: str
    key: Key
    protocol: str
    reason: str | None = None
    note: str | None = None

    def result(self) -> Result:
        """The value with its interval."""
        raise NotImplementedError

    def compare(self, other: "Outcome") -> Comparison | None:
        """A paired test against the outcome of other vectors on the same items; None where there is none."""
        raise NotImplementedError

    def made(self, value: float | None, interval: Interval, seen: int, total: int, composed: int = 0) -> Result:
        """The result with this value."""
        low, high = interval
        return Result.of(
            self.key, vectors=self.vectors, value=value, low=low, high=high, seen=seen, total=total, composed=composed,
            reason=self.reason, protocol=self.protocol, note=self.note,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Shares(Outcome):
    """Items that come out right or not; the value is the share that does.

    Arguments:
        right: (items,) bool.
        seen: (items,) whether there are vectors for the item.
        members: (items,) which belong to the section.
        every: whether the value is over all members, or (else) over those seen.
        clusters: (items,) the number of the sentence or the like that an item stands in, where items of one are not
            independent; None if each stands alone.
        absent: the reason when no item counts.
    """

    seen: np.ndarray
    right: np.ndarray
    members: np.ndarray
    every: bool = False
    clusters: np.ndarray | None = None
    absent: str = "no item has vectors"

    @property
    def counted(self) -> np.ndarray:
        """The items that the value is over, (items,) bool."""
        return np.asarray(self.members if self.every else self.members & self.seen)

    def section(self, name: str | None, members: np.ndarray, *, detail: bool = False) -> Self:
        """The same for some of the items."""
        return replace(self, key=replace(self.key, section=name, detail=detail), members=self.members & members)

    def result(self) -> Result:
        """The share with its interval."""
        seen, total = int((self.seen & self.members).sum()), int(self.members.sum())
        counted = self.counted
        if self.reason or not counted.any():
            return replace(self, reason=self.reason or self.absent).made(None, (None, None), seen, total)
        return self.made(float(self.right[counted].mean()), self.interval(counted), seen, total)

    def interval(self, counted: np.ndarray) -> Interval:
        """Wilson's, or the bootstrap's over clusters, unless all are alike, of which a resample can tell nothing."""
        hits, items = int(self.right[counted].sum()), int(counted.sum())
        if self.clusters is None or hits in (0, items):
            return wilson(hits, items)
        return ratio_interval(self.per_cluster(self.right & counted), self.per_cluster(counted))

    def per_cluster(self, chosen: np.ndarray) -> np.ndarray:
        """How many of the chosen items stand in each cluster."""
        return np.bincount(np.asarray(self.clusters)[chosen], minlength=int(np.asarray(self.clusters).max()) + 1)

    def compare(self, other: Outcome) -> Comparison | None:
        """A paired test on the items that count for both; None where either has no value."""
        if not isinstance(other, Shares):
            return None
        both = self.counted & other.counted
        return None if self.reason or other.reason or not both.any() else self.compare_on(both, other)

    def compare_on(self, both: np.ndarray, other: "Shares") -> Comparison:
        """A paired test on some of the items."""
        names = self.key, self.vectors, other.vectors
        if self.clusters is None:
            return compare_shares(*names, self.right[both], other.right[both])
        return compare_clusters(*names, *map(self.per_cluster, (self.right & both, other.right & both, both)))


@dataclass(frozen=True, kw_only=True)
class Correlated(Outcome):
    """Pairs with a score and a rating each, (pairs,); scores that are not `seen` mean nothing.

    `composed` of the pairs seen have a word outside the vocabulary.
    """

    seen: np.ndarray
    scores: np.ndarray
    ratings: np.ndarray
    value: float | None
    composed: int = 0

    @property
    def covered(self) -> int:
        """How many pairs are seen."""
        return int(self.seen.sum())

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.seen)

    @property
    def ranked(self) -> bool:
        """Whether ranks are correlated, as Spearman's is, or the numbers themselves."""
        return self.key.measure == "spearman"

    def result(self) -> Result:
        """The correlation over the pairs seen, with the interval of the bootstrap."""
        interval: Interval = (None, None)
        if self.value is not None:
            interval = bootstrap(self.scores[self.seen], self.ratings[self.seen], ranked=self.ranked)
        return self.made(self.value, interval, self.covered, self.total, self.composed)

    def compare(self, other: Outcome) -> Comparison | None:
        """A paired test on the pairs seen by both; None where either has no value."""
        if not isinstance(other, Correlated):
            return None
        both = self.seen & other.seen
        if self.value is None or other.value is None or both.sum() < 2:
            return None
        scores = self.scores[both], other.scores[both]
        return compare_correlations(self.key, self.vectors, other.vectors, *scores, self.ratings[both], self.ranked)


@dataclass(frozen=True, kw_only=True)
class Measured(Outcome):
    """A value over `covered` of `total` items that has no paired test, since its items are not those of others."""

    value: float | None
    covered: int
    total: int
    interval: Interval = (None, None)

    def result(self) -> Result:
        """The value, and its interval if there is one."""
        return self.made(self.value, self.interval, self.covered, self.total)

    def compare(self, other: Outcome) -> None:
        """Nothing: see above."""


@dataclass(frozen=True, kw_only=True)
class Counted(Measured):
    """A number that is counted, over `covered` of `total` words: no sample, so no interval and no test."""

    @classmethod
    def share(cls, vectors: str, key: Key, covered: int, total: int) -> "Counted":
        """The share that is covered."""
        value = float(covered / total) if total else None
        reason = None if total else "there are no words"
        return cls(
            vectors=vectors,
            key=key,
            value=value,
            covered=int(covered),
            total=int(total),
            protocol="counted",
            reason=reason,
        )
