"""The report: tables of results and paired tests, and their rendering by the template."""

import dataclasses
import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from embeddings.eval.evaluation import Suite, compare_scores
from embeddings.eval.statistics.results import Comparison, ItemScores, Result, key_of
from embeddings.eval.tasks.linear_classifier import MAJORITY
from embeddings.eval.tasks.vector_statistics import SET as STATISTICS
from embeddings.eval.test_sets import content_fingerprint
from embeddings.models.model_files import package_versions
from embeddings.support.files import atomic_write
from embeddings.support.html_elements import Html, tag, text, word
from embeddings.support.imports import import_library
from embeddings.support.records import to_jsonable
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model


PACKAGES = ("embeddings-toolkit", "numpy", "scipy", "scikit-learn", "faiss-cpu", "pyarrow", "numba")


def run_record(suite: Suite, vectors: Sequence[Vectors], names: Sequence[str], command: str | None) -> dict[str, Any]:
    """The record as JSON values."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "settings": {task.kind.name: to_jsonable(vars(task.settings)) for task in suite.tasks},
        "test sets": {
            f"{task.kind.name}: {one.name}": content_fingerprint(one)
            for task in suite.tasks for one in task.sets if one
        },
        "vectors": [
            {
                "name": name, "words": len(one), "dim": one.dim,
                "fingerprint": content_fingerprint([list(one.words), one.fingerprint]),
            }
            for one, name in zip(vectors, names, strict=True)
        ],
        "packages": package_versions(PACKAGES),
        "machine": {"system": platform.platform(), "processor": platform.processor() or platform.machine()},
    }  # fmt: skip


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
# measures of the summary; higher is better
HEADLINES = ("spearman", "accuracy", "macro-f1", "purity", "v-measure", "ndcg@10")


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


def set_sections(results: Sequence[Result], comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """A section for each test set, in order; statistics have their own table.

    A section has tables of whole sets and of details, by heading, and of paired tests.
    """
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
        names = list(dict.fromkeys(one.test for one in tests))
        sections.append({"name": name, "tables": whole, "details": details, "tests": table, "test_names": names})
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
        beaten = []
        for one in comparisons if best is not None else ():
            if best is not None and names[best] in (one.first, one.second) and key_of(one) == key:
                is_first = one.first == names[best]
                is_better = (one.low or 0) > 0 if is_first else (one.high or 0) < 0
                beaten += [one.second if is_first else one.first] * is_better
        label = (key.measure, *label_of(next(one for one in cells if one is not None))[1:])
        rows.append(SummaryRow(key.set, tuple(dict.fromkeys(label)), cells, best, beaten))
    return rows


MAX_NAME = 28  # characters shown of the name of vectors


@dataclass(frozen=True)
class EvaluatedVectors:
    """Vectors, what the page calls them, and the scores that `Suite.score` gave."""

    name: str
    vectors: Vectors
    scores: Sequence[ItemScores]

    @classmethod
    def of(cls, name: str, source: "Vectors | Model", scores: Sequence[ItemScores]) -> "EvaluatedVectors":
        """The evaluated vectors of `source`."""
        return cls(name, source if isinstance(source, Vectors) else source.vectors, scores)


def write_report(
    path: str | os.PathLike[str],
    suite: Suite,
    evaluated: Sequence[EvaluatedVectors],
    *,
    command: str | None = None,
    force: bool = False,
) -> None:
    """Write the results of several vectors as one self-contained HTML page.

    Arguments:
        path: the file.
        suite: the test sets.
        evaluated: the vectors and their scores.
        command: the command that made the report, to be shown.
        force: replace an existing file.

    Raises:
        OutputError: the file exists (without `force`) or cannot be written.
    """
    with atomic_write(path, force=force) as fresh:
        fresh.write_text(render(suite, evaluated, command), encoding="utf-8", errors="replace")


def render(suite: Suite, evaluated: Sequence[EvaluatedVectors], command: str | None) -> str:
    """The page as text."""
    names, vectors = [one.name for one in evaluated], [one.vectors for one in evaluated]
    results = [[scores.result() for scores in one.scores] for one in evaluated]
    everything = list(chain.from_iterable(results))
    comparisons = compare_scores([one.scores for one in evaluated])
    record = run_record(suite, vectors, names, command)
    by_vectors = [{one.measure: one.value for one in lines if one.set == STATISTICS} for lines in results]
    statistics = dict.fromkeys(measure for values in by_vectors for measure in values)
    protocols: dict[str, dict[str, None]] = {}  # the test sets, or statistics, that each protocol describes
    for one in everything:
        if one.protocol:
            protocols.setdefault(one.protocol, {})[one.measure if one.set == STATISTICS else one.set] = None
    data = {"record": record, "results": [dataclasses.asdict(one) for one in everything]}
    jinja2 = import_library("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("embeddings.eval.report"), autoescape=True, finalize=printable, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters |= {"word": word, "vectors_name": vectors_name}
    page: str = environment.get_template("report.html.jinja").render(
        names=names,
        record=record,
        summary=summary(results, comparisons, names),
        sets=set_sections(everything, comparisons),
        statistics={measure: [values.get(measure) for values in by_vectors] for measure in statistics},
        protocols={protocol: list(names) for protocol, names in protocols.items()},
        pretty_record=json.dumps(record, indent=2, ensure_ascii=False),
        data=Html(json.dumps(data).replace("<", "\\u003c").replace("&", "\\u0026")),  # inside a script element
    )
    return page


def printable(value: object) -> object:
    """A value with unprintable characters replaced and escaped; markup as it is."""
    return value if hasattr(value, "__html__") else text(value)


def vectors_name(name: str) -> Html:
    """The name of vectors, often a path; only the end of a long name is shown."""
    short = name if len(name) <= MAX_NAME else "…" + name[1 - MAX_NAME :]
    return tag("bdi", short, title=None if short == name else name)
