"""One number of an evaluation, with what it covers."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Key:
    """What is measured, by what: two results of different vectors that have it in common can be compared."""

    set: str
    measure: str
    section: str | None = None
    restrict: int | None = None
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """A value, what it measures, and on how much of the test set.

    Arguments:
        vectors: the name of the vectors.
        set: the name of the test set.
        measure: "spearman" or "pearson" (-1 to 1), or "accuracy" (0 to 1).
        value: None where it cannot be had; `reason` then says why. Never NaN.
        low: where its 95 % interval begins, `high` where it ends; see `embeddings.eval.intervals`. None without a
            value, and for a correlation of fewer than ten pairs.
        seen: items (pairs, questions, words) that have vectors; the value of pairs and questions is over these alone,
            that of tagging over all.
        total: items of the set (or section).
        section: of an analogy set: one of its own, "semantic" or "syntactic"; of tagging: a tag, or the words with or
            without a vector; None for the whole set.
        restrict: only the first so many, most frequent, words were known and could be answers; None for all.
        method: of analogies "3cosadd" or "3cosmul", of tagging the window.
        reason: why there is no value.
        protocol: how it was come by: unknown words, ties, duplicates, the interval.
    """

    vectors: str
    set: str
    measure: str
    value: float | None
    seen: int
    total: int
    low: float | None = None
    high: float | None = None
    section: str | None = None
    restrict: int | None = None
    method: str | None = None
    reason: str | None = None
    protocol: str | None = None

    @classmethod
    def of(cls, key: Key, **more: Any) -> "Result":
        """The result of this key."""
        return cls(**asdict(key), **more)
