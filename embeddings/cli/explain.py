"""`embeddings explain`: print the contexts that two words share."""

from dataclasses import asdict
from typing import Any

import click

from embeddings.analysis.explanation import FIGURES, explain
from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example, shared
from embeddings.cli.options import JSON, QUIET, VECTOR_INPUT, from_signature, is_given
from embeddings.cli.output import note, print_json, print_pairs, print_rows
from embeddings.cli.progress_bar import Bar
from embeddings.corpora import Corpus, EncodedCorpus
from embeddings.models.loading import load_model_or_vectors
from embeddings.models.model import Model
from embeddings.models.text_settings import corpus_settings
from embeddings.settings import flag
from embeddings.vectors.vectors import Vectors


@command_by_example(
    "explain model corpus.txt coffee tea",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["corpus"]),
        click.Argument(["word"]),
        click.Argument(["other"]),
        *shared("shown", dict, *from_signature(explain, top=None, window="N", lines="N", width=None)),
        *corpus_options.options(omit=("encoding_errors",), lines=corpus_options.TEXT_LINES),
        *corpus_options.PHRASE_OPTIONS,
        JSON,
        QUIET,
        *VECTOR_INPUT,
    ],
)
def command(
    *, vectors: str, corpus: str, word: str, other: str, shown: dict[str, Any], as_json: bool,
    quiet: bool, reading: dict[str, Any], **settings: Any,
) -> None:  # fmt: skip
    """Show why two words are similar: the contexts that they share in CORPUS, what each contributes, and example lines.

    The similarity is that of positive pointwise mutual information with all contexts. CORPUS should be the text that
    VECTORS were trained on; it is read as in training, is encoded once and then read from the cache.
    """
    source = load_model_or_vectors(vectors, **reading)
    text = read_as_in_training(corpus, source, settings, reading["errors"], quiet)[0]
    evidence = explain(source, text, word, other, **shown)
    if evidence.same_corpus is False:
        note("these vectors were trained on another text or with other settings: its contexts may differ")
    if as_json:
        print_json(asdict(evidence))
        return
    print_pairs({name: getattr(evidence, name) for name in FIGURES})
    for rows in (evidence.tables[0], evidence.tables[2]):  # contexts and lines
        if rows:
            click.echo()
            print_rows(rows)


def read_as_in_training(
    corpus: str, source: Model | Vectors, options: dict[str, Any], errors: str, quiet: bool
) -> tuple[Corpus, EncodedCorpus]:
    """A text, read and encoded as in the training of a model; for other vectors as the options say."""
    settings = corpus_options.corpus_arguments({**options, "encoding_errors": errors})
    if isinstance(source, Model) and isinstance(source.record.get("text"), dict):
        recorded = corpus_settings(source)
        for name in settings.keys() & {*recorded, "phrases", "joiner", "phrase_mode"}:
            if is_given(name):
                raise click.UsageError(f"{flag(name)} cannot be set: the text is read as in the training of the model")
        settings = settings | corpus_options.recorded_reading(source) | recorded
    text = Corpus(corpus, **settings)
    with Bar(quiet) as bar:
        return text, text.encode(progress=bar)
