"""The page: sections in order, with the style and the figures inside it and nothing outside."""

import dataclasses
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from embeddings.eval.item_scores import Outcome
from embeddings.eval.report.report_tables import (
    CORRELATIONS,
    F_SCORES,
    MEAN,
    MEDIAN,
    RECIPROCAL,
    by_set,
    comparisons_table,
    facts_table,
    mark,
    results_table,
)
from embeddings.eval.report.run_record import record
from embeddings.eval.report.word_map import MAPPED, choose, maps, neighbours
from embeddings.eval.results import Result
from embeddings.eval.suite import Suite, compare
from embeddings.eval.vector_statistics import SET as FACTS
from embeddings.support.files import replacing
from embeddings.support.html import Html, heading, table, tag
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model

NOTHING_FROM_OUTSIDE = "default-src 'none'; style-src 'unsafe-inline'"
MEASURES = {
    "Similarity": CORRELATIONS,
    "Accuracy": ("accuracy",),
    "Categories": F_SCORES,
    "Clusters": ("purity",),
    "Held-out phrases: cosine": ("cosine",),
    "Held-out phrases: squared error": ("squared-error",),
    "Held-out phrases: reciprocal rank": RECIPROCAL,
    "Held-out phrases: median rank": MEDIAN,
    "Held-out phrases: mean rank": MEAN,
    "Words with vectors": ("words with vectors",),
}
ABOUT_TESTS = (
    "Both values of a line are over the items that both vectors have, so that they may differ from those above. p is "
    "the chance of so large a difference if there were none; it is not corrected for how many lines are looked at. A "
    "difference in bold, and a dot in the colour of the better, say that the interval leaves out zero."
)


@dataclass(frozen=True)
class Judged:
    """Vectors, what the page calls them, and what `Suite.judge` gave of them."""

    name: str
    vectors: Vectors
    outcomes: Sequence[Outcome]

    @classmethod
    def of(cls, name: str, source: "Vectors | Model", outcomes: Sequence[Outcome]) -> "Judged":
        """The same of vectors or a model."""
        return cls(name, source if isinstance(source, Vectors) else source.vectors, outcomes)


def write_report(
    path: str | os.PathLike[str],
    suite: Suite,
    judged: Sequence[Judged],
    *,
    words: Sequence[str] = (),
    command: str | None = None,
    force: bool = False,
) -> None:
    """Write what was found of several vectors as one page that needs nothing else.

    Arguments:
        suite: what they were judged by.
        words: whose neighbours are shown; some of several frequencies unless given.
        command: how it was made, to be shown.

    Raises:
        OutputError: the file exists (unless `force`) or cannot be written.
    """
    with replacing(path, force=force) as fresh:
        page = document(suite, judged, words=words, command=command)
        fresh.write_text(page, encoding="utf-8", errors="replace")


def document(suite: Suite, judged: Sequence[Judged], *, words: Sequence[str], command: str | None) -> str:
    """The page as text."""
    names, vectors = [one.name for one in judged], [one.vectors for one in judged]
    results = [[outcome.result() for outcome in one.outcomes] for one in judged]
    facts = record(suite, vectors, names, command)
    sections = {
        "Vectors": about(facts),
        **measured(results, names, detail=False),
        **tests([one.outcomes for one in judged], names),
        **plain(results, names),
        "Neighbours": neighbour_section(vectors, names, words),
        "Maps": map_section(vectors, names),
        **details(results, names),
        "To do it again": again(facts, results),
    }
    return "<!DOCTYPE html>\n" + tag("html", head(), body(sections, facts), data(facts, results), lang="en")


def head() -> Html:
    """What browsers need to know."""
    style = files("embeddings.eval.report").joinpath("style.css").read_text(encoding="utf-8")
    return tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{NOTHING_FROM_OUTSIDE}">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", "Word vectors judged"),
        tag("style", Html(style)),
    )


