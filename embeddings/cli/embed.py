"""`embeddings embed`: a vector for every text."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import corpus_options
from embeddings.cli.options import OUTPUT, THREADS, option
from embeddings.cli.output import print_json, quantity
from embeddings.cli.output_paths import check_not_input
from embeddings.cli.progress_bar import Bar
from embeddings.cli.table_output import check_table_file, writing_table
from embeddings.corpora.reading.encodings import check_encoding
from embeddings.corpora.reading.sources import STANDARD_INPUT, File, resolve_source
from embeddings.corpora.reading.text_stream import TextBatch, read_texts
from embeddings.models.embed import text_embedder
from embeddings.models.text_embedder import TextCounts
from embeddings.vectors.pooling import POOLS

if TYPE_CHECKING:
    import pyarrow as pa

INPUT_OPTIONS = ("encoding", "encoding_errors", "text_column", "rows")
ALL, NONE = "all", "none"


@click.command(
    "embed",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["texts"], nargs=-1, metavar="[TEXTS]..."),
        option("-o --out", "Output file: .parquet, .arrow, .csv, .jsonl or .npy.", "FILE", required=True),
        option(
            "--pool",
            "How the vectors of words become one: sif and subsample weight frequent words less, idf words of many "
            "texts; power-mean concatenates mean, max and min.",
            list(POOLS),
            default="mean",
        ),
        option(
            "--constant", "The a of sif, or the threshold of subsample.  [default: 0.001]", type=click.FloatRange(1e-9)
        ),
        option(
            "--frequencies",
            "Where sif and subsample take word frequencies from.  [default: the vectors if they have counts]",
            ["vectors", "texts"],
        ),
        option(
            "--remove-components",
            "Remove the projection onto the first N singular vectors of the texts; 1 is common with sif.",
            0,
            metavar="N",
            default=0,
        ),
        option(
            "--fit-on",
            "Learn frequencies and components from this text, not from TEXTS; in either case from the first 32,768 "
            "texts, or up to 32 MiB.",
            "FILE",
        ),
        option("--normalize", "Scale vectors to length 1.", bool),
        option("--dim", "Use only the first N components of the word vectors.", 1, metavar="N"),
        option(
            "--dtype",
            "Type of the numbers; int8 scales each vector to [-127, 127].",
            ["float32", "float16", "int8"],
            default="float32",
        ),
        option(
            "--columns",
            "Columns of the input to keep: all, none, or names separated by commas.",
            "NAMES",
            default=ALL,
        ),
        option("--vector-column", "Name of the column of vectors.", "NAME", default="vector"),
        *(option for option in corpus_options.options() if option.name in INPUT_OPTIONS),
        THREADS,
        *OUTPUT,
    ],
)
def command(
    *, vectors: str, texts: tuple[str, ...], out: str, fit_on: str | None, columns: str, vector_column: str,
    text_column: str | None, encoding: str, encoding_errors: str, rows: int | None, threads: int | None, force: bool,
    as_json: bool, quiet: bool, **options: Any,
) -> None:  # fmt: skip
    """Write a vector for every text of TEXTS, pooled from the word vectors VECTORS.

    VECTORS is a saved model, or vectors in any format. TEXTS are files or folders, by default standard input: each line
    of plain text and each row of a table is a text. Texts are split into words as the training text of a saved model
    was. Words without a vector are ignored, and counted at the end, unless the vectors compose one. A text without
    known words, or null, gets a zero vector. The columns of tables are kept; for plain text, the text.
    """
    check_table_file(out, force=force)
    sources = [source for text in texts or (STANDARD_INPUT,) for source in resolve_source(text)]
    inputs = [("TEXTS", source.path) for source in sources if isinstance(source, File) and source.path is not None]
    check_not_input([Path(out)], [("VECTORS", Path(vectors)), *inputs])
    reading: Any = {
        "text_column": text_column,
        "encoding": check_encoding(encoding),
        "encoding_errors": encoding_errors,
    }
    embedder = text_embedder(vectors, **options)
    start = perf_counter()
    if fit_on is not None:
        embedder.fit_first(read_texts(resolve_source(fit_on), **reading))
    with Bar(quiet, "embedding") as bar:

        def report(done: int, total: int | None) -> None:
            bar.update(done, total, f"{done / 1e6:,.0f} MB")

        kept = kept_columns(columns)
        batches = read_texts(sources, kept=kept, rows=rows, report=report, **reading)
        dim, dtype = embedder.output_dim, embedder.dtype
        with writing_table(out, vector_column, dim, dtype, force=force) as write:
            for batch, part in embedder.embed(batches, threads):
                write(text_columns(batch, kept), part)
        counts = embedder.counts
        bar.report(f"saved {quantity(counts.texts, 'vector')} of dimension {dim} to {out}")
        bar.report(describe_unknown(counts))
    if as_json:
        seconds = round(perf_counter() - start, 3)
        print_json({"file": out, **vars(counts), "dim": dim, "dtype": dtype, "seconds": seconds})


def kept_columns(columns: str) -> list[str] | None:
    """The names of the columns to keep; None for all."""
    if columns == ALL:
        return None
    return [] if columns == NONE else [name for name in columns.split(",") if name]


def text_columns(batch: TextBatch, kept: Sequence[str] | None) -> "pa.Table | None":
    """The columns of a batch; for plain text its lines as the column "text", if all columns are kept."""
    if batch.columns is not None or kept is not None or batch.lists is not None:
        return batch.columns
    import pyarrow as pa

    return pa.table({"text": pa.array(lines_of(batch), pa.string())})


def lines_of(batch: TextBatch) -> Iterator[str]:
    """The texts without line ends."""
    for start, stop in pairwise(batch.starts.tolist()):
        yield batch.data[start:stop].decode().rstrip("\r\n")


def describe_unknown(counts: TextCounts) -> str:
    """What has no vector."""
    share = 100 * counts.unknown_words / max(counts.words, 1)
    words = f"{counts.unknown_words:,} of {quantity(counts.words, 'word')} ({share:.1f} %) have no vector"
    return f"{words}; {quantity(counts.texts_without_words, 'text')} without known words: zeros"
