"""`embeddings phrases`: find phrases in a corpus."""

from typing import Any

import click

from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example, shared
from embeddings.cli.options import OUTPUT, Output, from_settings, option
from embeddings.cli.output import print_rows, quantity
from embeddings.cli.progress_bar import Bar, read_corpus
from embeddings.cli.saving import check_outside_corpus
from embeddings.corpora import Corpus
from embeddings.corpora.phrases.detection import Phrases
from embeddings.support.files import check_file


@command_by_example(
    "phrases corpus.txt -o phrases.txt",
    params=[
        click.Argument(["corpus"], nargs=-1, required=True),
        option("-o --out", "Output: tab-separated lines, highest scores first.", "FILE"),
        *from_settings(Phrases),
        *shared("reading", dict, *corpus_options.options()),
        option("--top", "Number of phrases to print.", 0, default=20),
        *OUTPUT,
    ],
)
def command(
    *, corpus: tuple[str, ...], out: str | None, reading: dict[str, Any], output: Output, top: int, **values: Any
) -> None:
    """Find words that occur together more often than by chance, and save them for `train --phrases`."""
    settings = Phrases(**values)
    text = Corpus(*corpus, **reading)
    if out is not None:
        check_outside_corpus(out, text)
        check_file(out, force=output.force)
    with read_corpus(text, output.quiet) as encoded, Bar(output.quiet) as bar:
        result = settings.find(encoded)
        bar.notice(f"found {quantity(len(result), 'phrase')}")
    if out is not None:
        result.save(out, force=output.force)
    rows = [
        {"phrase": " ".join(phrase.words), "count": phrase.count, "score": phrase.score, "type": phrase.type}
        for phrase in result.phrases[:top]
    ]
    print_rows(rows, output.as_json)
