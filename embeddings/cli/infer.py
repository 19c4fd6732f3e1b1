"""`embeddings infer`: vectors for documents that a model was not trained on."""

from typing import Any

import click

from embeddings.cli import corpus_options

COLUMNS = ("text_column", "tag_column", "rows")


def run(
    *,
    model: str,
    corpus: tuple[str, ...],
    out: str,
    beside: tuple[str, ...],
    epochs: int | None,
    seed: int,
    threads: int | None,
    name: str | None,
    force: bool,
    quiet: bool,
    **columns: Any,
) -> None:
    """Find vectors and write them."""
    from embeddings.cli.model_output import save
    from embeddings.cli.output_paths import check_apart
    from embeddings.cli.progress_bar import Inferring, Reading
    from embeddings.models.document_vectors import load_side_by_side, names_in
    from embeddings.vectors import format_dispatch
    from embeddings.vectors.vectors import Vectors

    format_dispatch.check(out, format=name, force=force)
    models = load_side_by_side([model, *beside])
    text = models.corpus(*corpus, **columns)
    check_apart(out, text)
    with Reading(quiet) as read:
        encoded = text.encode(report=read)
    read.tell(encoded)
    names = names_in(models, text)
    format_dispatch.check_words(names, out, format=name)
    with Inferring(quiet) as bar:
        found = Vectors(names, models.infer(text, epochs=epochs, seed=seed, threads=threads, report=bar))
    written = save(
        lambda place, made, force: format_dispatch.write(made, place, format=name, force=force), found, out, force
    )
    bar.say(f"{len(found):,} vectors of {found.dim} components written to {' and '.join(map(str, written))}")


command = click.Command(
    "infer",
    callback=run,
    help="Find vectors for the documents of CORPUS with MODEL, a saved model of paragraph-dbow or paragraph-dm, and "
    "write them to a file.\n\nText is cut into words and documents as in the training; the model is not changed. A "
    "document and a seed settle its vector to the last bit, whatever else is in CORPUS and however many threads; "
    "without a word that MODEL knows it is zeros. Documents are named by their tags, which must all differ, or by "
    "numbers from 0 on.",
    params=[
        click.Argument(["model"]),
        click.Argument(["corpus"], nargs=-1, required=True),
        click.Option(
            ["-o", "--out"],
            required=True,
            help="Where to write: a vector file, its format by its ending (.parquet, .npy, .txt, .kv, ...).",
        ),
        click.Option(["--format", "name"], help="Of OUT, if not by its ending."),
        click.Option(
            ["--beside"], metavar="MODEL", multiple=True, help="Put its vectors beside the others; may be repeated."
        ),
        click.Option(
            ["--epochs"],
            type=click.IntRange(1, 1_000_000),
            help="Passes over each document.  [default: as in the training]",
        ),
        click.Option(["--seed"], type=click.IntRange(0, 2**63 - 1), default=1, show_default=True),
        click.Option(["--threads"], type=click.IntRange(1, 1024), help="Threads that learn.  [default: all cores]"),
        *(option for option in corpus_options.options() if option.name in COLUMNS),
        click.Option(["--force"], is_flag=True, help="Replace the output if it exists."),
        click.Option(["--quiet"], is_flag=True, help="Say nothing but errors."),
    ],
)
