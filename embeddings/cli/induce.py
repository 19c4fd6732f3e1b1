"""`embeddings induce`: compute vectors of new words from contexts."""

from pathlib import Path
from typing import Any

import click

from embeddings.analysis.induced_vectors import ContextInducer, fit_context_map
from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example, grouped, shared
from embeddings.cli.explain import read_as_in_training
from embeddings.cli.options import (
    FORMAT,
    OUT_FILE,
    OUTPUT,
    THREADS,
    VECTOR_INPUT,
    Output,
    from_signature,
    is_given,
    option,
    shown,
)
from embeddings.cli.output import note, print_rows, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_vector_output, save_vectors
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError
from embeddings.models.loading import load_model_or_vectors
from embeddings.models.model import Model
from embeddings.support.text_lines import read_text_lines
from embeddings.vectors.vectors import Vectors, as_vectors

OF_MAP = ("min_count", "ridge")  # options of the fit alone
FIT_OPTIONS = dict.fromkeys(("window", *OF_MAP))
MAP, MEAN = "a-la-carte", "mean"


@command_by_example(
    "induce model corpus.txt new-words.txt -o extended.bin",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["corpus"]),
        click.Argument(["words"]),
        OUT_FILE,
        FORMAT,
        option("--only-new", "Write only the new words, without those of VECTORS.", bool),
        *shared(
            "fit",
            dict,
            *from_signature(ContextInducer.induce, min_contexts=None),
            option(
                "--method",
                "a-la-carte maps the mean of the vectors around a word; mean takes it as it is.",
                [MAP, MEAN],
                default=MAP,
            ),
            *grouped("map", from_signature(fit_context_map, **FIT_OPTIONS), ()),
            THREADS,
        ),
        *corpus_options.options(omit=("encoding_errors",)),
        *corpus_options.PHRASE_OPTIONS,
        *OUTPUT,
        *VECTOR_INPUT,
    ],
)  # fmt: skip
def command(
    *, vectors: str, corpus: str, words: str, out: str, format: str | None, only_new: bool, fit: dict[str, Any],
    output: Output, reading: dict[str, Any], **settings: Any,
) -> None:  # fmt: skip
    """Compute vectors of new WORDS from their contexts in CORPUS, in the space of VECTORS.

    WORDS is a file with a word or phrase on each line. A linear map from the mean vector around a word to its own
    vector is fitted to the words that VECTORS and CORPUS share (Khodak et al. 2018), and applied to the new words. OUT
    has the words of VECTORS, then the new ones. Prints how many occurrences with a context each word has. CORPUS should
    be read as the training text of VECTORS; for saved models it is.
    """
    for name in filter(is_given, OF_MAP if fit["method"] == MEAN else ()):
        raise click.UsageError(f"{shown(name)} requires --method {MAP}")
    inputs = [("VECTORS", Path(vectors)), ("CORPUS", Path(corpus)), ("WORDS", Path(words))]
    check_vector_output(out, inputs, format, force=output.force)
    min_contexts = fit.pop("min_contexts")
    new_words = [line for line in read_text_lines(Path(words), "list of words") if line.strip()]
    if not new_words:
        raise CorpusError(f"{words} has no words: write one on each line")
    source = load_model_or_vectors(vectors, **reading)
    encoded = read_as_in_training(corpus, source, settings, reading["errors"], output.quiet)[1]
    if isinstance(source, Model) and source.record.get("corpus", encoded.fingerprint) != encoded.fingerprint:
        note("these vectors were trained on another text or with other settings: its contexts may differ")
    with Bar(output.quiet, "reading contexts") as bar:
        result = new_inducer(source, encoded, fit, bar).induce(new_words, min_contexts=min_contexts)
    if result.known:
        note(f"these words have a vector already and keep it: {', '.join(result.known)}")
    if result.missing:
        note(f"fewer than {quantity(min_contexts, 'context')} in the corpus: {', '.join(result.missing)}")
    if not len(result.vectors):
        raise CorpusError("no word gets a new vector: each has one already, or too few contexts in the corpus")
    new, old = result.vectors, as_vectors(source)
    whole = new if only_new else old.add_vectors(new.words, new.matrix, counts=new.counts)  # type: ignore[arg-type]
    save_vectors(whole, out, format, output.force, bar.notice)
    assert new.counts is not None
    rows = [*zip(new.words, new.counts.tolist(), strict=True), *result.missing.items()]
    numbered = enumerate(rows)  # words without a vector come last
    print_rows(
        [{"word": word, "contexts": count, "induced": row < len(new)} for row, (word, count) in numbered],
        output.as_json,
    )


def new_inducer(source: Model | Vectors, encoded: EncodedCorpus, fit: dict[str, Any], bar: Bar) -> ContextInducer:
    """The inducer for the options of a command, its map fitted unless it takes means as they are."""
    if fit.pop("method") == MEAN:
        return ContextInducer(source, encoded, threads=fit["threads"], window=fit["window"])
    fitted = fit_context_map(source, encoded, **fit, progress=bar)
    cosine = f"the mean cosine of their vectors and the mapped contexts is {fitted.mean_cosine:.3f}"
    bar.notice(f"fitted a map to {quantity(fitted.words, 'word')}: {cosine}")
    return ContextInducer(source, encoded, fitted, threads=fit["threads"])