def body(sections: dict[str, Html], facts: dict[str, Any]) -> Html:
    """The sections, with a list of them."""
    links = (tag("a", name, href=f"#{place}") for place, name in enumerate(sections))
    parts = (tag("section", tag("h2", name, id=place), part) for place, (name, part) in enumerate(sections.items()))
    made = tag("p", f"embeddings {facts['packages']['embeddings-toolkit']}, {facts['made']}", class_="note")
    return tag("body", tag("h1", "Word vectors judged"), made, tag("nav", *links), *parts)


def about(facts: dict[str, Any]) -> Html:
    """Which vectors there are."""
    rows: list[list[object]] = [
        [
            mark(place, one["name"]),
            tag("td", f"{one['words']:,}", class_="number"),
            one["dim"],
            tag("code", one["fingerprint"]),
        ]
        for place, one in enumerate(facts["vectors"])
    ]
    return table(["vectors", heading("words"), heading("components"), "fingerprint"], rows)


def measured(results: Sequence[Sequence[Result]], names: Sequence[str], *, detail: bool) -> dict[str, Html]:
    """Tables for each kind of measure, of the sums or of the sections that are many."""
    every = [one for listed in results for one in listed if one.detail == detail and one.set != FACTS]
    found = {}
    for name, measures in MEASURES.items():
        if chosen := [one for one in every if one.measure in measures]:
            found[name] = by_set(chosen, lambda lines: results_table(lines, names))
    return found


def tests(judged: Sequence[Sequence[Outcome]], names: Sequence[str]) -> dict[str, Html]:
    """Paired tests, where there are two vectors at least."""
    found = [one for one in compare(judged) if not one.detail]
    if not found:
        return {}
    tables = by_set(found, lambda lines: comparisons_table(lines, names))
    return {"Paired tests": Html(tag("p", ABOUT_TESTS, class_="note") + tables)}


def plain(results: Sequence[Sequence[Result]], names: Sequence[str]) -> dict[str, Html]:
    """Plain facts, if they were asked for."""
    chosen = [[one for one in listed if one.set == FACTS] for listed in results]
    return {"Plain facts": facts_table(chosen, names)} if any(chosen) else {}


def neighbour_section(vectors: Sequence[Vectors], names: Sequence[str], words: Sequence[str]) -> Html:
    """Neighbours side by side."""
    note = "The nearest by cosine; in bold those that all vectors give."
    return Html(tag("p", note, class_="note") + neighbours(vectors, names, words or choose(vectors)))


def map_section(vectors: Sequence[Vectors], names: Sequence[str]) -> Html:
    """Maps side by side."""
    note = (
        f"The {MAPPED} most frequent words that all vectors hold, on a plane by t-SNE of cosine distances: near words "
        "are alike, far distances mean little. Maps are turned to lie as the first; dots are words that have no room."
    )
    return Html(tag("p", note, class_="note") + maps(vectors, names))


def details(results: Sequence[Sequence[Result]], names: Sequence[str]) -> dict[str, Html]:
    """Sections, tags, categories and labels, folded away."""
    parts = [tag("details", tag("summary", name), part) for name, part in measured(results, names, detail=True).items()]
    return {"In detail": Html("".join(parts))} if parts else {}


def again(facts: dict[str, Any], results: Sequence[Sequence[Result]]) -> Html:
    """How all of it was made, and how each measure treats what is odd."""
    protocols: dict[str, list[str]] = {}
    for one in (one for listed in results for one in listed if one.protocol):
        name = one.measure if one.set == FACTS else one.set
        protocols.setdefault(str(one.protocol), []).append(name)
    rows: list[list[object]] = [[", ".join(dict.fromkeys(sets)), how] for how, sets in protocols.items()]
    return Html(tag("pre", json.dumps(facts, indent=2, ensure_ascii=False)) + table(["measure", "how"], rows))


def data(facts: dict[str, Any], results: Sequence[Sequence[Result]]) -> Html:
    """The same for programs, in an element that no browser runs."""
    listed = [dataclasses.asdict(one) for found in results for one in found]
    told = json.dumps({"record": facts, "results": listed}).replace("<", "\\u003c").replace("&", "\\u0026")
    return tag("script", Html(told), type="application/json", id="results")
