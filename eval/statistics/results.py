"""Results of evaluations: values with their coverage, scores of items, and paired tests of items.

Shares of independent items (documents, words) are compared by McNemar's exact test, with the interval of the difference
by Agresti and Min (2005). Items in sentences, questions made of word pairs, correlations, means over queries, F1 and
V-measure are compared by a paired bootstrap over sentences, pairs, queries, words or texts: 1,000 resamples, the same
for both, whose percentiles of the difference are the interval. Its p is twice the share of resamples on the rarer side
of zero, counting the observed value (so p is at least 2/1001). With fewer than ten of these there is no interval and no
p. `p_holm` is p corrected for the number of tests. Runs of one setting are compared in
`embeddings.eval.statistics.run_scores`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite, sqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from embeddings.eval.statistics.confidence_intervals import (
    MIN_ITEMS,
    NO_INTERVAL,
    Interval,
    Z,
    bootstrap_weights,
    correlation_interval,
    correlations,
    divide_or_nan,
    percentiles,
    ratio_interval,
    ratios,
    wilson,
)
from embeddings.support.docstrings import argument_texts
from embeddings.support.dots import Dot
from embeddings.support.imports import import_library
from embeddings.support.result_table import PlottedTable


@dataclass(frozen=True)
class Key:
    """A measure and the test set that it is computed on; results of different vectors with the same key are comparable.

    Arguments:
        set: name of the test set.
        measure: "spearman" or "pearson" (-1 to 1), "accuracy", "f1", "micro-f1", "macro-f1", "purity",
            "v-measure", "ndcg@10", "recall@10", "recall@100", "mrr@10", "precision@1", "precision@5" or "permutation p"
            (0 to 1), "effect size" (in standard deviations), a measure of held-out phrases, "held-out loss" or
            "perplexity".
        section: a section of an analogy set or its kind such as "semantic", a tag, "words with a vector" or "words
            without a vector", a category, or a label; None for the whole set.
        restrict: analogies are answered from this many most frequent words; None for all.
        method: of analogies "3cosadd" or "3cosmul"; of tagging the window; "most
            frequent label"; of retrieval the ranking, if one was chosen.
        is_detail: whether the section is one of many (a section of an analogy set, a tag, a category, a label).
        half: "dev" or "test" for one of the halves of a set (see `embeddings.eval.test_sets`), or "all".
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
            value, for a correlation of fewer than ten pairs.
        high: upper end of the interval.
        reason: why there is no value.
        composed: covered pairs with an out-of-vocabulary word, whose vector was composed.
        protocol: how the value is computed: unknown words, ties, duplicates, the interval.
        note: a warning, such as a classifier that did not converge.
        runs: the number of runs of one setting, of which `value` is the mean; `low` to `high` then covers other runs
            and other items.
        sd: the standard deviation of the value over runs; None for a single model.
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
    runs: int = 1
    sd: float | None = None


