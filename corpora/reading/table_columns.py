"""Selected columns of any table as Python values: files, tables of other libraries, mappings, tuples, lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from embeddings.corpora.reading.compression import PeekableStream, decompress, detect_compression, peek
from embeddings.corpora.reading.csv_rows import N_CHECKED, NUMBER, CsvReader
from embeddings.corpora.reading.data_tables import DataTable, conversion_errors
from embeddings.corpora.reading.encodings import UTF8, Utf8Decoder, utf8_blocks
from embeddings.corpora.reading.file_types import FileType, detect, detect_binary
from embeddings.corpora.reading.reader import BLOCK_SIZE, SourceReader
from embeddings.corpora.reading.record_rows import JsonNumber, Record, complete_lines, field_value, json_records
from embeddings.corpora.reading.sources import File, Source
from embeddings.corpora.reading.text_rows import check_column_exists, describe
from embeddings.errors import CorpusError, SingleTextError

BATCH_ROWS = 4096
T = TypeVar("T")
Columns = list[list[Any]]  # the values of each selected column


@dataclass(frozen=True)
class ColumnTable:
    """An open table: its column names, those of strings and of numbers, and a function that reads selected columns.

    A table without column names has the numbers of its columns, "1", "2" and so on, as names.
    """

    name: str
    columns: Sequence[str]
    texts: Sequence[str]
    numbers: Sequence[str]
    has_names: bool
    is_text: bool  # its numbers are spelled
    read: Callable[..., Iterator[Columns]]

    def batches(self, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[Columns]:
        """Yield the values of these columns, a few thousand rows at a time; None is null.

        Arguments:
            columns: those that every row has.
            optional: further columns, of nulls where a table or record does not have them.

        Raises:
            CorpusError: a column is missing or ambiguous, or the table is broken.
        """
        existing = [*columns, *(column for column in optional if column in self.columns)]
        for column in existing:
            check_column_exists(self.name, column, self.columns)
        for values in self.read(existing):
            by_name = dict(zip(existing, values, strict=True))
            yield [by_name[name] if name in by_name else [None] * len(values[0]) for name in (*columns, *optional)]


@contextmanager
def open_columns(
    source: Source, *, header: bool | None = None, encoding: str = UTF8, encoding_errors: str = "strict"
) -> Iterator[ColumnTable]:
    """Open a source whose columns are to be read.

    Arguments:
        header: whether the first row of CSV and TSV holds the column names; None: it does unless one of its cells is a
            number. Lines of plain text never have a header; their cells are separated by tabs.

    Raises:
        CorpusError: the source cannot be read, or has no columns.
    """
    if isinstance(source, DataTable):
        yield arrow_table(source, Utf8Decoder(encoding_errors, source.name))
    elif isinstance(source, File):
        with source.open_stream() as stream:
            yield from open_file(
                source, peek(stream, source.name), header, SourceReader(encoding_errors, None, encoding=encoding)
            )
    else:
        yield item_table(source.items, source.name)


def is_table(source: Source, encoding: str = UTF8) -> bool:
    """Whether a source has columns and column names, or is a list of mappings or tuples."""
    if isinstance(source, DataTable):
        return True
    if not isinstance(source, File):
        first = source.items[0] if isinstance(source.items, Sequence) and source.items else None
        return first is not None and not isinstance(first, str)
    with source.open_stream() as stream:
        data = PeekableStream(decompress(peek(stream, source.name)), source.name)
        file_type = detect_binary(data.head)
        if file_type is None:
            reader = SourceReader("replace", encoding=encoding)
            data = reader.transcode(data, Utf8Decoder("replace", source.name))
            file_type = detect(data.head, source.name, text_column=None)
    return file_type not in (FileType.TEXT, FileType.WARC, FileType.WIKIPEDIA)


def open_file(file: File, raw: PeekableStream, header: bool | None, reader: SourceReader) -> Iterator[ColumnTable]:
    """Yield the table of an open file."""
    from embeddings.corpora.reading.arrow_rows import arrow_errors

    name = file.name
    decoder = Utf8Decoder(reader.encoding_errors, name)
    data = PeekableStream(decompress(raw), name)
    file_type = detect_binary(data.head)
    if file_type in (FileType.WARC, FileType.WIKIPEDIA):
        raise CorpusError(f"{name} is {file_type.value}, which has documents but no columns")
    if file_type is not None:
        if file_type is not FileType.ARROW_STREAM and (not file.is_regular or detect_compression(raw.head)):
            raise CorpusError(f"{name} is {file_type.value}, which must be a regular file without compression")
        with arrow_errors(name, file_type), open_arrow(file, data, file_type, decoder) as table:
            yield table
        return
    data = reader.transcode(data, decoder)
    file_type = detect(data.head, name, text_column=None)
    blocks = utf8_blocks(data.read_some, BLOCK_SIZE, decoder)
    if file_type is FileType.JSON_LINES:
        yield record_table(json_records(blocks, name), name)
    elif file_type is FileType.TEXT:
        yield line_table(blocks, name)
    else:
        yield csv_table(blocks, name, "," if file_type is FileType.CSV else "\t", header)


@contextmanager
def open_arrow(file: File, data: PeekableStream, file_type: FileType, decoder: Utf8Decoder) -> Iterator[ColumnTable]:
    """Open a Parquet or Arrow file or an Arrow stream."""
    import pyarrow

    from embeddings.corpora.reading.arrow_rows import open_batches, open_table

    source: Any = data if file_type is FileType.ARROW_STREAM else file.table_source
    with open_table(source, file_type) as table:
        opened = pyarrow.ipc.open_file(table) if file_type is FileType.ARROW_FILE else table
        schema = table.schema_arrow if file_type is FileType.PARQUET else opened.schema

        def read(columns: Sequence[str]) -> Iterator[Columns]:
            return batch_columns(open_batches(table, source, file_type, schema, columns)[0], columns, decoder)

        yield schema_table(file.name, schema, read)


def arrow_table(source: DataTable, decoder: Utf8Decoder) -> ColumnTable:
    """The columns of a table of another library."""
    table = source.open()

    def read(columns: Sequence[str]) -> Iterator[Columns]:
        with conversion_errors(source.name):
            yield from batch_columns(table.batches(columns), columns, decoder)

    return schema_table(source.name, table.schema, read)


def schema_table(name: str, schema: Any, read: Callable[[Sequence[str]], Iterator[Columns]]) -> ColumnTable:
    """The table with this pyarrow schema."""
    from pyarrow import types

    from embeddings.corpora.reading.arrow_rows import is_string_type

    texts = [field.name for field in schema if is_string_type(field.type)]
    is_number = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    numbers = [field.name for field in schema if any(check(field.type) for check in is_number)]
    return ColumnTable(name, schema.names, texts, numbers, True, False, read)


def batch_columns(batches: Iterable[Any], columns: Sequence[str], decoder: Utf8Decoder) -> Iterator[Columns]:
    """Yield the values of columns of pyarrow batches."""
    from embeddings.corpora.reading.arrow_rows import column_values

    done = 0
    for batch in batches:
        for start in range(0, len(batch), BATCH_ROWS):
            part = batch.slice(start, BATCH_ROWS)
            yield [column_values(part.column(column), done, decoder) for column in columns]
            done += len(part)


def batches_of(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items of an iterable, `size` at a time."""
    iterator = iter(items)
    return iter(lambda: list(islice(iterator, size)), [])


