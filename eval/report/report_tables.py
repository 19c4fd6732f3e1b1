"""Results and paired tests arranged by test set, measure and label, for the template; and the summary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil, floor, log10
from typing import Generic, TypeVar

from embeddings.eval.statistics.results import Comparison, Key, Result, key_of
from embeddings.eval.tasks.linear_classifier import MAJORITY
from embeddings.eval.tasks.vector_statistics import SET as STATISTICS

Line = TypeVar("Line", Result, Comparison)
MEASURES = {  # by the heading of their table
    "Correlation": ("spearman", "pearson", "spearman-ratings", "spearman-participants"),
    "Accuracy": ("accuracy",),
    "F1": ("micro-f1", "macro-f1", "f1"),
    "Purity": ("purity",),
    "V-measure": ("v-measure",),
    "Retrieval": ("ndcg@10", "recall@10", "recall@100", "mrr@10"),
    "Cosine": ("cosine",),
    "Squared error": ("squared-error",),
    "Reciprocal rank": ("reciprocal-rank", "reciprocal-rank-by-distance"),
    "Median rank": ("median-rank", "median-rank-by-distance"),
    "Mean rank": ("mean-rank", "mean-rank-by-distance"),
    "Word coverage": ("word coverage",),
}
STEPS = (1, 2, 2.5, 5, 10)
TICKS = 5
HEADLINES = (
    "spearman",
    "accuracy",
    "macro-f1",
    "purity",
    "v-measure",
    "ndcg@10",
)  # measures of the summary; higher is better


@dataclass(frozen=True)
class Scale:
    """The scale of a column of interval plots, from `low` to `high`, with a tick at each `step`."""

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, values: Iterable[float | None], *, with_zero: bool = False) -> "Scale":
        """A scale of whole steps that holds all values, and zero on request."""
        finite = [value for value in values if value is not None] + [0.0] * with_zero
        low, high = min(finite, default=0.0), max(finite, default=1.0)
        rough = max(high - low, 1e-6 * max(1.0, abs(low), abs(high))) / TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * size for size in STEPS if power * size >= rough * (1 - 1e-9))
        low = floor(low / step + 1e-9) * step
        return cls(low, max(ceil(high / step - 1e-9) * step, low + step), step)

    def position(self, value: float) -> str:
        """The position of a value, in per cent of the width, with margins of 2 per cent."""
        return f"{2 + 96 * (value - self.low) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[float]:
        """The values of the ticks."""
        count = round((self.high - self.low) / self.step)
        return [round(self.low + number * self.step, 9) for number in range(count + 1)]


@dataclass(frozen=True)
class Table(Generic[Line]):
    """Lines of one kind on a common scale, by what they measure."""

    scale: Scale
    groups: dict[tuple[str, ...], list[Line]]

    @classmethod
    def of(cls, lines: Sequence[Line], *, with_zero: bool = False) -> "Table[Line]":
        """The table of some lines; a scale with zero is for differences."""
        groups: dict[tuple[str, ...], list[Line]] = {}
        for one in lines:
            groups.setdefault(label_of(one), []).append(one)
        values: list[float | None] = []
        for one in lines:
            values += [one.low, one.value if isinstance(one, Result) else one.difference, one.high]
        return cls(Scale.of(values, with_zero=with_zero), groups)


def label_of(line: Result | Comparison) -> tuple[str, ...]:
    """The label of a result in a table: section, words, method and, where several share a table, the measure."""
    words = f"first {line.restrict:,} words" if line.restrict else ""
    is_ambiguous = any(line.measure in measures and len(measures) > 1 for measures in MEASURES.values())
    parts = line.section or "all", words, line.method or "", line.measure if is_ambiguous else ""
    return tuple(part for part in parts if part)


@dataclass(frozen=True)
class SetSection:
    """The tables of a test set: whole sets by heading, details by heading, and paired tests."""

    name: str
    tables: dict[str, Table[Result]]
    details: dict[str, Table[Result]]
    tests: Table[Comparison] | None
    test_names: list[str]


def set_sections(results: Sequence[Result], comparisons: Sequence[Comparison]) -> list[SetSection]:
    """A section for each test set, in order; statistics have their own table."""
    sections = []
    for name in dict.fromkeys(one.set for one in results if one.set != STATISTICS):
        whole, details = dict[str, Table[Result]](), dict[str, Table[Result]]()
        for heading, measures in MEASURES.items():
            lines = [one for one in results if one.set == name and one.measure in measures]
            for tables, is_detail in ((whole, False), (details, True)):
                if members := [one for one in lines if one.is_detail == is_detail]:
                    tables[heading] = Table.of(members)
        tests = [one for one in comparisons if one.set == name and not one.is_detail]
        table = Table.of(tests, with_zero=True) if tests else None
        sections.append(SetSection(name, whole, details, table, list(dict.fromkeys(one.test for one in tests))))
    return sections


@dataclass(frozen=True)
class SummaryRow:
    """A headline measure of a set: the results by vectors (None if missing), the best, and which it clearly beats."""

    set: str
    label: tuple[str, ...]
    results: list[Result | None]
    best: int | None
    beaten: list[str]


def summary(
    results: Sequence[Sequence[Result]], comparisons: Sequence[Comparison], names: Sequence[str]
) -> list[SummaryRow]:
    """A row for each headline measure of whole sets."""
    by_key = [
        {
            key_of(one): one
            for one in lines
            if one.measure in HEADLINES and one.section is None and not one.is_detail and one.method != MAJORITY
        }
        for lines in results
    ]
    rows = []
    for key in dict.fromkeys(chain.from_iterable(by_key)):
        cells = [lines.get(key) for lines in by_key]
        values = [one.value if one is not None else None for one in cells]
        numbers = [value for value in values if value is not None]
        best = values.index(max(numbers)) if numbers and len(names) > 1 and numbers.count(max(numbers)) == 1 else None
        beaten = [] if best is None else clearly_beaten(names[best], key, comparisons)
        label = (key.measure, *label_of(next(one for one in cells if one is not None))[1:])
        rows.append(SummaryRow(key.set, tuple(dict.fromkeys(label)), cells, best, beaten))
    return rows


def clearly_beaten(name: str, key: Key, comparisons: Sequence[Comparison]) -> list[str]:
    """The names of vectors whose difference from the best has an interval that excludes zero."""
    beaten = []
    for one in comparisons:
        if name in (one.first, one.second) and one.low is not None and one.high is not None and key_of(one) == key:
            is_better = one.low > 0 if one.first == name else one.high < 0
            beaten += [one.second if one.first == name else one.first] * is_better
    return beaten
