"""Rows of Parquet and Arrow files, a few hundred at a time; only the requested columns are read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.compression import PeekableStream
from embeddings.corpora.reading.data_tables import DataTable
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.file_types import FileType
from embeddings.corpora.reading.sources import read_error
from embeddings.corpora.reading.text_rows import (
    ColumnSelection,
    Tag,
    TextBlock,
    merge_tags,
    rows_from_cells,
    token_block,
)
from embeddings.errors import CorpusError, RemoteError
from embeddings.support.arrow import to_numpy


def row_sizes(array: Any) -> NDArray[np.int64]:
    """Return the bytes of each string (n,), after decoding a dictionary; 8 for an integer; the sum for a list."""
    import pyarrow
    import pyarrow.compute as pc

    if is_list_type(array.type):
        sums, ends = np.cumsum([0, *row_sizes(array.flatten())]), np.cumsum([0, *list_lengths(array)])
        sums_of_lists: NDArray[np.int64] = np.diff(sums[ends])
        return sums_of_lists
    if pyarrow.types.is_integer(array.type):
        return np.full(len(array), 8, np.int64)
    is_dictionary = pyarrow.types.is_dictionary(array.type)
    sizes = pc.binary_length((array.dictionary if is_dictionary else array).cast(pyarrow.large_binary()))
    if is_dictionary:
        sizes = sizes.take(array.indices)
    result: NDArray[np.int64] = to_numpy(pc.fill_null(sizes, 0)).astype(np.int64)
    return result


def is_list_type(kind: Any) -> bool:
    """Whether a pyarrow type is a list type."""
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind))


def list_lengths(array: Any) -> NDArray[np.int64]:
    """Return the length of each list (n,), 0 for null."""
    import pyarrow.compute as pc

    lengths: NDArray[np.int64] = to_numpy(pc.fill_null(pc.list_value_length(array), 0)).astype(np.int64)
    return lengths


def is_string_type(kind: Any) -> bool:
    """Whether a pyarrow type is a string type, dictionary-encoded or not."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def tag_values(array: Any, is_valid: bool, name: str, start: int, decoder: Utf8Decoder) -> list[Tag]:
    """Return the tags of a column: strings, None for null, or lists without nulls."""
    if not is_list_type(array.type):
        values, _ = clean_strings(array, is_valid, name, start, decoder)
        return [None if value is None else value.decode() for value in values]
    if is_valid:
        values, _ = clean_strings(array.flatten(), True, name, start, decoder)
        items = iter(values)
        return [decode_all(islice(items, length)) for length in list_lengths(array).tolist()]
    rows = (array.slice(row, 1).flatten() for row in range(len(array)))
    return [decode_all(clean_strings(row, False, name, start + n, decoder)[0]) for n, row in enumerate(rows)]


def column_values(array: Any, start: int, decoder: Utf8Decoder) -> list[Any]:
    """Return the values of a column from row `start` on; the decoder handles strings that are not UTF-8."""
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        cells, _ = clean_strings(array, False, decoder.name, start, decoder)
        values = [None if cell is None else cell.decode() for cell in cells]
    return values


def decode_all(values: Iterable[bytes | None]) -> list[str]:
    """Return the strings that are not null."""
    return [value.decode() for value in values if value is not None]


def clean_strings(
    array: Any, is_valid: bool, name: str, start: int, decoder: Utf8Decoder
) -> tuple[Iterable[bytes | None], Any]:
    """Return strings as valid UTF-8, with None for null, and as a pyarrow array without nulls if all were valid."""
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_integer(array.type):
        array = array.cast(pyarrow.string())
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
        decoder.add_errors_of(row)
    return cells, None


def is_valid_utf8(array: Any) -> bool:
    """Whether all strings of a pyarrow array are UTF-8; raises ArrowInvalid if the array is otherwise broken."""
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


BATCH_SIZE = 1 << 21  # approximate bytes of rows at a time
MAX_ROWS = 4096  # rows at a time
FEW_ROWS = 128  # rows at a time where it is not known how long values are
MAX_DECODED = 1 << 26  # approximate bytes of rows at a time if all were the longest value of a dictionary
BUFFER_SIZE = 1 << 20  # bytes of a column that are read at a time
REMOTE_BUFFER_SIZE = 1 << 22  # of a remote file

Progress = Callable[[float], None]  # called with the fraction of the file read so far
Selection = Sequence[str]  # names of the text column and of the tag columns
TableSource = Path | PeekableStream | Callable[[], Any]  # a function opens a remote file at its start


@contextmanager
def arrow_errors(name: str, file_type: FileType) -> Iterator[None]:
    """Convert pyarrow errors to a CorpusError of one line that names the file."""
    import pyarrow

    try:
        yield
    except RemoteError as error:
        raise read_error(name, error) from None
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: of a column name
        reason = " ".join(str(error).split())
        raise CorpusError(f"{name} is truncated or corrupt {file_type.value}: {reason}") from error


