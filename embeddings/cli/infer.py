"""`embeddings infer`: infer vectors for new documents."""

from pathlib import Path
from time import perf_counter
from typing import Any

import click

from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import FORMAT, OUT_FILE, OUTPUT, THREADS, Output, from_signature, seed
from embeddings.cli.output import print_json
from embeddings.cli.progress_bar import Bar, read_corpus
from embeddings.cli.saving import check_outside_corpus, check_vector_output, save_vectors
from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.corpus import Corpus
from embeddings.formats.build_vectors import check_words
from embeddings.models.document_vectors import document_names
from embeddings.models.loading import load_model
from embeddings.models.model import Model
from embeddings.models.text_settings import corpus_settings
from embeddings.vectors.vectors import Vectors


@command_by_example(
    "infer model documents.txt -o vectors.bin",
    params=[
        click.Argument(["model"]),
        click.Argument(["corpus"], nargs=-1, required=True),
        OUT_FILE,
        FORMAT,
        *from_signature(Model.infer, epochs=None),
        seed("Random seed."),
        THREADS,
        *corpus_options.options(corpus_options.INPUT),
        *OUTPUT,
    ],
)
def command(
    *, model: str, corpus: tuple[str, ...], out: str, epochs: int | None, seed: int, threads: int | None,
    format: str | None, output: Output, **columns: Any,
) -> None:  # fmt: skip
    """Infer vectors for the documents of CORPUS with MODEL, a paragraph-dbow or paragraph-dm model.

    Text is split into words and documents as in training; the model does not change. Inference is bit-reproducible:
    a document's vector depends only on the document and the seed. A document without known words gets a zero vector.
    Documents are named by their tags, which must be distinct, or by numbers from 0.
    """
    inputs = [("MODEL", Path(model)), *(("CORPUS", Path(part)) for part in corpus)]
    check_vector_output(out, inputs, format, force=output.force)
    trained = load_model(model)
    text = Corpus(*corpus, **corpus_settings(trained), **columns)
    check_outside_corpus(out, text)
    read_corpus(text, output.quiet, threads)
    names = document_names(text, trained.settings.get("documents", "auto"))
    check_words(names, out, format=format)
    start = perf_counter() - compile_time.seconds
    with Bar(output.quiet, "inferring") as bar:
        vectors = Vectors(names, trained.infer(text, epochs=epochs, seed=seed, threads=threads, progress=bar))
    seconds = perf_counter() - compile_time.seconds - start  # without compilation
    paths = save_vectors(vectors, out, format, output.force, bar.notice)
    if output.as_json:
        sizes = {"documents": len(vectors), "dim": vectors.dim, "seconds": round(seconds, 3)}
        print_json({"files": paths, **sizes, "epochs": epochs, "seed": seed})
