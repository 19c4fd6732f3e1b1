"""Rows of Parquet and Arrow files, a few hundred at a time; only the requested columns are read."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.file_types import FileType
from embeddings.corpora.reading.peekable_stream import PeekableStream
from embeddings.corpora.reading.text_rows import ColumnSelection, Rows, rows_from_cells
from embeddings.corpora.reading.utf8 import Utf8Decoder
from embeddings.errors import CorpusError

BATCH_SIZE = 1 << 21  # bytes of rows at a time, about
MAX_ROWS = 4096  # rows at a time
BUFFER_SIZE = 1 << 20  # bytes of a column that are read at a time

Progress = Callable[[float], None]  # called with the fraction of the file that was read


@contextmanager
def arrow_errors(name: str, file_type: FileType) -> Iterator[None]:
    """Convert pyarrow errors to a CorpusError of one line that names the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: of a column name
        reason = " ".join(str(error).split())
        raise CorpusError(f"{name} is truncated or corrupt {file_type.value}: {reason}") from error


def parquet_rows(
    path: Path, name: str, columns: ColumnSelection, decoder: Utf8Decoder, progress: Progress
) -> Iterator[Rows]:
    """Yield the rows of a Parquet file.

    Raises:
        CorpusError: it is broken, a column is missing or has another type, or a text is not UTF-8.
    """
    import pyarrow.parquet

    with arrow_errors(name, FileType.PARQUET), pyarrow.parquet.ParquetFile(path, buffer_size=BUFFER_SIZE) as file:
        text_and_tag = select_columns(columns, file.schema_arrow, name)
        names = [column for column in dict.fromkeys(text_and_tag) if column is not None]
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
        # by the size of all columns: asking an encrypted column chunk for its own size ends the process
        batch = min((batch_rows(group.total_byte_size, group.num_rows) for group in groups), default=MAX_ROWS)
        done, total = 0, file.metadata.num_rows
        for rows in file.iter_batches(batch, columns=names, use_threads=False):
            yield convert_batch(rows, text_and_tag, name, done, decoder)
            done += len(rows)
            progress(done / total)


def arrow_file_rows(
    path: Path, name: str, columns: ColumnSelection, decoder: Utf8Decoder, progress: Progress
) -> Iterator[Rows]:
    """Yield the rows of an Arrow IPC file; raises as `parquet_rows`."""
    import pyarrow

    with arrow_errors(name, FileType.ARROW_FILE), pyarrow.memory_map(str(path)) as source:
        schema = pyarrow.ipc.open_file(source).schema
        text_and_tag = select_columns(columns, schema, name)
        fields = sorted({schema.get_field_index(column) for column in text_and_tag if column is not None})
        options = pyarrow.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        file = pyarrow.ipc.open_file(source, options=options)
        total = file.num_record_batches
        batches = map(file.get_batch, range(total))
        for number, part in enumerate(convert_batches(batches, text_and_tag, name, decoder), 1):
            yield from part
            progress(number / total)


def arrow_stream_rows(
    source: PeekableStream, name: str, columns: ColumnSelection, decoder: Utf8Decoder
) -> Iterator[Rows]:
    """Yield the rows of an Arrow IPC stream; raises as `parquet_rows`."""
    import pyarrow

    with (
        arrow_errors(name, FileType.ARROW_STREAM),
        pyarrow.ipc.open_stream(pyarrow.PythonFile(source, mode="r")) as stream,
    ):
        text_and_tag = select_columns(columns, stream.schema, name)
        for part in convert_batches(stream, text_and_tag, name, decoder):
            yield from part


def convert_batches(
    batches: Iterable[Any], text_and_tag: tuple[str, str | None], name: str, decoder: Utf8Decoder
) -> Iterator[Iterator[Rows]]:
    """Yield the rows of each batch, in parts of bounded size."""
    done = 0
    for batch in batches:
        step = batch_rows(batch.column(text_and_tag[0]).nbytes, len(batch))
        yield (
            convert_batch(batch.slice(start, step), text_and_tag, name, done + start, decoder)
            for start in range(0, len(batch), step)
        )
        done += len(batch)


def batch_rows(size: int, rows: int) -> int:
    """Return how many rows to read at a time if `rows` rows have `size` bytes."""
    return max(1, min(MAX_ROWS, BATCH_SIZE * rows // max(size, 1)))


def select_columns(columns: ColumnSelection, schema: Any, name: str) -> tuple[str, str | None]:
    """Return the names of the text and the tag column, and check their types."""
    from pyarrow.types import is_integer

    strings = [field.name for field in schema if is_string_type(field.type)]
    text, tag = columns.text_column(name, strings, schema.names), columns.tag_column(name, schema.names)
    for column, allows_integers in ((text, False), (tag, True)):
        if column is not None and column not in strings:
            kind = schema.field(column).type
            if not (allows_integers and is_integer(kind)):
                raise CorpusError(f"the column {column!r} of {name} must hold strings, got {kind}")
    return text, tag


def is_string_type(kind: Any) -> bool:
    """Whether a pyarrow type is one of strings, dictionary-encoded or not."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def convert_batch(
    batch: Any, text_and_tag: tuple[str, str | None], name: str, start: int, decoder: Utf8Decoder
) -> Rows:
    """Convert a batch that begins at row `start` of the file."""
    text, tag = text_and_tag
    tags = None
    if tag is not None:
        values, _ = clean_strings(batch.column(tag), name, start, decoder)
        tags = [None if value is None else value.decode() for value in values]
    cells, array = clean_strings(batch.column(text), name, start, decoder)
    if array is None:
        return rows_from_cells([cell or b"" for cell in cells], tags)
    offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
    first, last = int(offsets[0]), int(offsets[-1])
    data = array.buffers()[2].slice(first, last - first).to_pybytes() if last > first else b""
    return Rows(data, offsets[1:] - first, tags)


def clean_strings(array: Any, name: str, start: int, decoder: Utf8Decoder) -> tuple[Iterable[bytes | None], Any]:
    """Return strings as valid UTF-8, with None for null; and if all were valid as a pyarrow array without nulls."""
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_integer(array.type):
        array = array.cast(pyarrow.string())
    is_valid = is_valid_utf8(array)
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    array = array.cast(pyarrow.large_binary())
    if is_valid:
        values = (value.as_py() for value in array)
        return values, pyarrow.compute.fill_null(array, b"") if array.null_count else array
    cells = []
    for number, cell in enumerate(array.to_pylist(), start + 1):
        row = Utf8Decoder(decoder.policy, f"{name}, row {number}")
        cells.append(None if cell is None else row.clean(cell, final=True))
        decoder.errors += row.errors
    return cells, None


def is_valid_utf8(array: Any) -> bool:
    """Whether all strings of a pyarrow array are UTF-8; raises ArrowInvalid if it is broken in another way."""
    import pyarrow

    try:
        array.validate(full=True)
        if pyarrow.types.is_dictionary(array.type):
            array.dictionary.validate(full=True)
    except pyarrow.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True
