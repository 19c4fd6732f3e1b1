"""Options that choose test sets: the settings of `embeddings.eval.Suite`."""

from typing import Any

import click

from embeddings.cli.options import VECTOR_INPUT
from embeddings.settings import flag

DEFAULTS: dict[str, Any] = {"similarity": ("wordsim353", "simlex999"), "analogy": ("google-analogies",)}
REPORT_DEFAULTS: dict[str, Any] = DEFAULTS | {"categories": ("google-categories",), "stats": True}
ALL = "all"
REQUIRES = {
    "compose": "similarity",
    "method": "analogy",
    "restrict": "analogy",
    "window": "tagging",
    "text_column": "documents",
    "label_column": "documents",
    "use_trained_vectors": "documents",
    "name_column": "documents",
}
SECTIONS = {
    "Test sets": ("similarity", "analogy", "phrases", "categories", "tagging", "documents", "stats"),
    "Settings of tests": ("compose", "method", "restrict", "window"),
    "Document classification": (
        "text_column", "label_column", "use_trained_vectors", "name_column", "concat_with",
    ),
}  # fmt: skip
CONCAT_WITH = click.Option(
    ["--concat-with"],
    metavar="MODEL",
    multiple=True,
    help="Concatenate the document vectors of each of VECTORS with those of this model. Repeatable.",
)
SECTION_ROWS = click.Option(
    ["--sections"], is_flag=True, help="Also print scores by section: analogy type, tag, category, label."
)


class WordLimit(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click
    """An integer of at least 1, or `all`."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The integer, or `all`."""
        return ALL if value == ALL else click.IntRange(min=1).convert(value, param, ctx)


def options() -> list[click.Parameter]:
    """The options that `evaluate` and `compare` share."""
    return [
        click.Option(
            ["--similarity"],
            multiple=True,
            metavar="NAME|FILE",
            help="Word similarity: wordsim353, simlex999 or a file with two words and a rating per line. Repeatable.",
        ),
        click.Option(
            ["--analogy"],
            multiple=True,
            metavar="NAME|FILE",
            help="Analogies: google-analogies, google-phrases "
            "(for phrases such as new_york) or a file in the format of Google, MSR or BATS. Repeatable.",
        ),
        click.Option(
            ["--phrases"],
            multiple=True,
            metavar="FILE|held-out",
            help="Phrase composition: phrase ratings in the format of Mitchell and Lapata, or the held-out phrases of "
            "a composition model. Repeatable.",
        ),
        click.Option(
            ["--categories"],
            multiple=True,
            metavar="NAME|FILE",
            help="Word categories: google-categories or a file. Repeatable.",
        ),
        click.Option(
            ["--tagging"],
            multiple=True,
            metavar="NAME|FOLDER|TRAIN,TEST",
            help="Part-of-speech tagging: ud-ewt, a treebank folder, or two CoNLL-U files. Repeatable.",
        ),
        click.Option(
            ["--documents"],
            multiple=True,
            metavar="FILE|TRAIN,TEST",
            help="Document classification: labelled tables. Documents are mean word vectors, or inferred by a "
            "paragraph vector model. Repeatable.",
        ),
        click.Option(["--stats"], is_flag=True, help="Statistics: norms, isotropy, hubs among nearest neighbours."),
        click.Option(
            ["--compose"],
            is_flag=True,
            help="Score similarity with composed vectors of unknown words too (fastText models); a column counts them.",
        ),
        click.Option(
            ["--method"],
            type=click.Choice(["3cosadd", "3cosmul", "pairdirection"]),
            multiple=True,
            help="Analogy method. Repeatable.  [default: 3cosadd]",
        ),
        click.Option(
            ["--restrict"],
            type=WordLimit(),
            multiple=True,
            metavar="N|all",
            help="Answer analogies among the N most frequent words, or all. Repeatable.  [default: all and 30000]",
        ),
        click.Option(["--window"], type=int, help="Words on either side of the tagged word.  [default: 2]"),
        click.Option(["--text-column"], metavar="NAME", help="Column of the document text.  [default: text]"),
        click.Option(["--label-column"], metavar="NAME", help="Column of the document label.  [default: label]"),
        click.Option(
            ["--use-trained-vectors"],
            is_flag=True,
            help="Use the document vectors of the model (or VECTORS itself) instead of inferring them: first those of "
            "TRAIN, then those of TEST, in order.",
        ),
        click.Option(["--name-column"], metavar="NAME", help="The same, found by the document tags in this column."),
        CONCAT_WITH,
        SECTION_ROWS,
        *VECTOR_INPUT,
    ]


def suite_settings(options: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Options as settings of `Suite.read`, with default test sets if none are chosen.

    Raises:
        UsageError: an option requires a test set that is not chosen.
    """
    settings = {name: value for name, value in options.items() if not (value is None or value is False or value == ())}
    if not any(name in settings for name in options if name not in REQUIRES):
        settings |= defaults
    for name, test_set in REQUIRES.items():
        if name in settings and test_set not in settings:
            raise click.UsageError(f"{flag(name)} requires {flag(test_set)}")
    if "restrict" in settings:
        settings["restrict"] = [None if limit == ALL else limit for limit in settings["restrict"]]
    return settings
