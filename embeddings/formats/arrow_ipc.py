"""Arrow's IPC file format (Feather 2), as polars, pandas and DuckDB read it: columns word, count and vector.

It is written as one uncompressed batch, so that reading maps the vectors into memory as they lie there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embeddings.corpora.reading.compressed_files import opened
from embeddings.errors import FormatError
from embeddings.vectors.arrow_table import check_schema, described, from_table, to_table
from embeddings.vectors.vectors import Vectors

SUMMARY = "Arrow IPC (Feather 2): columns word, count and vector"
ENDINGS = (".arrow", ".feather")
COUNTS = True
MAGIC = b"ARROW1"


def sniff(start: bytes) -> float:
    """Sure if Arrow's sign begins the file."""
    return 1 if start.startswith(MAGIC) else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, in their order, and their counts if they are known.

    Raises:
        FormatError: a word is no valid Unicode, or a vector holds a NaN or what float16 cannot hold.
        SettingError: `dtype` is not float32, float16 or int8.
    """
    import pyarrow as pa

    table = to_table(vectors, dtype=dtype)
    with path.open("wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=max(1, len(vectors)))


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of a file, mapped read-only if it holds them as float32 in one uncompressed batch.

    Raises:
        FormatError: a missing, truncated or broken file, columns that are missing or of other types, nulls, a word
            that stands twice, a NaN or an infinity.
    """
    with reading(path) as batches:
        try:
            check_schema(batches.schema)
            return from_table(batches.read_all())
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """Arrow's reader of a mapped file.

    Raises:
        FormatError: the file is missing or broken, now or while it is read.
    """
    import pyarrow as pa

    opened(path).close()
    try:
        with pa.memory_map(str(path)) as source:
            yield pa.ipc.open_file(source)
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is truncated or broken: {' '.join(str(error).split()):.200}") from error


def describe(path: Path) -> dict[str, Any]:
    """What the footer says; of a file without vectors its columns, as of a vocabulary."""
    with reading(path) as batches:
        whole = batches.num_record_batches <= 1000
        rows = (
            sum(batches.get_batch(number).num_rows for number in range(batches.num_record_batches)) if whole else None
        )
        return described(batches.schema, rows)