def table_rows(
    source: TableSource,
    name: str,
    file_type: FileType,
    columns: ColumnSelection,
    decoder: Utf8Decoder,
    progress: Progress = lambda fraction: None,
) -> Iterator[TextBlock]:
    """Yield the rows of a Parquet or Arrow file, given its path or what opens it, or of an Arrow stream."""
    import pyarrow

    with arrow_errors(name, file_type), open_table(source, file_type) as table:
        file = pyarrow.ipc.open_file(table) if file_type is FileType.ARROW_FILE else table
        schema = table.schema_arrow if file_type is FileType.PARQUET else file.schema
        column_names = select_columns(columns, schema, name)
        kept = columns.kept_columns(name, schema.names)
        batches, total = open_batches(table, source, file_type, schema, (*column_names, *kept))
        done = 0
        for number, batch in enumerate(batches, 1):
            yield from rows_of_batch(batch, column_names, kept, name, done, decoder)
            done += len(batch)
            if total:
                progress((done if file_type is FileType.PARQUET else number) / total)


def open_table(source: TableSource, file_type: FileType) -> Any:
    """Open a Parquet file for reading, map an Arrow file into memory or read a remote one, or open an Arrow stream.

    A stream is read without Arrow's threads, which would need the interpreter's lock to release the stream's bytes:
    that aborts a program that is about to end (Arrow's issue GH-34314).
    """
    import pyarrow

    if file_type is FileType.PARQUET:
        return open_parquet(source)
    if file_type is FileType.ARROW_STREAM:
        options = pyarrow.ipc.IpcReadOptions(use_threads=False)
        return pyarrow.ipc.open_stream(pyarrow.PythonFile(source, mode="r"), options=options)
    return pyarrow.PythonFile(source(), mode="r") if callable(source) else pyarrow.memory_map(str(source))


def open_parquet(source: TableSource, **options: Any) -> Any:
    """Open a Parquet file; a remote one is read in few large ranges, by the calling thread."""
    import pyarrow.parquet

    if callable(source):
        return pyarrow.parquet.ParquetFile(source(), buffer_size=REMOTE_BUFFER_SIZE, pre_buffer=False, **options)
    return pyarrow.parquet.ParquetFile(source, buffer_size=BUFFER_SIZE, **options)


def data_table_rows(source: DataTable, columns: ColumnSelection, decoder: Utf8Decoder) -> Iterator[TextBlock]:
    """Yield the rows of a table of another library."""
    table, done = source.open(), 0
    column_names = select_columns(columns, table.schema, source.name)
    kept = columns.kept_columns(source.name, table.schema.names)
    for batch in table.batches(list(dict.fromkeys((*column_names, *kept)))):
        yield from rows_of_batch(batch, column_names, kept, source.name, done, decoder)
        done += len(batch)


def rows_of_batch(
    batch: Any, column_names: Selection, kept: list[str], name: str, start: int, decoder: Utf8Decoder
) -> Iterator[TextBlock]:
    """Yield the rows of a batch that begins at row `start` of its table, with these columns kept."""
    import pyarrow

    invalid = invalid_columns(batch, column_names)
    columns = pyarrow.table(batch.select(kept)) if kept else None
    if columns is not None:
        columns.validate(full=True)
    for first, stop in pairwise(part_borders(batch, column_names)):
        part = batch.slice(first, stop - first)
        rows = convert_batch(part, column_names, invalid, name, start + first, decoder)
        yield rows if columns is None else replace(rows, columns=columns.slice(first, stop - first))


def open_batches(
    table: Any, source: TableSource, file_type: FileType, schema: Any, column_names: Sequence[str]
) -> tuple[Iterable[Any], int]:
    """Return the batches of the selected columns and, for progress, the number of Parquet rows or Arrow batches."""
    import pyarrow

    names = list(dict.fromkeys(column_names))
    if file_type is FileType.PARQUET:
        return parquet_batches(table, source, names), table.metadata.num_rows
    if file_type is FileType.ARROW_STREAM:
        return table, 0
    fields = sorted(schema.get_field_index(column) for column in names)
    options = pyarrow.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    file = pyarrow.ipc.open_file(table, options=options)
    return map(file.get_batch, range(file.num_record_batches)), file.num_record_batches


