"""`embeddings embed`: write a vector for every text."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import numpy as np

from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example, grouped, shared
from embeddings.cli.options import OUTPUT, POOLING_OPTIONS, THREADS, Output, exclude, from_signature, option
from embeddings.cli.output import echo_json, print_json, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_extension, check_not_input
from embeddings.corpora.reading.encodings import check_encoding
from embeddings.corpora.reading.reader import read_texts
from embeddings.corpora.reading.sources import STANDARD_INPUT, File, resolve_source
from embeddings.errors import CorpusError, FormatError
from embeddings.models.embed import embed, text_embedder
from embeddings.support.arrow import as_first_columns, concatenate_tables, pa, pc, wider_schema, with_null_as_string
from embeddings.support.files import atomic_write
from embeddings.support.progress_display import MEGABYTES

if TYPE_CHECKING:
    import pyarrow


Write = Callable[["pyarrow.Table | None", np.ndarray], None]  # takes columns (rows,), or None, and vectors (rows, dim)
PARQUET, JSON_LINES, NPY = ".parquet", ".jsonl", ".npy"
EXTENSIONS = (PARQUET, JSON_LINES, NPY)
ROW_GROUP_BYTES = 1 << 24  # of vectors


class TableWriter:
    """Writes tables with a column of vectors; the first batch decides which columns there are.

    The types of columns hold all values of the first row group.

    Arguments:
        name: of the column of vectors, which must be (rows, dim) of type `dtype`.
    """

    def __init__(self, path: Path | None, suffix: str, name: str, dim: int, dtype: str) -> None:
        self.path, self.suffix, self.name, self.dim, self.dtype = path, suffix, name, dim, dtype
        self.schema: Any = None
        self.writer: Any = None
        self.pending: list[Any] = []
        self.pending_bytes = 0

    def write(self, columns: Any, vectors: np.ndarray) -> None:
        """Write a batch, at the latest with `flush`."""
        if columns is None:
            columns = pa.table({})
        if self.name in columns.column_names:
            raise CorpusError(f"the input has a column {self.name!r}: choose another name with --vector-column")
        # records of JSON may begin with null or whole numbers; until the first group is written, types can widen
        if self.writer is None:
            self.schema = columns.schema if self.schema is None else wider_schema(self.schema, columns.schema)
        columns = as_first_columns(columns, self.schema)
        values = pa.array(np.ascontiguousarray(vectors).reshape(-1))
        column = pa.FixedSizeListArray.from_arrays(values, self.dim)
        self.pending.append(
            columns.append_column(self.name, column) if columns.num_columns else pa.table({self.name: column})
        )
        self.pending_bytes += vectors.nbytes
        if self.pending_bytes >= ROW_GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what has not been written; without any batch, an empty table."""
        if not self.pending and self.writer is None:
            self.write(None, np.zeros((0, self.dim), self.dtype))
        if self.pending:
            table = concatenate_tables(self.pending)
            if self.writer is None:
                table = with_null_as_string(table)
                self.schema = table.drop_columns(self.name).schema
            self.pending, self.pending_bytes = [], 0
            try:
                self.writer = self.writer or open_writer(self.path, self.suffix, self.name, table.schema)
                self.writer.write_table(table)
            except pa.ArrowException as error:
                reason = " ".join(str(error).split())
                raise FormatError(
                    f"a column cannot be written as {self.suffix}: {reason}; leave it out with --columns"
                ) from None

    def close(self) -> None:
        """Complete the file."""
        if self.writer is not None:
            self.writer.close()


@contextmanager
def writing_table(path: str, name: str, dim: int, dtype: str, *, force: bool) -> Iterator[Write]:
    """Yield a function that writes a batch to a file, which appears when the block succeeds; see `TableWriter`."""
    suffix = Path(path).suffix.lower()
    with nullcontext(None) if path == STANDARD_OUTPUT else atomic_write(path, force=force) as temporary:
        if temporary is not None and suffix == NPY:
            with temporary.open("wb") as stream:
                yield from writing_array(stream, dim, dtype)
            return
        writer = TableWriter(temporary, suffix, name, dim, dtype)
        try:
            yield writer.write
            writer.flush()
        finally:
            writer.close()


