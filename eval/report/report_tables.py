"""Results and paired tests as tables with strips."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from embeddings.eval.comparison import Comparison
from embeddings.eval.report.interval_plot import Scale
from embeddings.eval.results import Result
from embeddings.support.html import NONE, Html, heading, number, place, table, tag, word

Label = tuple[str, ...]
Line = TypeVar("Line", Result, Comparison)
GREY = 7  # the colour of what is not sure
CORRELATIONS = ("spearman", "pearson", "spearman-ratings", "spearman-participants")
RECIPROCAL = ("reciprocal-rank", "reciprocal-rank-by-distance")
MEDIAN = ("median-rank", "median-rank-by-distance")
MEAN = ("mean-rank", "mean-rank-by-distance")
F_SCORES = ("micro-f1", "macro-f1", "f1")


def what(one: Line) -> Label:
    """What is measured of a set, in words: its section, which words, by what method and, where in doubt, measure."""
    words = f"first {one.restrict:,} words" if one.restrict else ""
    measure = one.measure if one.measure in CORRELATIONS + RECIPROCAL + MEDIAN + MEAN + F_SCORES else ""
    return tuple(part for part in (one.section or "all", words, one.method or "", measure) if part)


def by_set(lines: Iterable[Line], draw: Callable[[list[Line]], Html]) -> Html:
    """What is drawn of the lines of each set, under its name."""
    found: dict[str, list[Line]] = {}
    for one in lines:
        found.setdefault(one.set, []).append(one)
    return Html("".join(tag("h3", word(name)) + draw(listed) for name, listed in found.items()))


def grouped(lines: Iterable[Line], rest: Callable[[Line], list[object]]) -> list[list[object]]:
    """A row for each line, those that measure the same together, with what is measured in the first cell."""
    found: dict[Label, list[Line]] = {}
    for one in lines:
        found.setdefault(what(one), []).append(one)
    rows = []
    for label, listed in found.items():
        first = tag("td", word(label[0]), *(f" · {part}" for part in label[1:]), rowspan=len(listed), class_="what")
        rows += [[first] * (place == 0) + rest(one) for place, one in enumerate(listed)]
    return rows


def results_table(lines: Sequence[Result], names: Sequence[str]) -> Html:
    """A line for each result of one set."""
    scale = Scale.of(value for one in lines for value in (one.low, one.value, one.high))
    heads: list[object] = ["measured", "vectors", scale.axis(), *map(heading, ("value", "95 % interval", "seen"))]
    return table(heads, grouped(lines, lambda one: result(one, names, scale)), class_="results")


def result(one: Result, names: Sequence[str], scale: Scale) -> list[object]:
    """The vectors, the strip, the value, its interval, and what it covers, in cells."""
    colour = names.index(one.vectors)
    shown = "no value" if one.value is None else f"{one.value:.4f}"
    strip = scale.strip(one.value, one.low, one.high, colour, f"{one.vectors}: {shown}")
    composed = f", {one.composed:,} composed" if one.composed else ""
    seen = tag("td", f"{one.seen:,} of {one.total:,}{composed}", class_="number")
    if one.value is None:
        return [mark(colour, one.vectors), strip, tag("td", f"none: {one.reason}", colspan=2), seen]
    return [mark(colour, one.vectors), strip, tag("td", shown, class_="number"), interval(one.low, one.high), seen]


def mark(colour: int, name: str) -> Html:
    """The name of vectors with their colour."""
    return tag("td", tag("span", "●", class_=f"dot colour{colour % 8}"), " ", place(name), class_="name")


def interval(low: float | None, high: float | None) -> Html:
    """Both ends of an interval."""
    return tag("td", NONE if low is None or high is None else f"{low:.4f} to {high:.4f}", class_="number")


def comparisons_table(lines: Sequence[Comparison], names: Sequence[str]) -> Html:
    """A line for each paired test of one set."""
    scale = Scale.of((value for one in lines for value in (one.low, one.difference, one.high)), zero=True)
    numbers = map(heading, ("difference", "95 % interval", "p", "items of both"))
    heads: list[object] = ["measured", "vectors", scale.axis(), *numbers]
    test = tag("p", f"By {' and '.join(dict.fromkeys(one.test for one in lines))}.", class_="note")
    return Html(test + table(heads, grouped(lines, lambda one: comparison(one, names, scale)), class_="results"))


def comparison(one: Comparison, names: Sequence[str], scale: Scale) -> list[object]:
    """The cells of a paired test; in the colour of the better where the interval leaves out zero."""
    sure = one.low is not None and one.high is not None and not one.low <= 0 <= one.high
    better = names.index(one.first if one.difference > 0 else one.second) if sure else GREY
    return [
        tag("td", place(one.first), " \u2212 ", place(one.second), class_="name"),
        scale.strip(one.difference, one.low, one.high, better, f"difference {one.difference:+.4f}"),
        tag("td", f"{one.difference:+.4f}", class_="number sure" if sure else "number"),
        interval(one.low, one.high),
        tag("td", "< 1e-15", class_="number") if one.p is not None and one.p < 1e-15 else number(one.p, 2),
        tag("td", f"{one.items:,}", class_="number"),
    ]


def facts_table(by_vectors: Sequence[Sequence[Result]], names: Sequence[str]) -> Html:
    """Plain facts, a column for each vectors."""
    found = [{one.measure: one for one in results} for results in by_vectors]
    measures = list(dict.fromkeys(measure for facts in found for measure in facts))
    rows: list[list[object]] = [
        [measure, *(number(facts[measure].value if measure in facts else None) for facts in found)]
        for measure in measures
    ]
    return table(["", *(tag("th", place(name), class_="number") for name in names)], rows)
