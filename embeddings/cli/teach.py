"""`embeddings teach`: write a teacher's vectors of texts."""

from pathlib import Path

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import OUTPUT, THREADS, Output, from_signature, option
from embeddings.cli.output import print_json, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_extension, check_not_input
from embeddings.corpora.reading.text_vectors import split_weights
from embeddings.plugins.distillation.teach import load_teacher, teach


@command_by_example(
    "teach texts.parquet --model FOLDER -o vectors.parquet",
    params=[
        click.Argument(["texts"], nargs=-1, required=True),
        option(
            "--model",
            "The teacher: a folder with model.onnx and tokenizer.json, or of sentence-transformers; or "
            "python:module:function, a function from a list of texts to an array of vectors. The vectors of several, "
            "such as A and B:0.5, are joined, times the weight after the colon.",
            "FOLDER|python:MODULE:FUNCTION",
            required=True,
            multiple=True,
        ),
        option("-o --out", "Output: Parquet with the columns text and embedding.", "FILE", required=True),
        *from_signature(teach, text_column="NAME", exclude="FILE..."),
        THREADS,
        *OUTPUT,
    ],
)
def command(
    *, texts: tuple[str, ...], model: tuple[str, ...], out: str, text_column: str | None, exclude: tuple[str, ...],
    threads: int | None, output: Output,
) -> None:  # fmt: skip
    """Write the vectors that a teacher gives TEXTS: tables, lines of text, or an output of `vocabulary`.

    An interrupted run continues when the command is repeated.
    """
    check_not_input([Path(out)], [("TEXTS", Path(path)) for path in texts], replaceable=())
    names, weights = split_weights(model)
    check_extension(out, [".parquet"], force=output.force)
    names = [str(Path(name)) for name in names]  # so that A, ./A and A/ are one teacher
    teachers = list(zip([load_teacher(name, threads) for name in names], weights, strict=True))
    with Bar(output.quiet, "encoding") as bar:
        count = teach(
            texts, teachers, out, text_column=text_column, exclude=exclude, name=names, force=output.force,
            progress=bar,
        )  # fmt: skip
    bar.notice(f"wrote the vectors of {quantity(count, 'text')} to {out}")
    if output.as_json:
        print_json({"out": out, "texts": count})