def writing_array(stream: BinaryIO, dim: int, dtype: str) -> Iterator[Write]:
    """Yield a function that appends vectors to a file of numpy, whose header is completed at the end."""
    header = {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False, "shape": (0, dim)}
    write_header = np.lib.format.write_array_header_1_0  # its header has room for any number of rows
    rows = 0
    # numpy maps the file, so its length and its header must agree: the header is written again with the rows
    write_header(stream, header)

    def write(columns: Any, vectors: np.ndarray) -> None:
        nonlocal rows
        rows += len(vectors)
        stream.write(np.ascontiguousarray(vectors).data)

    yield write
    stream.seek(0)
    write_header(stream, header | {"shape": (rows, dim)})


def open_writer(path: Path | None, suffix: str, name: str, schema: "pyarrow.Schema") -> Any:
    """A writer of tables with this schema, by the extension of the file; to standard output if the path is None."""
    if path is None or suffix == JSON_LINES:
        return JsonLinesWriter(path, name)
    others = [column for column in schema.names if column != name]
    stream = BytesIO()
    pa.parquet.write_table(schema.empty_table(), stream)
    columns = pa.parquet.ParquetFile(stream).schema
    leaves = [columns.column(number).path for number in range(len(columns))]
    vectors = [leaf for leaf in leaves if leaf.startswith(f"{name}.")]  # hardly shrink
    compression = {leaf: "none" if leaf in vectors else "snappy" for leaf in leaves}
    statistics = [leaf for leaf in leaves if leaf not in vectors]
    return pa.parquet.ParquetWriter(
        path, schema, use_dictionary=others, compression=compression, write_statistics=statistics
    )


class JsonLinesWriter:
    """Writes rows as JSON objects, one a line; the numbers of vectors are as short as their type allows."""

    def __init__(self, path: Path | None, name: str) -> None:
        self.name, self.stream = name, None if path is None else path.open("wb")

    def close(self) -> None:
        """Complete the file."""
        if self.stream is not None:
            self.stream.close()

    def write_table(self, table: "pyarrow.Table") -> None:
        """Write a table."""
        encode = json.JSONEncoder(ensure_ascii=False, default=json_text).encode
        for batch in table.to_batches(max_chunksize=1 << 12):
            vectors = batch.column(self.name)
            # Arrow prints a float in the fewest digits that read back equal; Python would print those of a double
            flat = vectors.flatten()
            flat = flat.cast(pa.float32()) if pa.types.is_float16(flat.type) else flat
            offsets = np.arange(0, len(flat) + 1, vectors.type.list_size, dtype=np.int64)
            lists = pa.LargeListArray.from_arrays(offsets, flat.cast(pa.large_string()))
            numbers = pc.binary_join(lists, pa.scalar(", ", pa.large_string()))
            others = batch.select([column for column in batch.schema.names if column != self.name]).to_pylist()
            lines = []
            for row, vector in zip(others, numbers.to_pylist(), strict=True):
                start = encode(row)[:-1] + ", " if row else "{"
                lines.append(f"{start}{encode(self.name)}: [{vector}]}}\n")
            if self.stream is None:
                echo_json("".join(lines))
            else:
                self.stream.write("".join(lines).encode("utf-8", "surrogatepass"))


