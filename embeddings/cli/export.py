"""`embeddings export`: vectors for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import common

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors


@click.command("export")
@click.argument("vectors")
@click.argument("out")
@click.option("--format", "name", help="One of those listed above; by the ending of OUT if not given.")
@click.option(
    "--counts/--no-counts",
    default=None,
    help="Write how often each word occurs: in the file where the format holds it, else as lines 'word count' in "
    "OUT.vocab; or leave it out.  [default: where the file holds it]",
)
@click.option(
    "--table",
    default="vectors",
    show_default=True,
    help="Another table of a saved model, such as output or documents.",
)
@click.option("--words", metavar="N|FILE", help="Only the first N words, or those of a file, one to a line.")
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float16", "int8"]),
    help="Of safetensors, parquet and arrow; float16 also of npy, huggingface and sentence-transformers. The largest "
    "error is told.  [default: float32]",
)
@click.option("--language", metavar="CODE", help="Of spacy, such as en; xx is that of many.  [default: xx]")
@common.force
@common.reading
def command(
    vectors: str,
    out: str,
    name: str | None,
    counts: bool | None,
    table: str,
    words: str | None,
    dtype: str | None,
    language: str | None,
    force: bool,
    allow_pickle: bool,
    encoding_errors: str,
) -> None:
    """Write VECTORS to the file or folder OUT.

    The ending of OUT chooses the format: .bin word2vec-binary, .txt and .vec word2vec-text, .glove glove, .kv gensim,
    .npy npy (and the words in a .txt beside it), .parquet parquet, .arrow and .feather arrow, .safetensors
    safetensors; other packages may add formats. With --format fasttext a whole model is written, as a .bin that
    fastText and gensim load; with huggingface, sentence-transformers, spacy or projector (TensorBoard's) a folder that
    these load.
    """
    from embeddings.cli.output_paths import check_spared
    from embeddings.models.loading import holds_model, load, load_model
    from embeddings.vectors import format_dispatch

    settings = {"dtype": dtype, "language": language}
    options = {name: value for name, value in settings.items() if value is not None}
    format_dispatch.check(out, format=name, force=force, counts=counts, options=options)
    targets = format_dispatch.plan(out, format=name, counts=counts, options=options)[1]
    check_spared(targets, [("the input", Path(vectors))], renewed=["the input"])
    whole = words is None and table == "vectors" and format_dispatch.takes_models(name or format_dispatch.for_path(out))
    if whole and holds_model(vectors):
        model = load_model(vectors, allow_pickle=allow_pickle, errors=encoding_errors)
        loaded = model.vectors
        written = format_dispatch.write_model(model, out, format=name, force=force, counts=counts, **options)
    else:
        loaded = load(vectors, allow_pickle=allow_pickle, errors=encoding_errors, table=table)
        loaded = loaded if words is None else chosen(loaded, words)
        written = format_dispatch.write(loaded, out, format=name, force=force, counts=counts, **options)
        if loaded.compose is not None and table == "vectors":
            click.echo("only words with a vector of their own are written: what composes others stays behind", err=True)
    files = " and ".join(map(str, written))
    click.echo(f"{len(loaded)} vectors of {loaded.dim} components written to {files}", err=True)
    if dtype not in (None, "float32"):
        tell_rounding(loaded, dtype)


def tell_rounding(vectors: "Vectors", dtype: str) -> None:
    """Say how far what was written may be from the vectors."""
    from embeddings.vectors.precision import rounding

    found = rounding(vectors, dtype)
    told = f"the largest error of a component is {found.error:.3g}, the lowest cosine with a vector {found.cosine:.6f}"
    click.echo(f"as {dtype} {told}", err=True)


def chosen(vectors: "Vectors", words: str) -> "Vectors":
    """The first so many words, or those of a file; how many of these have no vector is said."""
    from embeddings.errors import FormatError
    from embeddings.vectors.subset import read_words

    if words.isdecimal() and words.isascii():
        return vectors.subset(int(words))
    asked = read_words(words)
    found = [word for word in asked if word in vectors]
    if not found:
        raise FormatError(f"none of the {len(asked)} words of {words} has a vector")
    if len(found) < len(asked):
        missing: Any = next(word for word in asked if word not in vectors)
        left = len(asked) - len(found)
        click.echo(f"{left} of the {len(asked)} words of {Path(words)} have no vector, such as {missing!r}", err=True)
    return vectors.subset(found)
