"""`embeddings shift`: find words whose use differs between two corpora."""

import csv
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.usage_change import compare_usage, tag_groups
from embeddings.cli import corpus_options, options
from embeddings.cli.command_help import command_by_example, grouped, shared
from embeddings.cli.options import JSON, QUIET, THREADS, from_settings, from_signature, option, seed, take_arguments
from embeddings.cli.output import print_json, print_rows, quantity
from embeddings.cli.progress_bar import Bar, report_corpus
from embeddings.cli.saving import check_extension, check_outside_corpus
from embeddings.corpora import Corpus
from embeddings.corpora.documents import first_documents
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError
from embeddings.eval.tasks.word_similarity import to_number
from embeddings.plugins.skipgram import SkipGram
from embeddings.support.files import TABLES, write_rows

USAGE = {  # parameters of `compare_usage`
    "permutations": None, "occurrences": "N", "fdr": "RATE", "top": None, "lines": "N", "documents": None,
}  # fmt: skip


@command_by_example(
    "shift texts-1950.txt texts-2000.txt",
    params=[
        click.Argument(["first"]),
        click.Argument(["second"], required=False),
        option(
            "--groups",
            "Compare the documents with these two tags of --tag-column, by default the names of their folders, instead "
            "of two corpora.",
            "TAG,TAG",
        ),
        option(
            "--split-at",
            "Compare the documents whose tag is below VALUE with the others, such as those before a date with those "
            "after it. Tags are compared as numbers if all are numbers, else as text, such as 1951-03-02.",
            "VALUE",
        ),
        *grouped("comparison", from_signature(compare_usage, **USAGE), ("permutations", "occurrences", "top", "lines")),
        option("-o --out", "Also write all words that were compared to this file, .csv or .tsv.", "FILE"),
        *shared("model", dict, *grouped("model", from_settings(SkipGram))),
        *corpus_options.options(lines=corpus_options.TEXT_LINES),
        *corpus_options.PHRASE_OPTIONS,
        seed("Random seed."),
        THREADS,
        *options.DRAWING,
        JSON,
        QUIET,
    ],
)  # fmt: skip
def command(
    *, first: str, second: str | None, groups: str | None, split_at: str | None, out: str | None,
    model: dict[str, Any], seed: int, threads: int | None, drawing: options.Drawing, as_json: bool, quiet: bool,
    **settings: Any,
) -> None:  # fmt: skip
    """Find words whose use differs between the corpora FIRST and SECOND, or between two groups of one corpus.

    Skip-gram vectors are trained on each, and one space is rotated onto the other. The change of each word is compared
    with its changes where the documents are divided at random; `q` is the rate of false discoveries. Only words that
    occur at least --occurrences times in each group are compared: the vectors of rarer ones are mostly chance.
    """
    tags = next(csv.reader([groups or ""]), [])
    if [second, groups, split_at].count(None) != 2 or (groups is not None and len(set(tags)) != 2):
        raise click.UsageError("name two corpora, or one with --groups TAG,TAG or with --tag-column and --split-at")
    options.require("split_at", "tag_column")
    options.require("force", "out", "plot")
    usage, trainer = take_arguments(settings, USAGE), SkipGram(**model)
    settings = corpus_options.corpus_arguments(settings)
    settings["tag_column"] = settings["tag_column"] or ["folder"] * bool(groups)
    text = Corpus(*(path for path in (first, second) if path is not None), **settings)
    if out is not None:
        check_extension(out, TABLES, force=drawing.force)
        check_outside_corpus(out, text)
    with Bar(quiet) as reading:
        encoded = text.encode(progress=reading, threads=threads)
        report_corpus(encoded, reading)
        if second is not None:
            # both texts are encoded together, so that words have the same ids; the first documents are those of FIRST
            n_first = len(Corpus(first, **settings).encode().documents) - 1
            members = (np.arange(len(encoded.documents) - 1) >= n_first).astype(np.int64)
        else:
            members = tag_groups(encoded, tags) if groups else split_groups(encoded, str(split_at))
        members = members[first_documents(encoded, usage["documents"])]
    with Bar(quiet, "training") as bar:
        result = compare_usage(text, members, trainer, **usage, seed=seed, threads=threads, progress=bar)
    words, lines = result.tables
    if out is not None:
        rows = list(map(words.record, words))
        write_rows(rows[0], rows, Path(out), force=drawing.force)
        bar.notice(f"saved {quantity(result.n_words, 'word')} to {out}")
    drawing.draw({"": result.table})
    if as_json:
        print_json(dataclasses.asdict(dataclasses.replace(result, words=result.words[: result.top])))
        return
    sizes = " and ".join(f"{count:,}" for count in result.documents)
    bar.notice(
        f"{quantity(result.n_words, 'word')} compared in {sizes} documents: those that occur {usage['occurrences']} "
        f"times in each group; {result.n_changed:,} changed (q <= {usage['fdr']})"
    )
    print_rows(words)
    if lines:
        click.echo()
        print_rows(lines)


def split_groups(encoded: EncodedCorpus, value: str) -> NDArray[np.int64]:
    """The group of each document: 0 for tags below a value, 1 for others, -1 for documents without one."""
    assert encoded.tags is not None  # --split-at requires --tag-column
    tags = encoded.single_tags.to_pylist()
    if not any(tags):
        raise CorpusError("no document has a tag to compare with the value of --split-at")
    convert: Callable[[str], Any] = str if None in map(to_number, [value, *filter(None, tags)]) else float
    border = convert(value)
    return np.array([int(convert(tag) >= border) if tag else -1 for tag in tags], np.int64)
