"""The report: the data of each section, and its rendering by the template."""

import dataclasses
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from embeddings.eval.measures.vector_statistics import SET as STATISTICS
from embeddings.eval.report import word_map
from embeddings.eval.report.report_tables import set_sections, summary
from embeddings.eval.report.run_record import run_record
from embeddings.eval.statistics.item_scores import ItemScores
from embeddings.eval.statistics.results import Result
from embeddings.eval.suite import Suite, compare_scores
from embeddings.support.files import atomic_write
from embeddings.support.html import text, word
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model

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
    words: Sequence[str] = (),
    command: str | None = None,
    force: bool = False,
) -> None:
    """Write the results of several vectors as one self-contained HTML page.

    Arguments:
        path: the file.
        suite: the test sets.
        evaluated: the vectors and their scores.
        words: words whose neighbours are shown; by default some of several frequencies.
        command: the command that made the report, to be shown.
        force: replace an existing file.

    Raises:
        OutputError: the file exists (without `force`) or cannot be written.
    """
    with atomic_write(path, force=force) as fresh:
        page = render(suite, evaluated, words=words, command=command)
        fresh.write_text(page, encoding="utf-8", errors="replace")


def render(suite: Suite, evaluated: Sequence[EvaluatedVectors], *, words: Sequence[str], command: str | None) -> str:
    """The page as text."""
    names, vectors = [one.name for one in evaluated], [one.vectors for one in evaluated]
    results = [[scores.result() for scores in one.scores] for one in evaluated]
    everything = list(chain.from_iterable(results))
    comparisons = compare_scores([one.scores for one in evaluated])
    record = run_record(suite, vectors, names, command)
    data = {"record": record, "results": [dataclasses.asdict(one) for one in everything]}
    environment = Environment(
        loader=PackageLoader("embeddings.eval.report"), autoescape=True, finalize=printable, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined,
    )  # fmt: skip
    environment.filters |= {"word": word, "vectors_name": vectors_name}
    return environment.get_template("report.html.jinja").render(
        names=names,
        record=record,
        summary=summary(results, comparisons, names),
        sets=set_sections(everything, comparisons),
        statistics=statistics(results),
        neighbours={one: word_map.neighbour_rows(vectors, one) for one in words or word_map.choose_words(vectors)},
        maps=word_map.word_maps(vectors),
        map_words=word_map.MAPPED,
        map_size=word_map.SIZE,
        map_label=word_map.MAX_LABEL,
        protocols=protocols(everything),
        pretty_record=json.dumps(record, indent=2, ensure_ascii=False),
        data=Markup(json.dumps(data).replace("<", "\\u003c").replace("&", "\\u0026")),  # inside a script element
    )


def statistics(results: Sequence[Sequence[Result]]) -> dict[str, list[float | None]]:
    """The values of each statistic, one for each set of vectors."""
    by_vectors = [{one.measure: one.value for one in lines if one.set == STATISTICS} for lines in results]
    measures = dict.fromkeys(measure for values in by_vectors for measure in values)
    return {measure: [values.get(measure) for values in by_vectors] for measure in measures}


def protocols(results: Sequence[Result]) -> dict[str, list[str]]:
    """The test sets, or statistics, that each protocol describes."""
    sets: dict[str, dict[str, None]] = {}
    for one in results:
        if one.protocol:
            sets.setdefault(one.protocol, {})[one.measure if one.set == STATISTICS else one.set] = None
    return {protocol: list(names) for protocol, names in sets.items()}


def printable(value: object) -> object:
    """A value with unprintable characters replaced and escaped; markup as it is."""
    return value if hasattr(value, "__html__") else Markup(text(value))


def vectors_name(name: str) -> Markup:
    """The name of vectors, often a path, of which the end is shown if it is long."""
    short = name if len(name) <= MAX_NAME else "…" + name[1 - MAX_NAME :]
    title = "" if short == name else f' title="{text(name)}"'
    return Markup(f"<bdi{title}>{text(short)}</bdi>")
