"""`embeddings concordance`: lines of a corpus around a word."""

from dataclasses import asdict
from typing import Any

import click

from embeddings.analysis.keyword_in_context import concordance
from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, QUIET, from_signature, is_given
from embeddings.cli.output import note, print_json, print_rows
from embeddings.cli.progress_bar import ReadingBar
from embeddings.corpora import Corpus


@command_by_example(
    "concordance corpus.txt coffee",
    params=[
        click.Argument(["corpus"]),
        click.Argument(["word"]),
        click.Argument(["other"], required=False),
        *from_signature(concordance, window="N", lines="N", width=None),
        *corpus_options.options(lines=corpus_options.TEXT_LINES),
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
    text = Corpus(corpus, **corpus_options.corpus_arguments(settings))
    with ReadingBar(quiet) as bar:
        text.encode(report=bar)
    result = concordance(text, word, other, window=window, lines=lines, width=width)
    if as_json:
        print_json({"total": result.total, "lines": [asdict(line) for line in result.lines]})
        return
    if len(result.lines) < result.total or not result.total:
        note(f"{len(result.lines):,} of {result.total:,} occurrences")
    print_rows(result.tables[0])
