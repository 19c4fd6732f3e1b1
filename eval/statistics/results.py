"""One number of an evaluation, and how much of the test set it covers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """What is measured on what; results of different vectors with the same key are comparable.

    Arguments:
        set: name of the test set.
        measure: "spearman" or "pearson" (-1 to 1), "accuracy", "f1", "micro-f1", "macro-f1", "purity",
            "v-measure", "ndcg@10", "recall@10", "recall@100" or "mrr@10" (0 to 1), a measure of held-out phrases,
            "held-out loss" or "perplexity", or the name of a statistic.
        section: a section of an analogy set or its kind such as "semantic", a tag, "words with a vector" or "words
            without a vector", a category, or a label; None for the whole set.
        restrict: analogies are answered from this many most frequent words; None for all.
        method: of analogies "3cosadd", "3cosmul" or "pairdirection"; of tagging the window; of a
            probe "logistic regression" or "most frequent label"; of pairs of texts "predicted ratings".
        is_detail: whether the section is one of many (a section of an analogy set, a tag, a category, a label).
        half: "dev" or "test" for one of the halves of a set (see `embeddings.eval.datasets.halves`), or "all".
    """

    set: str
    measure: str
    section: str | None = None
    restrict: int | None = None
    method: str | None = None
    is_detail: bool = False
    half: str = "all"


@dataclass(frozen=True, kw_only=True)
class Result(Key):
    """A score with its confidence interval and coverage; the fields of `Key` say what it measures.

    Arguments:
        vectors: name of the vectors.
        value: None if there is no value; `reason` then says why. Never NaN.
        covered: items (pairs, questions, words, documents) that have vectors. The value is over these items, except
            for tagging and documents, where it is over all items.
        total: items of the set or section.
        low: lower end of the 95 % interval (see `embeddings.eval.statistics.confidence_intervals`). None without a
            value, for a correlation of fewer than ten pairs, and for statistics, which are over all words.
        high: upper end of the interval.
        reason: why there is no value.
        composed: covered pairs with an out-of-vocabulary word, whose vector was composed.
        protocol: how the value is computed: unknown words, ties, duplicates, the interval.
        note: a warning, such as a classifier that did not converge.
    """

    vectors: str
    value: float | None
    covered: int
    total: int
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    composed: int = 0
    protocol: str | None = None
    note: str | None = None
