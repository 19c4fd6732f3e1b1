"""`embeddings evaluate`: how good vectors are."""

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import neighbour_quality, shared

if TYPE_CHECKING:
    from embeddings.eval import Result

SUMS = (None, "semantic", "syntactic")


@click.command("evaluate")
@click.argument("vectors", nargs=-1, required=True)
@click.option("--similarity", multiple=True, metavar="NAME|FILE", help="Word similarity set; may be repeated.")
@click.option("--analogy", multiple=True, metavar="NAME|FILE", help="Analogy questions; may be repeated.")
@click.option(
    "--phrases",
    multiple=True,
    metavar="FILE|held-out",
    help="Ratings of phrases laid out as Mitchell and Lapata's, or the phrases that a model of composition was not "
    "fitted to, for each of its functions; may be repeated.",
)
@click.option(
    "--method",
    type=click.Choice(["3cosadd", "3cosmul"]),
    multiple=True,
    default=["3cosadd"],
    show_default=True,
    help="How analogies are answered: by adding and subtracting cosines, or multiplying and dividing; may be repeated.",
)
@click.option(
    "--compose",
    is_flag=True,
    help="Judge similarity with words outside the vocabulary too, their vectors composed (fastText); a column says of "
    "how many pairs.",
)
@click.option("--sections", is_flag=True, help="Print each section of analogy questions too.")
@shared.as_json
@shared.reading
@neighbour_quality.instead
def command(
    vectors: tuple[str, ...],
    similarity: tuple[str, ...],
    analogy: tuple[str, ...],
    phrases: tuple[str, ...],
    method: tuple[str, ...],
    compose: bool,
    sections: bool,
    as_json: bool,
    allow_pickle: bool,
    encoding_errors: str,
) -> None:
    """Print how well VECTORS agree with people's judgements, one or several files side by side.

    Sets by name: wordsim353, simlex999 (similarity), google-analogies (analogy), all of these if none is asked for;
    google-phrases (analogy, for vectors of phrases such as new_york). Or any file in these forms; of several columns,
    the rating is the one with that heading, or the first number after the two words. `seen` of `total` says how many
    pairs or questions had all their words; analogies are counted over the full vocabulary and over its 30,000 most
    frequent words. `low` to `high` is a 95 % interval: how much of the value is chance in which pairs or questions the
    set holds (bootstrap; Wilson's for accuracy).
    """
    from embeddings.eval import datasets
    from embeddings.eval import evaluate as judge
    from embeddings.eval.composition import read_tests

    if not similarity and not analogy and not phrases:
        known = {name: kind for name, kind in datasets.names().items() if name not in datasets.OF_PHRASES}
        similarity = tuple(name for name, kind in known.items() if kind == "similarity")
        analogy = tuple(name for name, kind in known.items() if kind == "analogy")
    for name in similarity:  # before the vectors, so that a bad file is told at once
        datasets.read_pairs(name)
    for name in analogy:
        datasets.read_questions(name)
    read_tests(phrases)
    results: list[Result] = []
    for path in vectors:
        loaded = shared.load_whole(path, allow_pickle, encoding_errors)
        results += judge(
            loaded,
            similarity=similarity,
            analogy=analogy,
            phrases=phrases,
            method=method,
            name=path,
            compose=compose,
        )
    if as_json:
        shared.print_json([dataclasses.asdict(result) for result in results])
    else:
        shared.print_rows(row(result, compose) for result in results if sections or asked(result))


def asked(result: "Result") -> bool:
    """Whether a result is printed unasked: of analogies not each section."""
    return result.measure != "accuracy" or result.section in SUMS


def row(result: "Result", compose: bool) -> dict[str, Any]:
    """A result as a line."""
    shown = {
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
    return shown | {"composed": result.composed} if compose else shown
