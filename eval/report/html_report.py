"""The report: tables of results and paired tests, rendered by the template."""

import dataclasses
import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from embeddings.eval.evaluation import Suite, compare_scores
from embeddings.eval.statistics.results import ALL, Comparison, Comparisons, ItemScores, Result, Scores
from embeddings.eval.test_sets import content_fingerprint
from embeddings.models.model_files import package_versions
from embeddings.support.files import atomic_write
from embeddings.support.html_elements import Html, text, word
from embeddings.support.imports import import_library
from embeddings.support.records import to_jsonable
from embeddings.support.result_table import column_cells
from embeddings.vectors.vectors import Vectors, as_vectors

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


MARGIN = 2  # per cent on either side of a plot


def table(lines: Scores | Comparisons) -> dict[str, Any]:
    """A table of results or tests: its columns that say something, and for each line its texts and its interval.

    The interval is in per cent of a plot; the lines of a measure share a scale, which holds zero.
    """
    cells: list[dict[str, Any]] = [lines.shown(one) for one in lines]  # type: ignore[arg-type]
    names = dict.fromkeys(name for row in cells for name in row if name != "set")
    columns = [name for name in names if any(row.get(name) not in (None, ALL) for row in cells)]
    scales: dict[str, list[float]] = {}
    for one in lines:
        scales.setdefault(one.measure, [0.0]).extend(value for value in ends(one) if value is not None)
    plots = []
    for one in lines:
        low, high = min(scales[one.measure]), max(scales[one.measure])
        width = (100 - 2 * MARGIN) / (high - low or 1)
        places = (None if value is None else MARGIN + width * (value - low) for value in (0.0, *ends(one)))
        plots.append(dict(zip(("zero", "low", "value", "high"), places, strict=True)))
    texts = zip(*(column_cells([row.get(name) for row in cells]) for name in columns), strict=True)
    return {"columns": columns, "rows": list(zip(texts, plots, strict=True))}


def ends(line: Result | Comparison) -> tuple[float | None, float | None, float | None]:
    """The lower end, the value and the upper end of a result, or of the difference of a test."""
    return line.low, line.value if isinstance(line, Result) else line.difference, line.high


def set_tables(results: Sequence[Result], comparisons: Sequence[Comparison]) -> dict[str, dict[str, Any]]:
    """The tables of each test set, by name: results, tests, and details of both."""
    tables: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(one.set for one in results):
        parts: dict[str, Scores | Comparisons] = {}
        for heading, is_detail in (("", False), (" in detail", True)):
            own = [one for one in results if (one.set, one.is_detail) == (name, is_detail)]
            tests = [one for one in comparisons if (one.set, one.is_detail) == (name, is_detail)]
            parts |= {f"Results{heading}": Scores(own), f"Paired tests{heading}": Comparisons(tests)}
        tables[name] = {heading: table(part) for heading, part in parts.items() if part}
    return tables


def write_report(
    path: str | os.PathLike[str],
    suite: Suite,
    vectors: "Sequence[Vectors | Model]",
    scores: Sequence[Sequence[ItemScores]],
    *,
    command: str | None = None,
    force: bool = False,
) -> None:
    """Write the results of several vectors as one self-contained HTML page.

    Arguments:
        path: the file.
        suite: the test sets.
        vectors: what was evaluated.
        scores: of each, as `Suite.score` gave them.
        command: the command that made the report, to be shown.
        force: replace an existing file.

    Raises:
        OutputError: the file exists (without `force`) or cannot be written.
    """
    with atomic_write(path, force=force) as fresh:
        fresh.write_text(render(suite, vectors, scores, command), encoding="utf-8", errors="replace")


def render(
    suite: Suite, vectors: "Sequence[Vectors | Model]", scores: Sequence[Sequence[ItemScores]], command: str | None
) -> str:
    """The page as text."""
    results = [one.result() for part in scores for one in part]
    names = [part[0].vectors for part in scores]
    record = run_record(suite, list(map(as_vectors, vectors)), names, command)
    protocols: dict[str, dict[str, None]] = {}  # the test sets that each protocol describes
    for one in results:
        if one.protocol:
            protocols.setdefault(one.protocol, {})[one.set] = None
    data = {"record": record, "results": [dataclasses.asdict(one) for one in results]}
    jinja2 = import_library("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("embeddings.eval.report"), autoescape=True, finalize=printable, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters["word"] = word
    page: str = environment.get_template("report.html.jinja").render(
        record=record,
        sets=set_tables(results, compare_scores(scores)),
        protocols={protocol: list(names) for protocol, names in protocols.items()},
        pretty_record=json.dumps(record, indent=2, ensure_ascii=False),
        data=Html(json.dumps(data).replace("<", "\\u003c").replace("&", "\\u0026")),  # inside a script element
    )
    return page


def printable(value: object) -> object:
    """A value with unprintable characters replaced and escaped; markup as it is."""
    return value if hasattr(value, "__html__") else text(value)
