"""`embeddings evaluate`: how good vectors are."""

import dataclasses
import shlex
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, cast

import click

from embeddings.cli import common, evaluation_options, neighbour_quality

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from embeddings.eval import Comparison, Result, Suite
    from embeddings.eval.document_classification import Represented
    from embeddings.eval.item_scores import Outcome
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors

RESULT = ("vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "seen", "total")
COMPARISON = (
    "set", "section", "words", "measure", "method", "first", "second", "items", "value_first", "value_second",
    "difference", "low", "high", "p", "test",
)  # fmt: skip


@click.command("evaluate")
@click.argument("vectors", nargs=-1, required=True)
@evaluation_options.sets
@click.option("--sections", is_flag=True, help="Print each section of analogies, tag, category and label, too.")
@click.option("--compare", is_flag=True, help="Print paired tests of each two of VECTORS instead of their values.")
@click.option(
    "--beside",
    metavar="MODEL",
    multiple=True,
    help="Judge each of VECTORS with this model's vectors of documents beside its own, by documents; may be repeated.",
)
@click.option(
    "--report", metavar="FILE", help="Write a page of HTML too: tables, plots, paired tests, neighbours and maps."
)
@click.option("--word", "words", multiple=True, help="A word whose neighbours the report shows; may be repeated.")
@common.force
@common.as_json
@common.reading
@neighbour_quality.instead
def command(
    vectors: tuple[str, ...], sections: bool, compare: bool, beside: tuple[str, ...], report: str | None,
    words: tuple[str, ...], force: bool, as_json: bool, allow_pickle: bool, encoding_errors: str, **settings: Any,
) -> None:  # fmt: skip
    """Print how well VECTORS agree with people's judgements, one or several files side by side.

    Sets by name: wordsim353, simlex999 (similarity), google-analogies (analogy); these if nothing is asked for;
    google-phrases (analogy, for vectors of phrases such as new_york), google-categories (categories), ud-ewt (tagging).
    Or any file in these forms, analogies also as those of MSR and BATS; of several columns, the rating is the one with
    that heading, or the first number after the two words. `seen` of `total` says how many pairs, questions, words or
    documents had vectors; analogies are counted over the full vocabulary and over its 30,000 most frequent words. `low`
    to `high` is a 95 % interval: how much of the value is chance in which items the set holds, by the bootstrap over
    pairs, sentences or words, or Wilson's. The `protocol` in JSON says which, and how unknown words, ties and
    duplicates are treated. Lines come as soon as a set is done.
    """
    from embeddings.eval import suite
    from embeddings.models.document_vectors import load_side_by_side
    from embeddings.support.files import check_file

    check(vectors, compare, beside, report, words, force)
    if report is not None:
        check_file(report, force=force)
    known = evaluation_options.DEFAULTS if report is None else evaluation_options.FOR_REPORTS
    read = suite.Suite.read(**evaluation_options.settings(settings, known))
    common.check_paths((*vectors, *beside))

    def load(path: str) -> "Represented":
        if beside:
            return load_side_by_side([path, *beside])
        return common.load_whole(path, allow_pickle, encoding_errors)

    run = Run(read, vectors, load, report is not None)
    if compare:
        run.print_comparisons(sections, as_json)
    else:
        run.print_values(sections, as_json)
    if report is not None:
        from embeddings.eval.report import Judged, write_report

        called = shlex.join(["embeddings", *sys.argv[1:]])
        kept = cast("list[Model | Vectors]", run.kept)  # models side by side were refused
        found = [Judged.of(*one) for one in zip(vectors, kept, run.judged, strict=True)]
        write_report(report, read, found, words=words, command=called, force=force)


def check(
    vectors: tuple[str, ...], compare: bool, beside: tuple[str, ...], report: str | None, words: tuple[str, ...],
    force: bool,
) -> None:  # fmt: skip
    """Refuse options that do not go together.

    Raises:
        UsageError: naming them.
    """
    if compare and len(vectors) < 2:
        raise click.UsageError("--compare needs two VECTORS at least")
    if beside and report is not None:
        raise click.UsageError("--report is of vectors of words, which models side by side do not have")
    if report is None and (words or force):
        raise click.UsageError(f"{'--word' if words else '--force'} is of use only with --report")


class Run:
    """Vectors judged one after another; whatever is found is printed, also where what follows fails.

    `judged` holds what was found so far, `kept` the vectors, if they are to be kept.
    """

    def __init__(self, read: "Suite", paths: "Sequence[str]", load: "Callable[[str], Represented]", keep: bool) -> None:
        self.read, self.paths, self.load, self.keep = read, paths, load, keep
        self.kept: list[Represented] = []
        self.judged: list[list[Outcome]] = []
        self.told: set[tuple[str, str]] = set()

    def outcomes(self) -> "Iterator[Outcome]":
        """What becomes of every set, as soon as it is done."""
        for path in self.paths:
            loaded = self.load(path)
            self.judged.append([])
            for outcome in self.read.outcomes(loaded, path):
                self.judged[-1].append(outcome)
                self.tell(outcome)
                yield outcome
            self.kept += [loaded] if self.keep else []

    def tell(self, outcome: "Outcome") -> None:
        """Say what went otherwise than it should, once."""
        note = f"{outcome.vectors}, {outcome.key.set}", str(outcome.note)
        if outcome.note is not None and note not in self.told:
            self.told.add(note)
            click.echo(": ".join(note), err=True)

    def print_values(self, sections: bool, as_json: bool) -> None:
        """Print the values, each as soon as it is there."""
        show((outcome.result() for outcome in self.outcomes()), sections, as_json, composed=self.read.compose)

    def print_comparisons(self, sections: bool, as_json: bool) -> None:
        """Print paired tests of what there is in the end."""
        from embeddings.eval import suite

        whole = False
        try:
            deque(self.outcomes(), maxlen=0)
            whole = True
        finally:
            found = suite.compare(self.judged)
            if found or whole:
                show(found, sections, as_json, composed=False)
        if not found:
            click.echo("nothing to compare: no set has a value for two of VECTORS on items that both have", err=True)


def show(found: "Iterable[Result | Comparison]", sections: bool, as_json: bool, *, composed: bool) -> None:
    """Print values or paired tests; of values also over how many composed pairs, if there may be any."""
    if as_json:
        common.print_rows((dataclasses.asdict(one) for one in found), as_json=True)
    else:
        common.print_rows(row(one, composed) for one in found if sections or not one.detail)


def row(one: "Result | Comparison", composed: bool) -> dict[str, Any]:
    """A result or a paired test as a line."""
    found = dataclasses.asdict(one)
    found["section"] = one.section or "all"
    found["words"] = f"first {one.restrict}" if one.restrict else "all"
    if found.get("reason") is not None:
        found["value"] = f"none: {found['reason']}"
    order = COMPARISON if "first" in found else RESULT + ("composed",) * composed
    return {name: found[name] for name in order}
