"""`embeddings vocabulary`: count the words of a corpus."""

from typing import Any

import click

from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example, shared
from embeddings.cli.options import OUTPUT, Output, exclude, from_signature, option, require
from embeddings.cli.output import print_rows
from embeddings.cli.progress_bar import read_corpus
from embeddings.cli.saving import check_outside_corpus
from embeddings.corpora import Corpus
from embeddings.corpora.documents import DocumentUnit, corpus_documents
from embeddings.corpora.vocabulary import (
    Vocabulary,
    VocabularyRule,
    check_vocabulary_path,
    read_vocabulary_file,
    write_vocabulary_file,
)


@command_by_example(
    "vocabulary corpus.txt -o vocabulary.txt",
    params=[
        click.Argument(["corpus"], nargs=-1, required=True),
        option("-o --out", "Output: Arrow (.arrow), or word and count lines (.txt).", "FILE", required=True),
        option("--merge", "Add the counts of another vocabulary.", "FILE", multiple=True),
        *shared(
            "selection",
            dict,
            *from_signature(Vocabulary.select, min_count=None, max_vocab="N"),
            option(
                "--min-documents",
                "Drop words that occur in fewer documents, which --documents defines; not with --merge.",
                1,
                default=1,
            ),
        ),
        option("--shares", "Keep an equal share of --max-vocab for each CORPUS, such as a language.", is_flag=True),
        *from_signature(corpus_documents, unit="--documents"),
        *corpus_options.options(),
        *corpus_options.PHRASE_OPTIONS,
        option("--top", "Number of words to print.", 1, default=10),
        *OUTPUT,
    ],
)
def command(
    *, corpus: tuple[str, ...], out: str, output: Output, merge: tuple[str, ...], selection: dict[str, Any],
    shares: bool, documents: DocumentUnit, top: int, **settings: Any,
) -> None:  # fmt: skip
    """Count the words of CORPUS, save them for `train --vocabulary`, and print the most frequent."""
    check_vocabulary_path(out, force=output.force)
    exclude("min_documents", "merge", why=": other vocabularies have no documents")
    require("documents", "min_documents")
    require("shares", "max_vocab")
    exclude("shares", "min_documents", why=": each corpus is counted alone")
    text = Corpus(*corpus, **settings)
    check_outside_corpus(out, text)
    others = [read_vocabulary_file(path) for path in merge]
    rule: VocabularyRule | None = None
    if shares:
        vocabulary, *rest = (read_corpus(Corpus(one, **settings), output.quiet).vocabulary for one in corpus)
        # a word in the share of one corpus is counted in all of them
        share = max(selection["max_vocab"] // len(corpus), 1)  # --shares requires --max-vocab
        parts = [one.select(max_vocab=share) for one in (vocabulary, *rest)]
        kept = {word for one in (*parts, *others) for word in one.words}
        others = [*rest, *others]

        def in_shares(word: str, count: int) -> bool | None:
            return None if word in kept else False

        rule = in_shares
    else:
        encoded = read_corpus(text, output.quiet)
        vocabulary = encoded.vocabulary
    for other in others:
        vocabulary = vocabulary.merge(other)
    counts = None
    if selection["min_documents"] > 1:
        from embeddings.corpora.document_counts import document_counts

        counts = document_counts(encoded, documents)
    vocabulary = vocabulary.select(**selection, documents=counts, rule=rule)
    write_vocabulary_file(vocabulary, out, force=output.force)
    most_frequent = zip(vocabulary.column[:top], vocabulary.counts[:top].tolist(), strict=True)
    print_rows([{"word": str(word), "count": count} for word, count in most_frequent], output.as_json)
