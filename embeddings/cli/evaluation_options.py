"""The options that say what vectors are judged by: the settings of `embeddings.eval.Suite`."""

from collections.abc import Callable
from typing import Any

import click

from embeddings.cli import common
from embeddings.settings import flag

DEFAULTS: dict[str, Any] = {"similarity": ("wordsim353", "simlex999"), "analogy": ("google-analogies",)}
FOR_REPORTS: dict[str, Any] = DEFAULTS | {"categories": ("google-categories",), "facts": True}
ALL = "all"  # words
NEEDS = {
    "compose": "similarity",
    "method": "analogy",
    "restrict": "analogy",
    "window": "tagging",
    "text_column": "documents",
    "label_column": "documents",
    "trained": "documents",
    "name_column": "documents",
}


class Words(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click
    """A whole number of at least 1, or `all`, which stays a text."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or `all`."""
        return ALL if value == ALL else click.IntRange(min=1).convert(value, param, ctx)


SETS = (
    click.option("--similarity", multiple=True, metavar="NAME|FILE", help="Word similarity set; may be repeated."),
    click.option("--analogy", multiple=True, metavar="NAME|FILE", help="Analogy questions; may be repeated."),
    click.option(
        "--phrases",
        multiple=True,
        metavar="FILE|held-out",
        help="Ratings of phrases laid out as Mitchell and Lapata's, or the phrases that a model of composition was not "
        "fitted to, for each of its functions; may be repeated.",
    ),
    click.option("--categories", multiple=True, metavar="NAME|FILE", help="Words by category; may be repeated."),
    click.option(
        "--tagging",
        multiple=True,
        metavar="NAME|FOLDER|TRAIN,TEST",
        help="Parts of speech, learned from one text and told in another; a treebank's folder or two files of CoNLL-U; "
        "may be repeated.",
    ),
    click.option(
        "--documents",
        multiple=True,
        metavar="FILE|TRAIN,TEST",
        help="Labelled documents, a table as those of `train`, told by the mean of their words, or by what a "
        "model of documents infers; may be repeated.",
    ),
    click.option("--text-column", metavar="NAME", help="Column of documents.  [default: text]"),
    click.option("--label-column", metavar="NAME", help="Column of their labels.  [default: label]"),
    click.option(
        "--trained",
        is_flag=True,
        help="Documents have the vectors that were learned for them: of the model, or VECTORS themselves. Those of "
        "TRAIN are the first, numbered from 0, then come those of TEST.",
    ),
    click.option("--name-column", metavar="NAME", help="The same by the names (tags) of documents in this column."),
    click.option("--facts", is_flag=True, help="Print lengths, evenness of directions, and hubs among neighbours."),
    click.option(
        "--compose",
        is_flag=True,
        help="Judge similarity with words outside the vocabulary too, their vectors composed (fastText); a column says "
        "of how many pairs.",
    ),
    click.option(
        "--method",
        type=click.Choice(["3cosadd", "3cosmul", "pairdirection"]),
        multiple=True,
        help="How analogies are answered: by adding and subtracting cosines, multiplying and dividing, or by the "
        "direction of differences; may be repeated.  [default: 3cosadd]",
    ),
    click.option(
        "--restrict",
        type=Words(),
        multiple=True,
        metavar="WORDS|all",
        help="Analogies among only the first so many words, the most frequent, or all; may be repeated; those that "
        "make no difference are passed over.  [default: all and 30000]",
    ),
    click.option("--window", type=int, help="Words on either side that tell a word's part of speech.  [default: 2]"),
)


def sets(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options."""
    for option in reversed(SETS):
        command = option(command)
    return command


def settings(given: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """What was given on the command line as settings of `Suite.read`, with the `known` sets where none is asked for.

    Raises:
        UsageError: a setting of a kind of set of which there is none.
    """
    chosen = {name: value for name, value in given.items() if common.is_given(value)}
    if not any(name in chosen for name in given if name not in NEEDS):
        chosen |= known
    for name, kind in NEEDS.items():
        if name in chosen and kind not in chosen:
            raise click.UsageError(f"{flag(name)} is of use only with {flag(kind)}")
    if "restrict" in chosen:
        chosen["restrict"] = [None if words == ALL else words for words in chosen["restrict"]]
    return chosen
