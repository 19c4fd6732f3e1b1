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
    detail: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """A value, what it measures, and on how much of the test set.

    Arguments:
        vectors: the name of the vectors.
        set: the name of the test set.
        measure: "spearman" or "pearson" (-1 to 1), "accuracy", "f1", "micro-f1", "macro-f1" or "purity" (0 to 1),
            or the name of a fact.
        value: None where it cannot be had; `reason` then says why. Never NaN.
        low: where its 95 % interval begins, `high` where it ends; see `embeddings.eval.confidence_intervals`. None
            without a value, for a correlation of fewer than ten pairs, and for facts, which are of all words.
        seen: items (pairs, questions, words, documents) that have vectors; the value is over these alone, but that of
            tagging and of documents over all.
        total: items of the set (or section).
        section: of an analogy set: one of its own, or a kind such as "semantic"; of tagging: a tag, or the words with
            or without a vector; a category; a label; None for the whole set.
        detail: whether the section is one of many: a section of an analogy set, a tag, a category, a label.
        restrict: only the first so many, most frequent, words were known and could be answers; None for all.
        method: of analogies "3cosadd", "3cosmul" or "pairdirection", of tagging the window.
        reason: why there is no value.
        composed: of the pairs seen, those with a word outside the vocabulary, whose vector was composed.
        protocol: how it was come by: unknown words, ties, duplicates, the interval.
        note: what went otherwise than it should.
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
    detail: bool = False
    reason: str | None = None
    composed: int = 0
    protocol: str | None = None
    note: str | None = None

    @classmethod
    def of(cls, key: Key, **more: Any) -> "Result":
        """The result of this key."""
        return cls(**asdict(key), **more)