def row_table(name: str, columns: Sequence[str], rows: Iterator[Sequence[Any]], *, has_names: bool) -> ColumnTable:
    """The table with these rows of cells."""
    sample = list(islice(rows, N_CHECKED))
    places = {column: place for place, column in enumerate(columns)}
    numbers = [column for column, place in places.items() if are_numbers([row[place] for row in sample])]
    texts = [column for column in columns if column not in numbers]
    rows, is_text = chain(sample, rows), all(isinstance(cell, str) for row in sample for cell in row)

    def read(selection: Sequence[str]) -> Iterator[Columns]:
        indices = [places[column] for column in selection]
        for part in batches_of(rows, BATCH_ROWS):
            yield [[row[index] for row in part] for index in indices]

    return ColumnTable(name, columns, texts, numbers, has_names, is_text, read)


def are_numbers(cells: Iterable[Any]) -> bool:
    """Whether the first rows of a column are a column of numbers: at least half of the cells that are not empty."""
    filled = [is_number(cell) for cell in cells if not (cell is None or (isinstance(cell, str) and not cell))]
    return bool(filled) and 2 * sum(filled) >= len(filled)


def is_number(cell: Any) -> bool:
    """Whether a cell is a number or spells one."""
    if isinstance(cell, str) and not isinstance(cell, JsonNumber):
        return NUMBER.fullmatch(cell) is not None
    return cell is not None and (isinstance(cell, JsonNumber) or hasattr(cell, "__float__"))


