"""`embeddings concordance`: lines of a corpus around a word."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from embeddings.analysis.keyword_in_context import (
    DEFAULT_LINES,
    DEFAULT_WIDTH,
    DEFAULT_WINDOW,
    ConcordanceLine,
    concordance,
)
from embeddings.analysis.occurrences import MAX_WIDTH, MAX_WINDOW
from embeddings.cli import corpus_options
from embeddings.cli.options import JSON, QUIET, is_given, option
from embeddings.cli.output import display_width, is_terminal, note, pad, print_json, print_rows
from embeddings.cli.progress_bar import ReadingBar
from embeddings.corpora import Corpus
from embeddings.printable import printable

WIDTH = option("--width", "Number of characters on each side of the word.", (1, MAX_WIDTH), default=DEFAULT_WIDTH)


@click.command(
    "concordance",
    params=[
        click.Argument(["corpus"]),
        click.Argument(["word"]),
        click.Argument(["other"], required=False),
        option("--window", "OTHER is at most N words away.", (1, MAX_WINDOW), default=DEFAULT_WINDOW, metavar="N"),
        option("--lines", "Print at most N lines, evenly spaced.", 1, default=DEFAULT_LINES, metavar="N"),
        WIDTH,
        *corpus_options.options(),
        *corpus_options.phrase_options(),
        JSON,
        QUIET,
    ],
)
def command(
    *, corpus: str, word: str, other: str | None, window: int, lines: int, width: int, as_json: bool, quiet: bool,
    **settings: Any,
) -> None:  # fmt: skip
    """Print lines of CORPUS around WORD, or only those with OTHER near it.

    WORD may be several consecutive words in quotes. Words are converted like the text. The text is shown as the
    tokenizer reads it. CORPUS is encoded once and then read from the cache.
    """
    if other is None and is_given("window"):
        raise click.UsageError("--window requires OTHER, a word that is to be near WORD")
    text = Corpus(corpus, **settings)
    with ReadingBar(quiet) as bar:
        text.encode(report=bar)
    result = concordance(text, word, other, window=window, lines=lines, width=width)
    if as_json:
        print_json({"total": result.total, "lines": [asdict(line) for line in result.lines]})
        return
    if len(result.lines) < result.total or not result.total:
        note(f"{len(result.lines):,} of {result.total:,} occurrences")
    print_rows(concordance_rows(result.lines))


def concordance_rows(lines: Sequence[ConcordanceLine]) -> list[dict[str, Any]]:
    """Rows to print; on a terminal the words stand below one another."""
    rows = [asdict(line) for line in lines]
    if is_terminal():
        left = [printable(line.left) for line in lines]
        width = max(map(display_width, left), default=0)
        rows = [{**row, "left": pad(text, width, True)} for row, text in zip(rows, left, strict=True)]
    return rows
