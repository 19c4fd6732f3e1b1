"""Tables that are read as Arrow record batches: Parquet and Arrow files, CSV, and tables of other libraries."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.columns import Kind, Role
from embeddings.corpora.reading.compression import PeekableStream, detect_compression
from embeddings.corpora.reading.data_tables import DataTable, ReadBatches, conversion_errors
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.file_types import FileType
from embeddings.corpora.reading.sources import File, remote_errors
from embeddings.corpora.reading.tables import (
    Batch,
    Cells,
    Position,
    Table,
    as_binary,
    cast,
    is_list_type,
    is_number_type,
    is_string_type,
    plain,
)
from embeddings.corpora.reading.tag_arrays import list_sizes
from embeddings.corpora.reading.text_block import parts_of_size
from embeddings.errors import CorpusError
from embeddings.support.arrow import arrow_path, filled_integers, pa, pc

BATCH_SIZE = 1 << 21  # approximate bytes of rows at a time
MAX_ROWS = 4096  # rows at a time
FEW_ROWS = 128  # rows at a time where it is not known how long values are
MAX_DECODED = 1 << 26  # approximate bytes of rows at a time if all were the longest value of a dictionary
BUFFER_SIZE = 1 << 20  # bytes of a column that are read at a time
REMOTE_BUFFER_SIZE = 1 << 22  # of a remote file

TableSource = Path | PeekableStream | Callable[[], Any]  # a function opens a remote file at its start


class ArrowTable(Table):
    """A table of Arrow record batches.

    Arguments:
        schema: the pyarrow schema.
        read_batches: returns record batches with at least the columns of these names.
        errors: makes a context in which errors of pyarrow and of other libraries become CorpusErrors.
    """

    def __init__(
        self, name: str, schema: Any, read_batches: ReadBatches, decoder: Utf8Decoder,
        errors: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:  # fmt: skip
        self.name, self.schema, self.read_batches = name, schema, read_batches
        self.decoder, self.errors = decoder, errors
        self.kinds = [(field.name, kind_of(field.type)) for field in schema]

    def batches(self, roles: Sequence[tuple[str, Role]]) -> Iterator[Batch]:
        """Yield all rows, a few thousand at a time."""
        start = 0
        with self.errors():
            for batch in self.read_batches(list(dict.fromkeys(name for name, _ in roles))):
                # as a whole, because each slice of a batch would check and convert a whole dictionary
                columns = {name: self.prepare(batch.column(name)) for name, _ in roles}
                for first, stop in self.parts([array for array, _ in columns.values()]):
                    position = partial(self.position, start + first)
                    sliced = {name: (one.slice(first, stop - first), valid) for name, (one, valid) in columns.items()}
                    yield Batch([self.convert(*sliced[name], name, role, position) for name, role in roles], position)
                start += len(batch)

    def parts(self, arrays: list[Any]) -> Iterable[tuple[int, int]]:
        """Return where parts of a batch begin and stop; a dictionary counts as often as rows refer to its values."""
        if self.is_text:
            return [(0, len(arrays[0]))]
        sizes = np.sum([row_sizes(array) for array in arrays], axis=0)
        return parts_of_size(np.cumsum(sizes), BATCH_SIZE, MAX_ROWS)

    def position(self, start: int, row: int) -> str:
        """Return the position of a row of a batch that begins at row `start`."""
        return f"{self.name}, row {start + row + 1}"

    def prepare(self, array: Any) -> tuple[Any, bool]:
        """Return an array, of which a dictionary is plain, and whether its strings are UTF-8."""
        is_valid = self.is_text or is_valid_utf8(array)
        if pa.types.is_dictionary(array.type):
            return pa.DictionaryArray.from_arrays(array.indices, plain(array.dictionary)), is_valid
        return plain(array), is_valid

    def convert(self, array: Any, is_valid: bool, name: str, role: Role, position: Position) -> Any:
        """Return a part of a column in the type of its role."""
        array = plain(array)
        converted = cast(array, role) if is_valid else None
        if converted is None:
            role = Role.TEXT if role is Role.ANY else role
            values = (array if is_valid else as_binary(array)).to_pylist()
            converted = Cells(name, role, position, self.decoder, has_bytes=not is_valid).array(values)
        return converted


def kind_of(kind: Any) -> Kind:
    """Return the kind of a column by its Arrow type."""
    if is_string_type(kind):
        return Kind.STRING
    if is_list_type(kind) and is_string_type(kind.value_type):
        return Kind.STRINGS
    return Kind.NUMBER if is_number_type(kind) else Kind.OTHER


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
        with remote_errors():
            yield
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
    # read as dictionaries, long values stay in memory once, however often rows refer to them
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
    """Return the bytes of each string (n,), after decoding a dictionary; the sum for a list; 8 for other values."""
    if is_list_type(array.type):
        sums, ends = np.cumsum([0, *row_sizes(array.flatten())]), np.cumsum([0, *list_sizes(array)])
        sums_of_lists: NDArray[np.int64] = np.diff(sums[ends])
        return sums_of_lists
    is_dictionary = pa.types.is_dictionary(array.type)
    values = array.dictionary if is_dictionary else array
    if not is_string_type(values.type):
        return np.full(len(array), 8, np.int64)
    sizes = pc.binary_length(values)
    sizes = sizes.take(array.indices) if is_dictionary else sizes
    return filled_integers(sizes, 0)


def is_valid_utf8(array: Any) -> bool:
    """Whether all strings of a pyarrow array are UTF-8; raises ArrowInvalid if the array is otherwise broken."""
    try:
        # offsets of a broken file may lead out of its buffers, and kernels of Arrow do not check them
        array.validate(full=True)
        if pa.types.is_dictionary(array.type):
            array.dictionary.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True
