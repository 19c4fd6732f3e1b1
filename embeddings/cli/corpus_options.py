"""The options of commands that read a corpus: the settings of `embeddings.corpora.Corpus`."""

from typing import Any

import click

SHOWN: dict[str, Any] = {"show_default": True}
TOKENIZERS = (
    "words (letters, marks, digits), whitespace, characters (each one but spaces, marks with what they follow), "
    "codepoints (each one by itself, white space too), or another that is installed."
)


def options(tokenizer: str = "words") -> list[click.Parameter]:
    """How text is read and cut: by this tokenizer if not told."""
    return [
        click.Option(["--tokenizer"], default=tokenizer, help=TOKENIZERS, **SHOWN),
        click.Option(
            ["--case"],
            type=click.Choice(["lower", "keep"]),
            default="lower",
            help="Lower-case the text or keep it.",
            **SHOWN,
        ),
        click.Option(
            ["--encoding-errors"],
            type=click.Choice(["strict", "replace", "ignore"]),
            default="strict",
            help="Where the text is not UTF-8: stop, put U+FFFD, or leave it out.",
            **SHOWN,
        ),
        click.Option(
            ["--text-column"],
            metavar="NAME",
            help="Column of a table (Parquet, Arrow, .jsonl, .csv, .tsv) that holds the text, each row a document; "
            "a dotted path reaches into JSON.  [default: the only one of strings]",
        ),
        click.Option(["--tag-column"], metavar="NAME", help="Column that holds the tags of documents."),
        click.Option(
            ["--rows"],
            type=click.IntRange(min=1),
            help="Read so many rows of tables, or lines of plain text, in all: the first.",
        ),
        click.Option(
            ["--max-types"],
            type=click.IntRange(min=1),
            help="Keep no more distinct words in memory than this: rare ones may be lost, and counts be low by 2 "
            "tokens in so many at most; how many is told.",
        ),
    ]


def phrases() -> list[click.Parameter]:
    """Which phrases become tokens, and how."""
    return [
        click.Option(
            ["--phrases"],
            metavar="FILE|auto",
            help="Make tokens of the phrases of this file: what `embeddings phrases` saved, or just one a line; or, "
            "auto, of those that it would find by its defaults.",
        ),
        click.Option(["--joiner"], default="_", help="What stands between the words of a phrase.", **SHOWN),
        click.Option(
            ["--phrase-words"],
            type=click.Choice(["replace", "alternate"]),
            default="replace",
            help="A phrase replaces its words, or with alternate does so in every second place, so that phrase and "
            "words learn from the same contexts.",
            **SHOWN,
        ),
    ]
