"""Options of commands that read labelled texts or predict labels, each declared once."""

import click

from embeddings.cli.options import option
from embeddings.setting_names import LABEL_PREFIX


def format_options() -> list[click.Parameter]:
    """How labels are written: keyword arguments of `LabelFormat`."""
    return [
        option(
            "--label-prefix", "Prefix of the words of a plain text that are its labels.", "TEXT", default=LABEL_PREFIX
        ),
        option(
            "--label-column", "Label column of a table: strings, integers, or lists of them.  [default: label]", "NAME"
        ),
        option(
            "--label-separator",
            "What separates several labels in a cell, such as a comma.  [default: a cell is one label]",
            "TEXT",
        ),
    ]


def prediction_options() -> list[click.Parameter]:
    """How many labels are predicted."""
    return [
        option("-k --top k", "Maximum number of labels per text; -1 for all.", -1, default=1),
        option("--threshold", "Minimum probability of a label.", type=click.FloatRange(0, 1), default=0.0),
    ]
