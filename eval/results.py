"""One number of an evaluation, with what it covers."""

from dataclasses import dataclass


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
        seen: pairs or questions whose words all have vectors; the value is over these alone.
        total: pairs or questions of the set (or section).
        section: of an analogy set: one of its own, "semantic" or "syntactic"; None for the whole set.
        restrict: only the first so many, most frequent, words were known and could be answers; None for all.
        method: of analogies: "3cosadd" or "3cosmul".
        reason: why there is no value.
        composed: of the pairs seen, those with a word outside the vocabulary, whose vector was composed.
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
    composed: int = 0
