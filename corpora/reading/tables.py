"""Opens any source as a table whose columns are read as Python values."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice

from embeddings.corpora.reading.arrow_tables import ArrowTable, open_arrow, open_data_table
from embeddings.corpora.reading.csv_table import CsvTable
from embeddings.corpora.reading.data_tables import DataTable
from embeddings.corpora.reading.encodings import UTF8, Utf8Decoder, utf8_blocks
from embeddings.corpora.reading.file_types import FileType
from embeddings.corpora.reading.reader import BLOCK_SIZE, SourceReader
from embeddings.corpora.reading.record_rows import (
    RecordTable,
    json_records,
    line_records,
    mapping_records,
    tuple_records,
)
from embeddings.corpora.reading.sources import File, Items, Source
from embeddings.errors import CorpusError
from embeddings.printable import describe

Table = ArrowTable | RecordTable


@contextmanager
def open_table(
    source: Source, *, header: bool | None = None, encoding: str = UTF8, encoding_errors: str = "strict"
) -> Iterator[Table]:
    """Open a source as a table.

    Arguments:
        header: whether the first row of CSV and TSV holds the column names; None: it does unless one of its cells is a
            number. Lines of plain text never have a header; their cells are separated by tabs.

    Raises:
        CorpusError: the source cannot be read, or has no columns.
    """
    decoder = Utf8Decoder(encoding_errors, source.name)
    if isinstance(source, DataTable):
        yield open_data_table(source, decoder)
    elif isinstance(source, File):
        yield from open_file(source, header, SourceReader(encoding_errors, encoding=encoding), decoder)
    else:
        yield open_items(source)


def open_file(file: File, header: bool | None, reader: SourceReader, decoder: Utf8Decoder) -> Iterator[Table]:
    """Yield the table of a file; closes the file afterwards."""
    name = file.name
    with reader.open(file, decoder, text_column=None) as (raw, data, file_type):
        if file_type in (FileType.WARC, FileType.WIKIPEDIA):
            raise CorpusError(f"{name} is {file_type.value}, which has documents but no columns")
        if file_type in (FileType.PARQUET, FileType.ARROW_FILE, FileType.ARROW_STREAM):
            with open_arrow(file, raw, data, file_type, decoder) as table:
                yield table
            return
        blocks = utf8_blocks(data.read_some, BLOCK_SIZE, decoder)
        if file_type is FileType.JSON_LINES:
            yield RecordTable(name, json_records(blocks, name))
        elif file_type is FileType.TEXT:
            yield RecordTable(name, line_records(blocks, name), has_names=False)
        else:
            yield CsvTable(blocks, name, "," if file_type is FileType.CSV else "\t", decoder, header=header)


def open_items(source: Items) -> RecordTable:
    """Open an iterable of mappings, or of tuples of equal length."""
    items = iter(source.items)
    first = list(islice(items, 1))
    if first and isinstance(first[0], Mapping):
        return RecordTable(source.name, mapping_records(chain(first, items)))
    if first and (isinstance(first[0], str) or not isinstance(first[0], Sequence)):
        raise CorpusError(f"{source.name} must contain tuples or mappings, but its first item is {describe(first[0])}")
    return RecordTable(source.name, tuple_records(chain(first, items)), has_names=False)


def is_table(source: Source, encoding: str = UTF8) -> bool:
    """Whether a source has columns: a table, or a list of mappings or tuples; an iterator is not inspected."""
    if isinstance(source, DataTable):
        return True
    if not isinstance(source, File):
        first = source.items[0] if isinstance(source.items, Sequence) and source.items else None
        return first is not None and not isinstance(first, str)
    decoder = Utf8Decoder("replace", source.name)
    with SourceReader("replace", encoding=encoding).open(source, decoder, text_column=None) as (_, _, file_type):
        return file_type not in (FileType.TEXT, FileType.WARC, FileType.WIKIPEDIA)
