"""Tables that are read as Arrow record batches: Parquet and Arrow files, CSV, and tables of other libraries."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.columns import ColumnSelection, Tag, check_column_exists, merge_tags
from embeddings.corpora.reading.compression import PeekableStream, detect_compression
from embeddings.corpora.reading.data_tables import DataTable, ReadBatches, conversion_errors
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.file_types import FileType
from embeddings.corpora.reading.sources import File, read_error
from embeddings.corpora.reading.text_block import TextBlock, parts_of_size
from embeddings.errors import CorpusError, RemoteError
from embeddings.support.arrow import arrow_path, pa, pc, to_numpy

BATCH_SIZE = 1 << 21  # approximate bytes of rows at a time
MAX_ROWS = 4096  # rows at a time
FEW_ROWS = 128  # rows at a time where it is not known how long values are
MAX_DECODED = 1 << 26  # approximate bytes of rows at a time if all were the longest value of a dictionary
BUFFER_SIZE = 1 << 20  # bytes of a column that are read at a time
REMOTE_BUFFER_SIZE = 1 << 22  # of a remote file

Columns = list[list[Any]]  # the values of each selected column
TableSource = Path | PeekableStream | Callable[[], Any]  # a function opens a remote file at its start


@dataclass
class ArrowTable:
    """An open table: its columns, and their values as blocks of text or as Python values; it can be read once.

    Arguments:
        name: for messages.
        schema: the pyarrow schema.
        read: returns record batches with at least the columns of these names.
        decoder: handles strings that are not UTF-8.
        errors: makes a context in which errors of pyarrow and of other libraries become CorpusErrors.
    """

    has_names = True  # else columns have their numbers, "1", "2" and so on, as names
    is_text = False  # all cells are valid UTF-8, numbers are spelled

    name: str
    schema: Any
    read: ReadBatches
    decoder: Utf8Decoder
    errors: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.schema.names)

    @property
    def text_columns(self) -> list[str]:
        """The names of the columns of strings."""
        return [field.name for field in self.schema if is_string_type(field.type)]

    @property
    def number_columns(self) -> list[str]:
        """The names of the columns of numbers."""
        is_number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
        return [field.name for field in self.schema if any(check(field.type) for check in is_number)]

    def rows(self, selection: ColumnSelection) -> Iterator[TextBlock]:
        """Yield the text, tags and kept columns of all rows."""
        with self.errors():
            names, kept = select_columns(selection, self), selection.kept_columns(self.name, self.columns)
            start = 0
            for batch in self.read(list(dict.fromkeys((*names, *kept)))):
                # as a whole, because each slice of a batch would check a whole dictionary
                invalid = set() if self.is_text else {one for one in names if not is_valid_utf8(batch.column(one))}
                columns = pa.table(batch.select(kept)) if kept else None
                if columns is not None and not self.is_text:
                    columns.validate(full=True)
                parts: Iterable[tuple[int, int]] = [(0, len(batch))]
                if not self.is_text:  # a dictionary counts as often as rows refer to its values, which can be long
                    ends = np.cumsum(sum(row_sizes(batch.column(name)) for name in names))
                    parts = parts_of_size(ends, BATCH_SIZE, MAX_ROWS)
                for first, stop in parts:
                    part = batch.slice(first, stop - first)
                    block = convert_batch(part, names, invalid, self.name, start + first, self.decoder)
                    yield block if columns is None else replace(block, columns=columns.slice(first, stop - first))
                start += len(batch)

    def batches(
        self, columns: Sequence[str], optional: Sequence[str] = (), arrays: Sequence[str] = ()
    ) -> Iterator[list[Any]]:
        """Yield the values of `columns`, a few thousand rows at a time; None is null.

        Arguments:
            columns: columns that the table must have.
            optional: further columns, of nulls if the table does not have them.
            arrays: further columns, as Arrow arrays.
        """
        existing = [*columns, *(column for column in optional if column in self.columns)]
        for column in (*existing, *arrays):
            check_column_exists(self.name, column, self.columns)
        with self.errors():
            done = 0
            for batch in self.read(list(dict.fromkeys((*existing, *arrays)))):
                for start in range(0, len(batch), MAX_ROWS):
                    part = batch.slice(start, MAX_ROWS)
                    values = {name: column_values(part.column(name), done, self.decoder) for name in existing}
                    cells = [values.get(name) or [None] * len(part) for name in (*columns, *optional)]
                    yield [*cells, *map(part.column, arrays)]
                    done += len(part)


def open_data_table(source: DataTable, decoder: Utf8Decoder) -> ArrowTable:
    """Open a table of another library; raises CorpusError if it cannot be converted to Arrow."""
    errors = partial(conversion_errors, source.name)
    with errors():
        schema, read = source.open_with(source.data)
    return ArrowTable(source.name, schema, read, decoder, errors)


@contextmanager
def open_arrow(
    file: File, raw: PeekableStream, data: PeekableStream, file_type: FileType, decoder: Utf8Decoder
) -> Iterator[ArrowTable]:
    """Open a Parquet file, an Arrow file or an Arrow stream.

    Arguments:
        raw: the stored bytes; as only a stream is read through it, it gets the share of other files that was read.
        data: the bytes after decompression.
    """
    if file_type is not FileType.ARROW_STREAM and (not file.is_regular or detect_compression(raw.head)):
        raise CorpusError(f"{file.name} is {file_type.value}, which must be a regular file without compression")
    errors = partial(arrow_errors, file.name, file_type)
    with ExitStack() as stack:
        with errors():
            source: TableSource = data if file_type is FileType.ARROW_STREAM else file.table_source
            if file_type is FileType.PARQUET:
                table: Any = open_parquet(source)
            elif file_type is FileType.ARROW_STREAM:
                # Arrow's threads would need the interpreter's lock to release the stream's bytes, which aborts a
                # program that is about to end (Arrow's issue GH-34314)
                options = pa.ipc.IpcReadOptions(use_threads=False)
                table = pa.ipc.open_stream(pa.PythonFile(source, mode="r"), options=options)
            else:
                table = (
                    pa.PythonFile(source(), mode="r") if callable(source) else pa.memory_map(arrow_path(str(source)))
                )
            stack.enter_context(table)
            opened = pa.ipc.open_file(table) if file_type is FileType.ARROW_FILE else table
            schema = table.schema_arrow if file_type is FileType.PARQUET else opened.schema

        def read(names: list[str]) -> Iterator[Any]:
            if file_type is FileType.ARROW_STREAM:
                yield from table
                return
            size = file.status().size or 0
            if file_type is FileType.PARQUET:
                done = 0
                for batch in parquet_batches(table, source, names):
                    yield batch
                    done += len(batch)
                    raw.bytes_read = round(done / max(table.metadata.num_rows, 1) * size)
            else:
                fields = sorted(schema.get_field_index(name) for name in names)
                options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
                selected = pa.ipc.open_file(table, options=options)
                for number in range(selected.num_record_batches):
                    yield selected.get_batch(number)
                    raw.bytes_read = round((number + 1) / selected.num_record_batches * size)

        yield ArrowTable(file.name, schema, read, decoder, errors)


@contextmanager
def arrow_errors(name: str, file_type: FileType) -> Iterator[None]:
    """Convert pyarrow errors to a CorpusError of one line that names the file."""
    try:
        yield
    except RemoteError as error:
        raise read_error(name, error) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: of a column name
        reason = " ".join(str(error).split())
        raise CorpusError(f"{name} is truncated or corrupt {file_type.value}: {reason}") from error


def open_parquet(source: TableSource, **options: Any) -> Any:
    """Open a Parquet file; a remote one is read in few large ranges, by the calling thread."""
    if callable(source):
        return pa.parquet.ParquetFile(source(), buffer_size=REMOTE_BUFFER_SIZE, pre_buffer=False, **options)
    return pa.parquet.ParquetFile(source, buffer_size=BUFFER_SIZE, **options)


def parquet_batches(table: Any, source: TableSource, names: list[str]) -> Iterator[Any]:
    """Yield the batches of a Parquet file.

    A page of a few bytes can refer many times to a long value of a dictionary, so the longest value of each dictionary
    limits the rows of a batch.
    """
    metadata = table.metadata
    plain = [name for name in names if not pa.types.is_nested(table.schema_arrow.field(name).type)]
    with open_parquet(source, metadata=metadata, read_dictionary=plain) as dictionaries:

        def rows_at_a_time(number: int) -> int:
            # by the size of all columns: asking an encrypted column chunk for its own size crashes the process
            group = metadata.row_group(number)
            rows: int = max(1, min(MAX_ROWS, BATCH_SIZE * group.num_rows // max(group.total_byte_size, 1)))
            if rows <= FEW_ROWS or group.num_rows <= FEW_ROWS:
                return min(rows, FEW_ROWS)
            first = next(dictionaries.iter_batches(1, row_groups=[number], columns=names, use_threads=False), None)
            return rows if first is None else min(rows, *map(decodable_rows, first.columns))

        for rows, groups in groupby(range(metadata.num_row_groups), rows_at_a_time):
            yield from table.iter_batches(rows, row_groups=list(groups), columns=names, use_threads=False)


def decodable_rows(array: Any) -> int:
    """Return how many rows of the column that an array begins may be decoded at a time."""
    if pa.types.is_primitive(array.type):
        return MAX_ROWS
    if not pa.types.is_dictionary(array.type) or len(array.dictionary) < 2:  # perhaps more values follow
        return FEW_ROWS
    longest = pc.max(pc.binary_length(array.dictionary.cast(pa.large_binary()))).as_py() or 0
    return int(max(1, MAX_DECODED // max(longest, 1)))


def row_sizes(array: Any) -> NDArray[np.int64]:
    """Return the bytes of each string (n,), after decoding a dictionary; 8 for an integer; the sum for a list."""
    if is_list_type(array.type):
        sums, ends = np.cumsum([0, *row_sizes(array.flatten())]), np.cumsum([0, *list_lengths(array)])
        sums_of_lists: NDArray[np.int64] = np.diff(sums[ends])
        return sums_of_lists
    if pa.types.is_integer(array.type):
        return np.full(len(array), 8, np.int64)
    is_dictionary = pa.types.is_dictionary(array.type)
    sizes = pc.binary_length((array.dictionary if is_dictionary else array).cast(pa.large_binary()))
    if is_dictionary:
        sizes = sizes.take(array.indices)
    result: NDArray[np.int64] = to_numpy(pc.fill_null(sizes, 0)).astype(np.int64)
    return result


def select_columns(selection: ColumnSelection, table: ArrowTable) -> list[str]:
    """Return the names of the text column and of the tag columns, and check their types."""
    strings = [field.name for field in table.schema if is_string_type(field.type)]
    lists = [field.name for field in table.schema if is_list_type(field.type)]  # of tokens
    text = selection.text_column(table.name, table.columns, strings, lists)
    tags = selection.tag_columns(table.name, table.columns)
    for column, is_tag in ((text, False), *((tag, True) for tag in tags)):
        if column not in strings:
            kind = table.schema.field(column).type
            value_type = kind.value_type if is_list_type(kind) else kind
            if not (is_string_type(value_type) or (is_tag and pa.types.is_integer(value_type))):
                raise CorpusError(f"the column {column!r} of {table.name} must hold strings, got {kind}")
    return [text, *tags]


def convert_batch(
    batch: Any, column_names: Sequence[str], invalid: set[str], name: str, start: int, decoder: Utf8Decoder
) -> TextBlock:
    """Convert a batch that begins at row `start` of the file; `invalid` names columns that are not UTF-8."""
    text, *tag_names = column_names
    by_column = [tag_values(batch.column(tag), tag not in invalid, name, start, decoder) for tag in tag_names]
    tags = [merge_tags(values) for values in zip(*by_column, strict=True)] if by_column else None
    if is_list_type(batch.schema.field(text).type):
        lists = tag_values(batch.column(text), text not in invalid, name, start, decoder)
        return TextBlock.of_tokens([[token.encode() for token in tokens or ()] for tokens in lists], tags)
    cells, array = clean_strings(batch.column(text), text not in invalid, name, start, decoder)
    if array is None:
        return TextBlock.of_cells([cell or b"" for cell in cells], tags)
    offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)
    first, last = int(offsets[0]), int(offsets[-1])
    data = array.buffers()[2].slice(first, last - first).to_pybytes() if last > first else b""
    return TextBlock(data, offsets[1:] - first, tags=tags)


def tag_values(array: Any, is_valid: bool, name: str, start: int, decoder: Utf8Decoder) -> list[Tag]:
    """Return the tags of a column: strings, None for null, or lists without nulls."""
    if not is_list_type(array.type):
        if is_valid:
            return list(as_strings(array).to_pylist())
        values, _ = clean_strings(array, is_valid, name, start, decoder)
        return [None if value is None else value.decode() for value in values]
    if is_valid:
        items = iter(as_strings(array.flatten()).to_pylist())
        return [[item for item in islice(items, length) if item is not None] for length in list_lengths(array).tolist()]
    rows = (array.slice(row, 1).flatten() for row in range(len(array)))
    cleaned = (clean_strings(row, False, name, start + number, decoder)[0] for number, row in enumerate(rows))
    return [[value.decode() for value in row if value is not None] for row in cleaned]


def column_values(array: Any, start: int, decoder: Utf8Decoder) -> list[Any]:
    """Return the values of a column from row `start` on; the decoder handles strings that are not UTF-8."""
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        cells, _ = clean_strings(array, False, decoder.name, start, decoder)
        values = [None if cell is None else cell.decode() for cell in cells]
    return values


def as_strings(array: Any) -> Any:
    """Return a column of strings or integers as a pyarrow array of strings, without a dictionary."""
    if pa.types.is_integer(array.type):
        array = array.cast(pa.string())
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def clean_strings(
    array: Any, is_valid: bool, name: str, start: int, decoder: Utf8Decoder
) -> tuple[Iterable[bytes | None], Any]:
    """Return strings as valid UTF-8, with None for null, and as a pyarrow array without nulls if all were valid."""
    array = as_strings(array).cast(pa.large_binary())
    if is_valid:
        values = (value.as_py() for value in array)
        return values, pc.fill_null(array, b"") if array.null_count else array
    cells = []
    for number, cell in enumerate(array.to_pylist(), start + 1):
        row = Utf8Decoder(decoder.policy, f"{name}, row {number}")
        cells.append(None if cell is None else row.clean(cell, final=True))
        decoder.add_errors_of(row)
    return cells, None


def is_valid_utf8(array: Any) -> bool:
    """Whether all strings of a pyarrow array are UTF-8; raises ArrowInvalid if the array is otherwise broken."""
    try:
        array.validate(full=True)
        if pa.types.is_dictionary(array.type):
            array.dictionary.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True


def is_string_type(kind: Any) -> bool:
    """Whether a pyarrow type is a string type, dictionary-encoded or not."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list_type(kind: Any) -> bool:
    """Whether a pyarrow type is a list type."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def list_lengths(array: Any) -> NDArray[np.int64]:
    """Return the length of each list (n,), 0 for null."""
    lengths: NDArray[np.int64] = to_numpy(pc.fill_null(pc.list_value_length(array), 0)).astype(np.int64)
    return lengths
