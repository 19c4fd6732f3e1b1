"""Arrow's IPC file format (Feather 2), which polars, pandas and DuckDB read: columns word, count and vector.

It is written as one uncompressed batch, so that the vectors can be memory-mapped.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compression import open_binary
from embeddings.support.arrow import arrow_path, pa
from embeddings.support.foreign_files import format_errors
from embeddings.vectors.arrow_table import describe_schema, from_table, to_table
from embeddings.vectors.file_format import Format
from embeddings.vectors.vectors import Vectors

MAGIC = b"ARROW1"


def sniff(start: bytes) -> float:
    """Certain if the file starts with Arrow's magic number."""
    return 1 if start.startswith(MAGIC) else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, and the counts if known; `dtype` is float32, float16 or int8."""
    table = to_table(vectors, dtype=dtype)
    with path.open("wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=max(1, len(vectors)))


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors; memory-mapped read-only if they are float32 in one uncompressed batch."""
    with open_arrow(path) as batches:
        return from_table(batches.read_all(), Vectors)


@contextmanager
def open_arrow(path: Path) -> Iterator[Any]:
    """Yield Arrow's reader of a memory-mapped file; errors become FormatError."""
    open_binary(path).close()
    with format_errors(path), pa.memory_map(arrow_path(path)) as source:
        yield pa.ipc.open_file(source)


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the footer, also of tables without vectors."""
    with open_arrow(path) as batches:
        count = batches.num_record_batches
        rows = sum(batches.get_batch(i).num_rows for i in range(count)) if count <= 1000 else None
        return describe_schema(batches.schema, rows)


FORMAT = Format(
    summary="Arrow IPC (Feather 2): columns word, count and vector",
    extensions=(".arrow", ".feather"),
    stores_counts=True,
    stores_pooling=True,
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
)
