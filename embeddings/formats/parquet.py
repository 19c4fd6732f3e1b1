"""Parquet, as pandas, polars, DuckDB and Spark read it: columns word (string), count (int64) and vector (list)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compressed_files import opened
from embeddings.errors import FormatError
from embeddings.formats.row_reader import Rows
from embeddings.vectors.arrow_table import (
    COUNT,
    SCALE,
    VECTOR,
    WORD,
    check_schema,
    column,
    counts_of,
    described,
    matrix_of,
    to_table,
)
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import checked

SUMMARY = "Parquet: columns word, count and vector"
ENDINGS = (".parquet",)
COUNTS = True
MAGIC = b"PAR1"
BATCH = 1 << 12
GROUP_BYTES = 1 << 26
EXPANDS = 1000
ALWAYS = 1 << 26


def sniff(start: bytes) -> float:
    """Sure if Parquet's sign begins the file."""
    return 1 if start.startswith(MAGIC) else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, in their order, and their counts if they are known; words are compressed by zstd.

    Raises:
        FormatError: a word is no valid Unicode, or a vector holds a NaN or what float16 cannot hold.
        SettingError: `dtype` is not float32, float16 or int8.
    """
    from pyarrow import parquet

    table = to_table(vectors, dtype=dtype)
    compression = {name: "none" if name == VECTOR else "zstd" for name in table.column_names}
    leaf = {f"{VECTOR}.list.element": "none"} | compression  # numbers hardly shrink, and then read faster
    rows = max(1, GROUP_BYTES // (vectors.dim * 4))
    parquet.write_table(table, path, compression=leaf, use_dictionary=False, row_group_size=rows)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file, read a few thousand at a time; lists of any layout are taken if all are as long.

    Raises:
        FormatError: a missing, truncated or broken file, or one that would expand beyond measure; columns that are
            missing or of other types, nulls, a word that stands twice, a NaN or an infinity.
    """
    with reading(path) as file:
        try:
            check_schema(file.schema_arrow)
            check_size(path, file)
            return read_batches(path, file)
        except FormatError as error:
            raise error if str(path) in str(error) else FormatError(f"{path}: {error}") from None


def read_batches(path: Path, file: Any) -> Vectors:
    """All that the file holds, counts if they are known."""
    rows, counts = None, list[np.ndarray | None]()
    names = [name for name in (WORD, COUNT, VECTOR, SCALE) if name in file.schema_arrow.names]
    for batch in file.iter_batches(batch_size=BATCH, columns=names):
        part = matrix_of(batch)
        rows = rows or Rows(path, part.shape[1], None)
        if part.shape[1] != rows.matrix.shape[1]:
            raise FormatError(f"vectors of {rows.matrix.shape[1]} and of {part.shape[1]} components")
        rows.add([word.encode() for word in column(batch, WORD).to_pylist()], part)
        if rows.matrix.nbytes > 2 * allowed(path):
            raise FormatError(f"{path.stat().st_size} bytes expand to {rows.matrix.nbytes} and more")
        counts.append(counts_of(batch))
    if rows is None:
        kind = file.schema_arrow.field(VECTOR).type
        return checked(path, [], np.empty((0, getattr(kind, "list_size", 1)), np.float32))
    known = [part for part in counts if part is not None]
    if known and len(known) < len(counts):
        raise FormatError(f"the column {COUNT} holds nulls")
    return rows.vectors("strict", f"{path}, word", 1, np.concatenate(known) if known else None)


def check_size(path: Path, file: Any) -> None:
    """Refuse a file that says it expands to more than a thousand times its size.

    What its columns say is not asked for: where it claims that they are encrypted Arrow ends the process.

    Raises:
        FormatError: saying both sizes.
    """
    metadata, kind = file.metadata, file.schema_arrow.field(VECTOR).type
    told = sum(metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups))
    size = max(told, metadata.num_rows * 4 * getattr(kind, "list_size", 1))  # one number may stand for all
    if size > allowed(path):
        raise FormatError(f"{path} is broken: {path.stat().st_size} bytes say that they expand to {size}")


def allowed(path: Path) -> int:
    """The bytes that a file may expand to."""
    return max(ALWAYS, EXPANDS * path.stat().st_size)


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """A reader of the file.

    Raises:
        FormatError: the file is missing or broken, now or while it is read.
    """
    import pyarrow as pa
    from pyarrow import parquet

    opened(path).close()
    try:
        with parquet.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
            yield file
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is truncated or broken: {' '.join(str(error).split()):.200}") from error


def describe(path: Path) -> dict[str, Any]:
    """What the footer says; of a file without vectors its columns."""
    with reading(path) as file:
        return described(file.schema_arrow, file.metadata.num_rows)
