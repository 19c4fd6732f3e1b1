"""Results and paired tests as tables with strips."""

from collections.abc import Sequence

from embeddings.eval.comparison import Comparison
from embeddings.eval.report.html import NONE, Html, heading, number, table, tag, word
from embeddings.eval.report.strips import Scale
from embeddings.eval.results import Result

Label = tuple[str, ...]
CORRELATIONS = ("spearman", "pearson")


def what(one: Result | Comparison) -> Label:
    """What is measured, in words: the set, its section, which words, by what method and, where in doubt, measure."""
    section = one.section or "all"
    words = f"first {one.restrict:,} words" if one.restrict else ""
    measure = one.measure if one.measure in CORRELATIONS else ""
    return tuple(part for part in (one.set, section, words, one.method or "", measure) if part)


def named(label: Label, lines: int = 1) -> Html:
    """The cell of it, the set's name foremost, beside so many lines."""
    name = tag("strong", word(label[0]))
    return tag("td", name, *(f" · {part}" for part in label[1:]), rowspan=lines if lines > 1 else None, class_="what")


def results_table(by_vectors: Sequence[Sequence[Result]]) -> Html:
    """A line for each result of each vectors, those that measure the same together."""
    scale = Scale.of(value for results in by_vectors for one in results for value in (one.low, one.value, one.high))
    found: dict[Label, list[tuple[int, Result]]] = {}
    for place, results in enumerate(by_vectors):
        for one in results:
            found.setdefault(what(one), []).append((place, one))
    rows: list[list[object]] = []
    for label, lines in found.items():
        for line, (place, one) in enumerate(lines):
            first = [named(label, len(lines))] if line == 0 else []
            rows.append([*first, mark(place, one.vectors), drawn(scale, one, place), *values(one)])
    return table(
        ["measured", "vectors", scale.axis(), *map(heading, ("value", "95 % interval", "seen"))], rows, class_="results"
    )


def mark(place: int, name: str) -> Html:
    """The name of vectors with their colour."""
    return tag("td", tag("span", "●", class_=f"dot colour{place % 8}"), " ", word(name))


def values(one: Result) -> list[object]:
    """The value, its interval, and what it covers, in cells."""
    seen = tag("td", f"{one.seen:,} of {one.total:,}", class_="number")
    if one.value is None:
        return [tag("td", f"none: {one.reason}", colspan=2), seen]
    return [tag("td", f"{one.value:.4f}", class_="number"), interval(one.low, one.high), seen]


def interval(low: float | None, high: float | None) -> Html:
    """Both ends of an interval."""
    return tag("td", NONE if low is None or high is None else f"{low:.4f} to {high:.4f}", class_="number")


def drawn(scale: Scale, one: Result, colour: int) -> Html:
    """The strip of a result."""
    label = f"{one.vectors}: {'no value' if one.value is None else f'{one.value:.4f}'}"
    return scale.strip(one.value, one.low, one.high, colour, label)


def comparisons_table(found: Sequence[Comparison], names: Sequence[str]) -> Html:
    """A line for each paired test; the difference is drawn in the colour of the better where its interval is sure."""
    scale = Scale.of((value for one in found for value in (one.low, one.difference, one.high)), zero=True)
    numbers = map(heading, ("difference", "95 % interval", "p", "items of both"))
    heads: list[object] = ["measured", "vectors", scale.axis(), *numbers]
    test = tag("p", f"By {', '.join(dict.fromkeys(one.test for one in found))}.", class_="note")
    return Html(test + table(heads, [comparison(one, names, scale) for one in found], class_="results"))


def comparison(one: Comparison, names: Sequence[str], scale: Scale) -> list[object]:
    """The line of a paired test."""
    sure = one.low is not None and one.high is not None and not one.low <= 0 <= one.high
    better = names.index(one.first if one.difference > 0 else one.second) if sure else 7
    return [
        named(what(one)),
        tag("td", word(one.first), " \u2212 ", word(one.second)),
        scale.strip(one.difference, one.low, one.high, better, f"difference {one.difference:+.4f}"),
        tag("td", f"{one.difference:+.4f}", class_="number sure" if sure else "number"),
        interval(one.low, one.high),
        number(one.p, 2),
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
    return table(["", *(tag("th", word(name), class_="number") for name in names)], rows)
