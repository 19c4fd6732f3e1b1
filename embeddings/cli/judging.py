"""The options that say what vectors are judged by: the settings of `embeddings.eval.Suite`."""

from collections.abc import Callable
from typing import Any

import click

DEFAULTS: dict[str, Any] = {"similarity": ("wordsim353", "simlex999"), "analogy": ("google-analogies",)}
FOR_REPORTS: dict[str, Any] = DEFAULTS | {"categories": ("google-categories",), "facts": True}

SETS = (
    click.option("--similarity", multiple=True, metavar="NAME|FILE", help="Word similarity set; may be repeated."),
    click.option("--analogy", multiple=True, metavar="NAME|FILE", help="Analogy questions; may be repeated."),
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
        help="Labelled documents, a table as those of `train`, told by the mean of their words; may be repeated.",
    ),
    click.option("--text-column", default="text", show_default=True, metavar="NAME", help="Column of documents."),
    click.option("--label-column", default="label", show_default=True, metavar="NAME", help="Column of their labels."),
    click.option("--facts", is_flag=True, help="Print lengths, evenness of directions, and hubs among neighbours."),
    click.option(
        "--method",
        type=click.Choice(["3cosadd", "3cosmul", "pairdirection"]),
        multiple=True,
        default=["3cosadd"],
        show_default=True,
        help="How analogies are answered: by adding and subtracting cosines, multiplying and dividing, or by the "
        "direction of differences; may be repeated.",
    ),
    click.option(
        "--window",
        type=int,
        default=2,
        show_default=True,
        help="Words on either side that tell a word's part of speech.",
    ),
)


def sets(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options."""
    for option in reversed(SETS):
        command = option(command)
    return command