ALL = "all"
SHOWN = ("vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "covered", "total")
RUNS = ("runs", "sd")  # columns that are shown if a result is of several runs
SAMPLED = "low to high: 95 % interval over test items like these; other seeds and corpora would vary the value, too"
LABELS = {"words": "The words that analogies are answered from: all, or the first ones by frequency."}


class Scores(PlottedTable[Result]):
    """The results of an evaluation; sections that are details are not shown."""

    columns = argument_texts(Key) | argument_texts(Result) | LABELS

    def visible(self) -> list[Result]:
        """The results of whole sets and kinds, or all results if there are no others."""
        return [one for one in self if not one.is_detail] or self

    def remarks(self) -> list[str]:
        """What varies in the intervals, and the notes."""
        return self.caveats + super().remarks()

    @property
    def caveats(self) -> list[str]:
        """What varies in the intervals of single models; nothing without one."""
        return [SAMPLED] * any(one.low is not None and one.runs == 1 for one in self)

    def shown(self, row: Result) -> dict[str, Any]:
        """The cells of a result."""
        has_composed, has_runs = any(one.composed for one in self), any(one.runs > 1 for one in self)
        return result_cells(row, [*["composed"] * has_composed, *RUNS * has_runs])

    def dots(self) -> list[Dot]:
        """The vectors at their scores, with coverage; effect sizes of association tests with their p instead."""
        tests = {(one.vectors, one.set, one.section): one.value for one in self if one.measure == PERMUTATION}
        several = len({one.vectors for one in self}) > 1
        return [
            Dot(
                row_label(one), axis_label(one.measure), one.value, one.low, one.high,
                p_text(tests.get((one.vectors, one.set, one.section))) or f"{one.covered:,} of {one.total:,} items",
                series=one.vectors if several else "", reference=0 if one.measure == EFFECT else None,
            )
            for one in self.visible() if one.measure != PERMUTATION
        ]  # fmt: skip


def result_cells(result: Result, others: Iterable[str] = ()) -> dict[str, Any]:
    """The cells of a result; the cells of the columns `others` come last."""
    values = {**asdict(result), **label_cells(result)}
    if result.reason is not None:
        values["value"] = f"none: {result.reason}"
    return {name: values.get(name) for name in (*SHOWN, *others)}


def label_cells(result: Key) -> dict[str, str]:
    """The cells `set` (with its half), `section` and `words` (the vocabulary limit) of a result or comparison."""
    name = result.set if result.half == ALL else f"{result.set} ({result.half})"
    words = f"first {result.restrict}" if result.restrict else "all"
    return {"set": name, "section": result.section or "all", "words": words}


EFFECT, PERMUTATION = "effect size", "permutation p"  # measures of an association test
AXES = {
    "spearman": "Spearman's correlation", "pearson": "Pearson's correlation",
    EFFECT: "effect size (standard deviations)",
}  # fmt: skip


def axis_label(measure: str, name: str = "") -> str:
    """The label of the axis for a measure in plots."""
    return f"{name}{AXES.get(measure, measure)}, 95 % interval"


def row_label(result: Key) -> str:
    """The set, section, vocabulary limit and method of a result, as far as they are not the usual ones."""
    cells = label_cells(result)
    name = None if result.measure == EFFECT else cells["set"]
    parts = [name, result.section, f"{cells['words']} words" if result.restrict else None, result.method]
    return ", ".join(part for part in parts if part)


def p_text(p: float | None, name: str = "p") -> str:
    """A p-value as a plot shows it; empty for None."""
    return "" if p is None else f"{name} < 0.001" if p < 0.001 else f"{name} = {p:.2g}"


MCNEMAR = "McNemar, exact"
SENTENCES = "paired bootstrap over sentences"
PAIRS = "paired bootstrap over pairs"
WORDS = "paired bootstrap over words"
TEXTS = "paired bootstrap over texts"
QUERIES = "paired bootstrap over queries"
PARTS = "paired bootstrap over parts of the text"


@dataclass(frozen=True, kw_only=True)
class Comparison(Key):
    """Two values on the same items, and a test of their difference; the fields of `Key` say what they measure.

    Arguments:
        first: name of the first vectors; `second` is that of the others.
        items: number of items that both cover; `value_first` and `value_second` are over these.
        total: items of the set or section, in the half that `half` names.
        difference: first value minus second; `low` to `high` is its 95 % interval, None for too few items.
        p: two-sided p value; None for too few items.
        test: name of the test.
        p_holm: p corrected for the number of tests by the method of Holm (1979): of whole sets and kinds, or of
            details, on all sets.
    """

    first: str
    second: str
    items: int
    total: int
    value_first: float
    value_second: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    test: str
    p_holm: float | None = None


COMPARED = (
    "set", "section", "words", "measure", "method", "first", "second", "items", "total", "value_first", "value_second",
    "difference", "low", "high", "p", "p_holm", "test",
)  # fmt: skip


class Comparisons(PlottedTable[Comparison]):
    """Paired tests; tests of detail sections are not shown."""

    columns = argument_texts(Key) | argument_texts(Comparison) | LABELS

    @classmethod
    def corrected(cls, comparisons: Iterable[Comparison]) -> Self:
        """The tests, with p corrected for their number (Holm 1979, "A simple sequentially rejective procedure")."""
        corrected = list(comparisons)
        for is_detail in (False, True):
            family = [n for n, one in enumerate(corrected) if one.is_detail == is_detail and one.p is not None]
            p_holm = 0.0
            for rank, number in enumerate(sorted(family, key=lambda n: corrected[n].p or 0.0)):
                p = corrected[number].p or 0.0
                # a test with a larger p must not get a smaller corrected one, although its factor is smaller
                p_holm = max(p_holm, min(1.0, (len(family) - rank) * p))
                corrected[number] = replace(corrected[number], p_holm=p_holm)
        return cls(corrected)

    def visible(self) -> list[Comparison]:
        """The tests of whole sets and kinds, or all tests if there are no others."""
        return [one for one in self if not one.is_detail] or self

    def remarks(self) -> list[str]:
        """What varies in the intervals, what is corrected, and the notes."""
        return [f"{SAMPLED}; p_holm is corrected for the number of tests, low and high are not", *super().remarks()]

    def shown(self, row: Comparison) -> dict[str, Any]:
        """The cells of a test."""
        values = {**asdict(row), **label_cells(row)}
        return {name: values[name] for name in COMPARED}

    def dots(self) -> list[Dot]:
        """The differences of each pair of vectors, with their corrected p."""
        return [
            Dot(
                row_label(one), axis_label(one.measure, "difference in "), one.difference, one.low, one.high,
                p_text(one.p_holm, "corrected p"), title=f"{one.first} minus {one.second}", reference=0,
            )
            for one in self.visible()
        ]  # fmt: skip


def agresti_min(wins: int, losses: int, items: int) -> tuple[float, float]:
    """The interval of a difference of paired shares: the large-sample one, with 1/2 added to each of four cells."""
    b, c, n = wins + 0.5, losses + 0.5, items + 2
    reach = Z * sqrt(b + c - (b - c) ** 2 / n) / n
    return max(-1.0, (b - c) / n - reach), min(1.0, (b - c) / n + reach)


def bootstrap_test(resampled: np.ndarray, count: int) -> tuple[Interval, float | None]:
    """The interval and two-sided p of a resampled difference (resamples,), where most are finite.

    None for both with fewer than ten units to resample.
    """
    interval = percentiles(resampled) if count >= MIN_ITEMS else NO_INTERVAL
    if interval == NO_INTERVAL:
        return NO_INTERVAL, None
    finite = resampled[np.isfinite(resampled)]
    # zeros count on both sides, and the observed value as one more resample, so that p is never 0
    rarer = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    return interval, min(1.0, 2 * (rarer + 1) / (len(finite) + 1))


class Resampled(NamedTuple):
    """A value on some items, its value in each resample (resamples,), and how many units were resampled."""

    value: float
    values: np.ndarray
    units: int


@dataclass(frozen=True, kw_only=True)
class ItemScores(ABC):
    """Fields that all kinds of scores share; see `Result`. `test` names the paired test."""

    vectors: str
    key: Key
    protocol: str
    reason: str | None = None
    note: str | None = None
    test: str = TEXTS

    @abstractmethod
    def result(self) -> Result:
        """The value with its interval."""

    def compare(self, other: "ItemScores") -> Comparison | None:
        """A paired test against the scores of other vectors on the same items; None where either has no value."""
        has_values = type(other) is type(self) and not self.reason and not other.reason
        return self.compare_values(other) if has_values else None

    def compare_values(self, other: Any) -> Comparison | None:
        """A paired test on the items that count for both sides, which have a value; None if there are none."""
        both = None if self.counted is None else self.counted & other.counted
        return None if both is None or not both.any() else self.compare_on(both, other)

    @property
    def counted(self) -> np.ndarray | None:
        """The items that the value is over, (items,) bool; None if there are none to resample."""
        return None

    def resampled_on(self, items: np.ndarray) -> Resampled:
        """The value on the selected `items`, (items,) bool, and on each resample of the selected items."""
        raise NotImplementedError

    def compare_on(self, both: np.ndarray, other: Any) -> Comparison:
        """A paired bootstrap on some of the items, (items,) bool."""
        first, second = (one.resampled_on(both) for one in (self, other))
        interval, p = bootstrap_test(first.values - second.values, first.units)
        values = first.value, second.value
        return self.comparison(other, values, interval, items=int(both.sum()), p=p, test=self.test)

    def to_result(self, value: float | None, interval: Interval, covered: int, total: int, composed: int = 0) -> Result:
        """The result with this value; a value that is not a number, as of equal items, is none."""
        reason = self.reason
        if value is not None and not isfinite(value):
            value, interval, reason = None, NO_INTERVAL, "the value is undefined for these items"
        return Result(
            **asdict(self.key), vectors=self.vectors, value=value, low=interval[0], high=interval[1], covered=covered,
            total=total, composed=composed, reason=reason, protocol=self.protocol, note=self.note,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """The number of items of the set or section."""
        raise NotImplementedError

    def comparison(self, other: "ItemScores", values: Sequence[float], interval: Interval, **more: Any) -> Comparison:
        """The comparison of two values on the set or section, with the interval of their difference."""
        return Comparison(
            **asdict(self.key), first=self.vectors, second=other.vectors, total=self.size,
            value_first=float(values[0]), value_second=float(values[1]), difference=float(values[0] - values[1]),
            low=interval[0], high=interval[1], **more,
        )  # fmt: skip

    def compare_shares(self, other: "ItemScores", correct: np.ndarray, others: np.ndarray) -> Comparison:
        """Compare which items each gets right, (items,) bool each."""
        binomtest = import_library("scipy.stats").binomtest

        items, wins, losses = len(correct), int((correct & ~others).sum()), int((others & ~correct).sum())
        p = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
        values = correct.sum() / items, others.sum() / items
        return self.comparison(other, values, agresti_min(wins, losses, items), items=items, p=p, test=MCNEMAR)


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
    test: str = SENTENCES

    @property
    def counted(self) -> np.ndarray:
        """The items that the value is over, (items,) bool."""
        return np.asarray(self.members if self.over_all else self.members & self.covered)

    @property
    def size(self) -> int:
        """The number of items of the section."""
        return int(self.members.sum())

    def section(self, name: str | None, members: np.ndarray, *, is_detail: bool = False) -> Self:
        """The scores of some of the items."""
        return replace(self, key=replace(self.key, section=name, is_detail=is_detail), members=self.members & members)

    def by_class(self, names: Iterable[str], class_of: np.ndarray) -> list[Self]:
        """The scores of each class that has items, then of all; `class_of` (items,) holds indexes into the names."""
        parts = [self.section(str(name), class_of == n, is_detail=True) for n, name in enumerate(names)]
        return [*(part for part in parts if part.members.any()), self]

    def result(self) -> Result:
        """The share of correct items with its interval."""
        covered, counted = int((self.covered & self.members).sum()), self.counted
        if self.reason or not counted.any():
            return replace(self, reason=self.reason or self.absent).to_result(None, NO_INTERVAL, covered, self.size)
        return self.to_result(float(self.correct[counted].mean()), self.interval(counted), covered, self.size)

    def interval(self, counted: np.ndarray) -> Interval:
        """Wilson's interval, or the bootstrap over clusters, unless all items are alike and resamples are constant."""
        hits, items = int(self.correct[counted].sum()), int(counted.sum())
        # where all items are alike, all resamples are: their percentiles would have no width
        if self.clusters is None or hits in (0, items):
            return wilson(hits, items)
        return ratio_interval(self.count_per_cluster(self.correct & counted), self.count_per_cluster(counted))

    def count_per_cluster(self, items: np.ndarray) -> np.ndarray:
        """How many of the items, (items,) bool, each cluster holds."""
        return np.bincount(np.asarray(self.clusters)[items], minlength=int(np.asarray(self.clusters).max()) + 1)

    def compare_on(self, both: np.ndarray, other: "BinaryScores") -> Comparison:
        """A paired test on some of the items, (items,) bool."""
        if self.clusters is None:
            return self.compare_shares(other, self.correct[both], other.correct[both])
        return super().compare_on(both, other)

    def resampled_on(self, items: np.ndarray) -> Resampled:
        """The share of correct items, and in each resample of the items or their clusters."""
        if self.clusters is None:
            hits, sizes = self.correct[items], np.ones(int(items.sum()))
        else:
            hits, sizes = (self.count_per_cluster(one & items) for one in (self.correct, items))
        return Resampled(float(self.correct[items].mean()), ratios(hits, sizes), int((sizes > 0).sum()))


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
    limits: ClassVar = (-1.0, 1.0)
    test: str = PAIRS

    @property
    def is_ranked(self) -> bool:
        """Whether ranks are correlated (Spearman) or the numbers themselves (Pearson)."""
        return self.key.measure == "spearman"

    def result(self) -> Result:
        """The correlation over the covered pairs, with its bootstrap interval."""
        sides = self.scores[self.covered], self.ratings[self.covered]
        interval = NO_INTERVAL if self.value is None else correlation_interval(*sides, ranked=self.is_ranked)
        return self.to_result(self.value, interval, int(self.covered.sum()), len(self.covered), self.composed)

    def compare_values(self, other: "CorrelationScores") -> Comparison | None:
        """A paired test on the pairs that both cover; None for fewer than two, or if a side is constant."""
        both = self.covered & other.covered
        sides, ratings = (self.scores[both], other.scores[both]), self.ratings[both]
        if len(ratings) < 2 or any((side == side[0]).all() for side in (*sides, ratings)):
            return None
        return self.compare_on(both, other)

    @property
    def counted(self) -> np.ndarray:
        """The pairs that are covered, (pairs,) bool."""
        return self.covered

    @property
    def size(self) -> int:
        """The number of pairs."""
        return len(self.covered)

    def resampled_on(self, items: np.ndarray) -> Resampled:
        """The correlation over the selected pairs, and over each resample of the selected pairs."""
        sides, ones = (self.scores[items], self.ratings[items]), [np.ones((1, int(items.sum())))]
        value = float(correlations(*sides, ranked=self.is_ranked, weights=ones)[0])
        return Resampled(value, correlations(*sides, ranked=self.is_ranked), len(sides[0]))


@dataclass(frozen=True, kw_only=True)
class ResampledScores(ItemScores):
    """A value of a whole set of items, such as an F1, whose items are resampled; `covered` (items,) have a vector."""

    covered: np.ndarray
    limits: ClassVar = (0.0, 1.0)  # of the value

    @abstractmethod
    def score(self, weights: np.ndarray) -> np.ndarray:
        """The value in each resample (resamples,), from how often each item is drawn, (resamples, items)."""

    @property
    def counted(self) -> np.ndarray:
        """The items that count, (items,) bool."""
        return np.ones(len(self.covered), bool)

    @property
    def value(self) -> float:
        """The value of all items."""
        # by the same function as its resamples, so that rounding cannot put it outside their range
        return float(np.clip(self.score(np.ones((1, len(self.covered))))[0], *self.limits))

    @property
    def interval(self) -> Interval:
        """The bootstrap interval of the value."""
        return percentiles(self.resampled()) if int(self.counted.sum()) >= MIN_ITEMS else NO_INTERVAL

    def resampled(self) -> np.ndarray:
        """The value in each resample of the items, (resamples,)."""
        return np.concatenate([self.score(block) for block in bootstrap_weights(len(self.covered))])

    @property
    def size(self) -> int:
        """The number of items that count."""
        return int(self.counted.sum())

    def resampled_on(self, items: np.ndarray) -> Resampled:
        """The value of all items, and on each resample; `items` marks the counted items."""
        return Resampled(self.value, self.resampled(), int(items.sum()))

    def result(self) -> Result:
        """The value with its bootstrap interval."""
        value, interval = (None, NO_INTERVAL) if self.reason else (self.value, self.interval)
        return self.to_result(value, interval, int((self.covered & self.counted).sum()), self.size)


@dataclass(frozen=True, kw_only=True)
class F1Scores(ResampledScores):
    """The mean F1 of some categories: twice the hits, over actual plus predicted members.

    `actual`, `predicted` and `hits` are (items, categories) bool; hits are by default where both are true.
    """

    actual: np.ndarray
    predicted: np.ndarray
    hits: np.ndarray | None = None
    test: str = WORDS

    @property
    def counted(self) -> np.ndarray:
        """The items of the categories, (items,) bool."""
        return np.asarray(self.actual.any(axis=1))

    def score(self, weights: np.ndarray) -> np.ndarray:
        """The value in each resample (resamples,), from how often each item is drawn, (resamples, items)."""
        # products with the weights count the items of each resample, without drawing any
        hits = weights @ (self.actual & self.predicted if self.hits is None else self.hits)
        members = weights @ self.actual + weights @ self.predicted
        scores = divide_or_nan(2 * hits, members)
        return divide_or_nan(np.nansum(scores, axis=1), np.isfinite(scores).sum(axis=1))


@dataclass(frozen=True, kw_only=True)
class MeanScores(ResampledScores):
    """A value of each query, `values` (queries,), and their mean; a query that is not `covered` (queries,) has 0."""

    values: np.ndarray
    test: str = QUERIES

    def score(self, weights: np.ndarray) -> np.ndarray:
        """The mean in each resample (resamples,)."""
        return np.asarray(weights @ self.values / len(self.values))

    @property
    def value(self) -> float:
        """The mean over all queries."""
        return float(self.values.mean())


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
