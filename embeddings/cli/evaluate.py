"""`embeddings evaluate`: how good vectors are."""

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import shared

if TYPE_CHECKING:
    from embeddings.eval import Comparison, Result

DEFAULTS = {"similarity": ("wordsim353", "simlex999"), "analogy": ("google-analogies",)}


@click.command("evaluate")
@click.argument("vectors", nargs=-1, required=True)
@click.option("--similarity", multiple=True, metavar="NAME|FILE", help="Word similarity set; may be repeated.")
@click.option("--analogy", multiple=True, metavar="NAME|FILE", help="Analogy questions; may be repeated.")
@click.option("--categories", multiple=True, metavar="NAME|FILE", help="Words by category, clustered; may be repeated.")
@click.option(
    "--tagging",
    multiple=True,
    metavar="NAME|FOLDER|TRAIN,TEST",
    help="Parts of speech, learned from one text and told in another; a treebank's folder or two files of CoNLL-U; "
    "may be repeated.",
)
@click.option(
    "--documents",
    multiple=True,
    metavar="FILE|TRAIN,TEST",
    help="Labelled documents, a table as those of `train`, told by the mean of their words; may be repeated.",
)
@click.option("--text-column", default="text", show_default=True, metavar="NAME", help="Column of documents.")
@click.option("--label-column", default="label", show_default=True, metavar="NAME", help="Column of their labels.")
@click.option("--facts", is_flag=True, help="Print lengths, evenness of directions, and hubs among neighbours.")
@click.option(
    "--method",
    type=click.Choice(["3cosadd", "3cosmul", "pairdirection"]),
    multiple=True,
    default=["3cosadd"],
    show_default=True,
    help="How analogies are answered: by adding and subtracting cosines, multiplying and dividing, or the direction of "
    "differences; may be repeated.",
)
@click.option(
    "--window",
    type=int,
    default=2,
    show_default=True,
    help="Words on either side that tell a word's part of speech.",
)
@click.option("--sections", is_flag=True, help="Print each section of analogies, tag, category and label, too.")
@click.option("--compare", is_flag=True, help="Print paired tests of each two of VECTORS instead of their values.")
@shared.as_json
@shared.reading
def command(
    vectors: tuple[str, ...], sections: bool, compare: bool, as_json: bool, allow_pickle: bool, encoding_errors: str,
    **settings: Any,
) -> None:  # fmt: skip
    """Print how well VECTORS agree with people's judgements, one or several files side by side.

    Sets by name: wordsim353, simlex999 (similarity), google-analogies (analogy); these if nothing is asked for;
    google-categories (categories), ud-ewt (tagging). Or any file in these forms, analogies also as those of MSR and
    BATS; of several columns, the rating is the one with that heading, or the first number after the two words. `seen`
    of `total` says how many pairs, questions, words or documents had vectors; analogies are counted over the full
    vocabulary and over its 30,000 most frequent words. `low` to `high` is a 95 % interval: how much of the value is
    chance in which items the set holds (bootstrap for correlations and tags, else Wilson's). The `protocol` in JSON
    says how unknown words, ties and duplicates are treated.
    """
    from embeddings.eval import suite

    if compare and len(vectors) < 2:
        raise click.UsageError("--compare needs two VECTORS at least")
    asked = any(settings[name] for name in suite.KINDS)
    read = suite.Suite.read(**(settings if asked else settings | DEFAULTS))
    judged = [read.judge(shared.load(path, allow_pickle, encoding_errors), path) for path in vectors]
    if compare:
        found: list[Any] = list(suite.compare(judged))
    else:
        found = [outcome.result() for outcomes in judged for outcome in outcomes]
    if as_json:
        shared.print_json([dataclasses.asdict(one) for one in found])
    else:
        made = comparison_row if compare else row
        shared.print_rows(made(one) for one in found if sections or not one.detail)


def comparison_row(one: "Comparison") -> dict[str, Any]:
    """A paired test as a line."""
    found = dataclasses.asdict(one)
    found["section"] = one.section or "all"
    found["words"] = f"first {one.restrict}" if one.restrict else "all"
    order = (
        "set", "section", "words", "measure", "method", "first", "second", "items", "value_first", "value_second",
        "difference", "low", "high", "p", "test",
    )  # fmt: skip
    return {name: found[name] for name in order}


def row(result: "Result") -> dict[str, Any]:
    """A result as a line."""
    return {
        "vectors": result.vectors,
        "set": result.set,
        "section": result.section or "all",
        "words": f"first {result.restrict}" if result.restrict else "all",
        "measure": result.measure,
        "method": result.method,
        "value": result.value if result.reason is None else f"none: {result.reason}",
        "low": result.low,
        "high": result.high,
        "seen": result.seen,
        "total": result.total,
    }
