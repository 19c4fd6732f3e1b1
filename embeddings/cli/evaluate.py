"""`embeddings evaluate`: how good vectors are."""

import dataclasses
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import judging, neighbour_quality, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from embeddings.eval import Comparison, Result
    from embeddings.eval.outcomes import Outcome
    from embeddings.model import Model
    from embeddings.vectors import Vectors

RESULT = ("vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "seen", "total")
COMPARISON = (
    "set", "section", "words", "measure", "method", "first", "second", "items", "value_first", "value_second",
    "difference", "low", "high", "p", "test",
)  # fmt: skip


@click.command("evaluate")
@click.argument("vectors", nargs=-1, required=True)
@judging.sets
@click.option("--sections", is_flag=True, help="Print each section of analogies, tag, category and label, too.")
@click.option("--compare", is_flag=True, help="Print paired tests of each two of VECTORS instead of their values.")
@click.option(
    "--report", metavar="FILE", help="Write a page of HTML too: tables, plots, paired tests, neighbours and maps."
)
@click.option("--word", "words", multiple=True, help="A word whose neighbours the report shows; may be repeated.")
@shared.force
@shared.as_json
@shared.reading
@neighbour_quality.instead
def command(
    vectors: tuple[str, ...], sections: bool, compare: bool, report: str | None, words: tuple[str, ...], force: bool,
    as_json: bool, allow_pickle: bool, encoding_errors: str, **settings: Any,
) -> None:  # fmt: skip
    """Print how well VECTORS agree with people's judgements, one or several files side by side.

    Sets by name: wordsim353, simlex999 (similarity), google-analogies (analogy); these if nothing is asked for;
    google-phrases (analogy, for vectors of phrases such as new_york), google-categories (categories), ud-ewt (tagging).
    Or any file in these forms, analogies also as those of MSR and BATS; of several columns, the rating is the one with
    that heading, or the first number after the two words. `seen` of `total` says how many pairs, questions, words or
    documents had vectors; analogies are counted over the full vocabulary and over its 30,000 most frequent words. `low`
    to `high` is a 95 % interval: how much of the value is chance in which items the set holds (bootstrap for
    correlations and tags, else Wilson's). The `protocol` in JSON says how unknown words, ties and duplicates are
    treated.
    """
    from embeddings.eval import suite
    from embeddings.files import check_output

    check(vectors, compare, report, words, force)
    if report is not None:
        check_output(report, force=force)
    known = judging.DEFAULTS if report is None else judging.FOR_REPORTS
    read = suite.Suite.read(**judging.settings(settings, known))
    kept: list[Vectors | Model] = []
    judged: list[list[Outcome]] = []
    for path in vectors:
        loaded = shared.load_whole(path, allow_pickle, encoding_errors)
        judged.append(read.judge(loaded, path))
        kept += [loaded] if report is not None else []
    if report is not None:
        from embeddings.eval.report import Judged, write_report

        called = shlex.join(["embeddings", *sys.argv[1:]])
        found = [Judged.of(*one) for one in zip(vectors, kept, judged, strict=True)]
        write_report(report, read, found, words=words, command=called, force=force)
    show(suite.compare(judged) if compare else results(judged), sections, as_json, composed=read.compose)


def check(vectors: tuple[str, ...], compare: bool, report: str | None, words: tuple[str, ...], force: bool) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: naming them.
    """
    if compare and len(vectors) < 2:
        raise click.UsageError("--compare needs two VECTORS at least")
    if report is None and (words or force):
        raise click.UsageError(f"{'--word' if words else '--force'} is of use only with --report")


def results(judged: "list[list[Outcome]]") -> "list[Result]":
    """The values of all vectors, one after another."""
    return [outcome.result() for outcomes in judged for outcome in outcomes]


def show(found: "Sequence[Result | Comparison]", sections: bool, as_json: bool, *, composed: bool) -> None:
    """Print values or paired tests; of values also over how many composed pairs, if there may be any."""
    if as_json:
        shared.print_json([dataclasses.asdict(one) for one in found])
    else:
        shared.print_rows(row(one, composed) for one in found if sections or not one.detail)


def row(one: "Result | Comparison", composed: bool) -> dict[str, Any]:
    """A result or a paired test as a line."""
    found = dataclasses.asdict(one)
    found["section"] = one.section or "all"
    found["words"] = f"first {one.restrict}" if one.restrict else "all"
    if found.get("reason") is not None:
        found["value"] = f"none: {found['reason']}"
    order = COMPARISON if "first" in found else RESULT + ("composed",) * composed
    return {name: found[name] for name in order}