def csv_table(blocks: Iterable[bytes], name: str, delimiter: str, header: bool | None) -> ColumnTable:
    """The columns of CSV or TSV."""
    reader = CsvReader(blocks, name, delimiter)
    first = next(iter(reader.read()), [])
    has_names = not any(map(is_number, first)) if header is None else header
    rows = chain.from_iterable(iter(reader.read, []))
    if not has_names:
        return row_table(name, position_names(first), chain([first], rows) if first else rows, has_names=False)
    return row_table(name, first, rows, has_names=True)


def line_table(blocks: Iterable[bytes], name: str) -> ColumnTable:
    """The cells between the tabs of lines; blank lines are skipped."""

    def lines() -> Iterator[list[str]]:
        n_cells = number = 0
        for part in complete_lines(blocks, name):
            for line in part:
                number += 1
                if not line.strip():
                    continue
                cells = line.rstrip("\r").split("\t")
                n_cells = n_cells or len(cells)
                if len(cells) != n_cells or n_cells == 1:
                    error, expected = (CorpusError, n_cells) if n_cells > 1 else (SingleTextError, "at least 2")
                    raise error(f"{name}, line {number}: expected {expected} cells separated by tabs, got {len(cells)}")
                yield cells

    rows = lines()
    first = list(islice(rows, 1))
    cells = first[0] if first else []
    return row_table(name, position_names(cells), chain(first, rows), has_names=False)


def position_names(cells: Sequence[Any]) -> list[str]:
    """The names of columns that have none."""
    return [str(place) for place, _ in enumerate(cells, 1)]


def record_table(records: Iterator[Record], name: str) -> ColumnTable:
    """The fields of records, also nested ones by their dotted path; every record must have the selected ones."""
    sample = list(islice(records, N_CHECKED))
    fields = sample[0][1] if sample else {}
    values = {field: [one.get(field) for _, one in sample] for field in fields}
    texts = [field for field, cells in values.items() if any(type(cell) is str for cell in cells)]
    numbers = [field for field, cells in values.items() if field not in texts and are_numbers(cells)]
    records = chain(sample, records)

    def read(columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[Columns]:
        for part in batches_of(records, BATCH_ROWS):
            values = [[field_value(record, column, position) for position, record in part] for column in columns]
            yield values + [[record.get(column) for _, record in part] for column in optional]

    return RecordTable(name, list(fields), texts, numbers, True, False, read)


class RecordTable(ColumnTable):
    """A table of records, whose columns may be nested; they are checked record by record."""

    def batches(self, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[Columns]:
        """Yield the values of these fields."""
        return self.read(columns, optional)


def item_table(items: Iterable[Any], name: str) -> ColumnTable:
    """The columns of an iterable of mappings, or of tuples of equal length."""
    from embeddings.corpora.reading.record_rows import mapping_records

    iterator = iter(items)
    first = list(islice(iterator, 1))
    if first and isinstance(first[0], Mapping):
        return record_table(mapping_records(chain(first, iterator)), name)
    if first and (isinstance(first[0], str) or not isinstance(first[0], Sequence)):
        raise CorpusError(f"{name} must contain tuples or mappings, but its first item is {describe(first[0])}")
    length = len(first[0]) if first else 0

    def rows() -> Iterator[Sequence[Any]]:
        for number, item in enumerate(chain(first, iterator), 1):
            if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != length:
                raise CorpusError(f"item {number} is {describe(item)}; expected a tuple of {length} values")
            yield item

    cells = first[0] if first else []
    return row_table(name, position_names(cells), rows(), has_names=False)
