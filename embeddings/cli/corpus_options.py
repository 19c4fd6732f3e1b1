"""Options of commands that read a corpus: the settings of `embeddings.corpora.Corpus`."""

import click


def options(tokenizer: str = "words") -> list[click.Parameter]:
    """How text is read and tokenized."""
    return [
        click.Option(
            ["--tokenizer"],
            default=tokenizer,
            show_default=True,
            help="words (runs of letters, marks and digits), whitespace, characters (with combining marks, without "
            "spaces), codepoints (spaces included), or an installed one.",
        ),
        click.Option(
            ["--case"],
            type=click.Choice(["lower", "keep"]),
            default="lower",
            show_default=True,
            help="Convert text to lower case, or keep its case.",
        ),
        click.Option(
            ["--encoding-errors"],
            type=click.Choice(["strict", "replace", "ignore"]),
            default="strict",
            show_default=True,
            help="For text that is not valid UTF-8: fail, insert U+FFFD, or drop the bytes.",
        ),
        click.Option(
            ["--text-column"],
            metavar="NAME",
            help="Column with the text of a table (Parquet, Arrow, .jsonl, .csv, .tsv), one document per row; dots "
            "select nested JSON fields.  [default: the only string column]",
        ),
        click.Option(["--tag-column"], metavar="NAME", help="Column with document tags."),
        click.Option(["--rows"], type=click.IntRange(min=1), metavar="N", help="Read only the first N rows or lines."),
        click.Option(
            ["--max-types"],
            type=click.IntRange(min=1),
            metavar="N",
            help="Keep at most N distinct words in memory while counting. Rare words may be lost, and counts may be "
            "too low by up to 2/N of the tokens; the maximum undercount is reported.",
        ),
    ]


def phrase_options() -> list[click.Parameter]:
    """Which phrases become tokens, and how."""
    return [
        click.Option(
            ["--phrases"],
            metavar="FILE|auto",
            help="Join the phrases of this file into tokens: output of `embeddings phrases`, or one phrase per line. "
            "auto detects phrases with default settings.",
        ),
        click.Option(["--joiner"], default="_", show_default=True, help="String that joins the words of a phrase."),
        click.Option(
            ["--phrase-mode"],
            type=click.Choice(["replace", "alternate"]),
            default="replace",
            show_default=True,
            help="replace: a phrase always replaces its words. alternate: at every second occurrence, so that the "
            "phrase and its words are trained on the same contexts.",
        ),
    ]


def vocabulary_option() -> click.Option:
    """Train the words of a given vocabulary."""
    return click.Option(
        ["--vocabulary"],
        metavar="FILE",
        help="Train exactly the words of this vocabulary, with its counts: output of `embeddings vocabulary`, a model "
        "folder, or lines of word and count.",
    )
