"""`embeddings concordance`: print lines of a corpus around a word."""

from dataclasses import asdict
from typing import Any

import click

from embeddings.analysis.keyword_in_context import concordance
from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, QUIET, from_signature, require, take_arguments
from embeddings.cli.output import note, print_json, print_rows
from embeddings.cli.progress_bar import Bar
from embeddings.corpora import Corpus

CONCORDANCE = {"window": "N", "lines": "N", "width": None, "context": None, "sort": None, "original": None}


@command_by_example(
    "concordance corpus.txt coffee",
    params=[
        click.Argument(["corpus"]),
        click.Argument(["word"]),
        click.Argument(["other"], required=False),
        *from_signature(concordance, **CONCORDANCE),
        *corpus_options.options(lines=corpus_options.TEXT_LINES),
        *corpus_options.PHRASE_OPTIONS,
        JSON,
        QUIET,
    ],
)
def command(*, corpus: str, word: str, other: str | None, as_json: bool, quiet: bool, **settings: Any) -> None:
    """Print lines of CORPUS around WORD, or only those with OTHER near it.

    WORD may be several consecutive words in quotes. Words are converted like the text; in quotes, * stands for any
    characters, as in 'embed*'. CORPUS is encoded once, and then only its lines that are shown are looked up in it.
    """
    require("window", "other")
    arguments = take_arguments(settings, CONCORDANCE)
    text = Corpus(corpus, **corpus_options.corpus_arguments(settings))
    with Bar(quiet) as bar:
        text.encode(progress=bar)
    result = concordance(text, word, other, **arguments)
    if as_json:
        print_json({"total": result.total, "lines": [asdict(line) for line in result.lines]})
        return
    if len(result.lines) < result.total or not result.total:
        note(f"{len(result.lines):,} of {result.total:,} occurrences")
    print_rows(result.tables[0])