def parquet_batches(table: Any, source: TableSource, names: list[str]) -> Iterator[Any]:
    """Yield the batches of a Parquet file.

    A page of a few bytes can refer many times to a long value of a dictionary, so the longest value of each dictionary
    limits the rows of a batch.
    """
    metadata = table.metadata
    plain = [name for name in names if not is_list_type(table.schema_arrow.field(name).type)]
    with open_parquet(source, metadata=metadata, read_dictionary=plain) as dictionaries:

        def rows_at_a_time(number: int) -> int:
            # by the size of all columns: asking an encrypted column chunk for its own size crashes the process
            group = metadata.row_group(number)
            rows = batch_rows(group.total_byte_size, group.num_rows)
            if rows <= FEW_ROWS or group.num_rows <= FEW_ROWS:
                return min(rows, FEW_ROWS)
            first = next(dictionaries.iter_batches(1, row_groups=[number], columns=names, use_threads=False), None)
            return rows if first is None else min(rows, *map(decodable_rows, first.columns))

        for rows, groups in groupby(range(metadata.num_row_groups), rows_at_a_time):
            yield from table.iter_batches(rows, row_groups=list(groups), columns=names, use_threads=False)


def decodable_rows(array: Any) -> int:
    """Return how many rows of the column that an array begins may be decoded at a time."""
    import pyarrow
    import pyarrow.compute as pc

    if pyarrow.types.is_primitive(array.type):
        return MAX_ROWS
    if not pyarrow.types.is_dictionary(array.type) or len(array.dictionary) < 2:  # perhaps more values follow
        return FEW_ROWS
    longest = pc.max(pc.binary_length(array.dictionary.cast(pyarrow.large_binary()))).as_py() or 0
    return int(max(1, MAX_DECODED // max(longest, 1)))


def batch_rows(size: int, rows: int) -> int:
    """Return how many rows to read at a time if `rows` rows have `size` bytes."""
    return max(1, min(MAX_ROWS, BATCH_SIZE * rows // max(size, 1)))


def invalid_columns(batch: Any, column_names: Selection) -> set[str]:
    """Return the names of the columns that are not UTF-8; raises ArrowInvalid if one is otherwise broken.

    A batch is checked as a whole, because each of its slices would check a whole dictionary.
    """
    return {name for name in column_names if not is_valid_utf8(batch.column(name))}


def part_borders(batch: Any, column_names: Selection) -> list[int]:
    """Return where to divide a batch into parts of at most `MAX_ROWS` rows, and of `BATCH_SIZE` bytes or one row.

    A dictionary counts as often as rows refer to its values: few bytes of a file can be many bytes of text.
    """
    sizes = sum(row_sizes(batch.column(name)) for name in column_names)
    ends, borders = np.cumsum(sizes), [0]
    while borders[-1] < len(batch):
        start = borders[-1]
        limit = BATCH_SIZE + (int(ends[start - 1]) if start else 0)
        stop = int(np.searchsorted(ends, limit, side="right"))
        borders.append(min(max(stop, start + 1), start + MAX_ROWS, len(batch)))
    return borders


def select_columns(columns: ColumnSelection, schema: Any, name: str) -> Selection:
    """Return the names of the text column and of the tag columns, and check their types."""
    from pyarrow.types import is_integer

    def is_allowed(kind: Any) -> bool:
        return is_integer(kind) or is_string_type(kind)

    strings = [field.name for field in schema if is_string_type(field.type)]
    candidates = strings or [field.name for field in schema if is_list_type(field.type)]  # of tokens
    text, tags = columns.text_column(name, candidates, schema.names), columns.tag_columns(name, schema.names)
    for column, is_tag in ((text, False), *((tag, True) for tag in tags)):
        if column not in strings:
            kind = schema.field(column).type
            value_type = kind.value_type if is_list_type(kind) else kind
            if not (is_allowed(value_type) if is_tag else is_string_type(value_type)):
                raise CorpusError(f"the column {column!r} of {name} must hold strings, got {kind}")
    return text, *tags


def convert_batch(
    batch: Any, column_names: Selection, invalid: set[str], name: str, start: int, decoder: Utf8Decoder
) -> TextBlock:
    """Convert a batch that begins at row `start` of the file; `invalid` names columns that are not UTF-8."""
    text, *tag_names = column_names
    by_column = [tag_values(batch.column(tag), tag not in invalid, name, start, decoder) for tag in tag_names]
    tags = [merge_tags(values) for values in zip(*by_column, strict=True)] if by_column else None
    if is_list_type(batch.schema.field(text).type):
        lists = tag_values(batch.column(text), text not in invalid, name, start, decoder)
        return token_block([[token.encode() for token in tokens or ()] for tokens in lists], tags)
    cells, array = clean_strings(batch.column(text), text not in invalid, name, start, decoder)
    if array is None:
        return rows_from_cells([cell or b"" for cell in cells], tags)
    offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
    first, last = int(offsets[0]), int(offsets[-1])
    data = array.buffers()[2].slice(first, last - first).to_pybytes() if last > first else b""
    return TextBlock(data, offsets[1:] - first, tags=tags)
