"""`embeddings perplexity`: print the perplexity of an n-gram model."""

from typing import Any

import click

from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, QUIET, exclude, from_settings, from_signature, option
from embeddings.cli.output import print_rows
from embeddings.cli.progress_bar import Bar, ReadingBar
from embeddings.corpora import Corpus
from embeddings.eval.tasks.kneser_ney import ngram_perplexity
from embeddings.settings import VocabularySize


@command_by_example(
    "perplexity corpus.txt --test held-out.txt",
    params=[
        click.Argument(["corpus"], nargs=-1, required=True),
        option("--test", "Text to predict, which should not be part of CORPUS.", "TEXT", required=True),
        *from_signature(ngram_perplexity, order="N"),
        *from_settings(VocabularySize),
        *from_signature(ngram_perplexity, discount=None, memory="GB"),
        *corpus_options.options(),
        *from_signature(Corpus, vocabulary="FILE"),
        *corpus_options.phrase_options(),
        JSON,
        QUIET,
    ],
)
def command(
    *, corpus: tuple[str, ...], test: str, order: int, min_count: int, max_vocab: int | None, discount: float | None,
    memory: float, as_json: bool, quiet: bool, vocabulary: str | None, **settings: Any,
) -> None:  # fmt: skip
    """Print the perplexity of a text by an n-gram model of CORPUS, with interpolated Kneser-Ney smoothing.

    The model predicts each known word from those before it on its line. Words outside the vocabulary are dropped from
    both texts first. With --vocabulary MODEL the words are those of a trained model.
    """
    exclude("vocabulary", "min_count", "max_vocab", why=": all of its words are used")
    text, other = Corpus(*corpus, vocabulary=vocabulary, **settings), Corpus(test, **settings)
    with ReadingBar(quiet) as reading:
        text.encode(progress=reading)
    with Bar(quiet, "counting n-grams") as bar:
        result = ngram_perplexity(
            text, other, order=order, min_count=min_count, max_vocab=max_vocab, discount=discount, memory=memory,
            report=lambda done, total: bar.update(done, total, ""),
        )  # fmt: skip
    row = {"order": order, "perplexity": result.perplexity, "loss": result.loss, "words": result.words}
    print_rows([{**row, "total": result.total, "vocabulary": result.vocabulary, "passes": result.passes}], as_json)
