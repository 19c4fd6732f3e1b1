"""Parquet, which pandas, polars, DuckDB and Spark read: columns word (string), count (int64) and vector (list)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compression import open_binary
from embeddings.errors import FormatError
from embeddings.formats.build_vectors import RowBuffer, build_vectors
from embeddings.support.arrow import pa
from embeddings.support.foreign_files import format_errors
from embeddings.vectors import arrow_table
from embeddings.vectors.file_format import Format
from embeddings.vectors.vectors import Vectors

MAGIC = b"PAR1"
BATCH_ROWS = 1 << 12
ROW_GROUP_BYTES = 1 << 26
MAX_EXPANSION = 1000  # times the size of the file
SMALL_BYTES = 1 << 26  # any file may expand to this size


def sniff(start: bytes) -> float:
    """Certain if the file starts with Parquet's magic number."""
    return 1 if start.startswith(MAGIC) else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, and the counts if known; words are zstd-compressed; `dtype` is float32, float16 or int8."""
    table = arrow_table.to_table(vectors, dtype=dtype)
    compression = {name: "none" if name == arrow_table.VECTOR else "zstd" for name in table.column_names}
    compression[f"{arrow_table.VECTOR}.list.element"] = "none"  # numbers hardly compress, and are faster to read so
    rows = max(1, ROW_GROUP_BYTES // (vectors.dim * 4))
    pa.parquet.write_table(table, path, compression=compression, use_dictionary=False, row_group_size=rows)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors, read in batches; any list type is accepted if all lists have the same length."""
    with open_parquet(path) as file:
        arrow_table.check_schema(file.schema_arrow)
        return read_batches(path, file)


def read_batches(path: Path, file: Any) -> Vectors:
    """All vectors and, if known, counts; refuses an expansion to more than a thousand times the size of the file.

    The metadata of single columns is not read: if it claims encryption, Arrow crashes the process.
    """
    metadata, vector = file.metadata, file.schema_arrow.field(arrow_table.VECTOR).type
    limit = max(SMALL_BYTES, MAX_EXPANSION * path.stat().st_size)
    group_bytes = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    size = max(group_bytes, metadata.num_rows * 4 * getattr(vector, "list_size", 1))  # one run may encode all rows
    if size > limit:
        raise FormatError(f"{path} is broken: its {path.stat().st_size} bytes would expand to {size}")
    # in batches: memory grows with what was decoded, while metadata may promise any number of rows
    rows, counts = None, list[np.ndarray | None]()
    names = [
        name
        for name in (arrow_table.WORD, arrow_table.COUNT, arrow_table.VECTOR, arrow_table.SCALE)
        if name in file.schema_arrow.names
    ]
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=names):
        part = arrow_table.read_matrix(batch)
        rows = rows or RowBuffer(path, part.shape[1], None)
        if part.shape[1] != rows.matrix.shape[1]:
            raise FormatError(f"vectors of different lengths: {rows.matrix.shape[1]} and {part.shape[1]} components")
        rows.add([word.encode() for word in arrow_table.get_column(batch, arrow_table.WORD).to_pylist()], part)
        if rows.matrix.nbytes > 2 * limit:
            raise FormatError(f"{path.stat().st_size} bytes expand to at least {rows.matrix.nbytes}")
        counts.append(arrow_table.read_counts(batch))
    if rows is None:
        return build_vectors(path, [], np.empty((0, getattr(vector, "list_size", 1)), np.float32))
    known_counts = [part for part in counts if part is not None]
    if known_counts and len(known_counts) < len(counts):
        raise FormatError(f"the column {arrow_table.COUNT} contains nulls")
    vectors = rows.to_vectors("strict", f"{path}, word", 1, np.concatenate(known_counts) if known_counts else None)
    vectors.text_pool = arrow_table.read_pool(file.schema_arrow)
    return vectors


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Yield a reader of the file; errors become FormatError."""
    open_binary(path).close()
    with format_errors(path), pa.parquet.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
        yield file


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the footer, also of tables without vectors."""
    with open_parquet(path) as file:
        return arrow_table.describe_schema(file.schema_arrow, file.metadata.num_rows)


FORMAT = Format(
    summary="Parquet: columns word, count and vector",
    extensions=(".parquet",),
    stores_counts=True,
    stores_pooling=True,
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