def json_text(value: Any) -> str:
    """A value that JSON lacks as text: times in the format of ISO 8601, bytes in base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(getattr(value, "isoformat", value.__str__)())


ALL, NONE, STANDARD_OUTPUT = "all", "none", "-"


@command_by_example(
    "embed model texts.txt -o texts.parquet",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["texts"], nargs=-1, metavar="[TEXTS]..."),
        option("-o --out", "Output file: .parquet, .jsonl or .npy; - prints lines of JSON.", "FILE|-", required=True),
        *grouped(
            "pooling",
            from_signature(embed, **POOLING_OPTIONS, normalize=None, dtype=None),
            ("pool", "remove_components", "normalize"),
        ),
        option(
            "--columns",
            "Columns of the input to keep: all, none, or names separated by commas.",
            "NAMES",
            default=ALL,
        ),
        option("--vector-column", "Name of the column of vectors.", "NAME", default="vector"),
        *shared("reading", dict, *corpus_options.options(("encoding", "encoding_errors", "text_column", "rows"))),
        THREADS,
        *OUTPUT,
    ],
)
def command(
    *, vectors: str, texts: tuple[str, ...], out: str, fit_on: str | None, columns: str, vector_column: str,
    reading: dict[str, Any], threads: int | None, output: Output,
    **options: Any,
) -> None:  # fmt: skip
    """Write a vector for every text of TEXTS, pooled from the word vectors VECTORS.

    VECTORS is a saved model, or vectors in any format. TEXTS are files or folders, by default standard input: each line
    of plain text and each row of a table is a text. Texts are split into words as the training text of a saved model
    was. Words without a vector are ignored, and counted at the end, unless the vectors compose one. A text without
    known words, or null, gets a zero vector. The columns of tables are kept; for plain text, the text.
    """
    if out == STANDARD_OUTPUT:
        exclude("as_json", "out", why=" -, which prints JSON")
        exclude("force", "out", why=" -, which replaces no file")
    else:
        check_extension(out, EXTENSIONS, force=output.force)
    sources = [source for text in texts or (STANDARD_INPUT,) for source in resolve_source(text)]
    inputs = [("TEXTS", source.path) for source in sources if isinstance(source, File) and source.path is not None]
    check_not_input([Path(out)] * (out != STANDARD_OUTPUT), [("VECTORS", Path(vectors)), *inputs])
    names = [] if columns == NONE else list(filter(None, dict.fromkeys(columns.split(","))))
    kept = None if columns == ALL else names
    reading["encoding"], rows = check_encoding(reading["encoding"]), reading.pop("rows")
    embedder = text_embedder(vectors, **options)
    start = perf_counter()
    if fit_on is not None:
        embedder.fit_first(read_texts(resolve_source(fit_on), **reading))
    with Bar(output.quiet, "embedding", MEGABYTES) as bar:
        batches = read_texts(sources, kept=kept, rows=rows, report=bar, **reading)
        dim, dtype = embedder.output_dim, embedder.dtype
        with writing_table(out, vector_column, dim, dtype, force=output.force) as write:
            for batch, part in embedder.embed(batches, threads):
                is_plain = batch.columns is None and batch.token_lists is None
                lines = pa.table({"text": pa.array(batch.texts(), pa.string())}) if is_plain and kept is None else None
                write(batch.columns if lines is None else lines, part)
        counts = embedder.counts
        target = "standard output" if out == STANDARD_OUTPUT else out
        vectors_of = f"{quantity(counts.texts, 'vector')} of dimension {dim}, pooled by {embedder.pool}"
        bar.notice(f"saved {vectors_of}, to {target}")
        share = 100 * counts.unknown_words / max(counts.words, 1)
        unknown = f"{counts.unknown_words:,} of {quantity(counts.words, 'word')} ({share:.1f} %) have no vector"
        bar.notice(f"{unknown}; {quantity(counts.texts_without_words, 'text')} without known words: zeros")
        if counts.other_forms:
            bar.notice(f"words found in another form: {counts.describe_forms()}")
    if output.as_json:
        seconds = round(perf_counter() - start, 3)
        print_json({"file": out, **vars(counts), "dim": dim, "pool": embedder.pool, "dtype": dtype, "seconds": seconds})
