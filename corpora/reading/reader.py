"""Sources as blocks of valid UTF-8 text or of lists of tokens, or as tables."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading import record_rows
from embeddings.corpora.reading.arrow_tables import open_arrow, open_data_table
from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.columns import FILE_COLUMNS, TEXT_COLUMN, is_null
from embeddings.corpora.reading.compression import FileOpener, PeekableStream
from embeddings.corpora.reading.csv_table import CsvTable
from embeddings.corpora.reading.data_tables import DataTable
from embeddings.corpora.reading.encodings import (
    MAX_POSITIONS,
    UTF8,
    Transcoder,
    Utf8Decoder,
    check_byte_order,
    utf8_blocks,
)
from embeddings.corpora.reading.file_types import (
    ARROW_EXTENSIONS,
    EXTENSIONS,
    FileType,
    detect,
    detect_binary,
    has_lone_returns,
)
from embeddings.corpora.reading.json_arrays import array_lines
from embeddings.corpora.reading.paragraphs import SAMPLE_SIZE, Lines, is_hard_wrapped, join_paragraphs
from embeddings.corpora.reading.rows import RowReader, Rows
from embeddings.corpora.reading.sources import File, Items, Source, Texts, total_size
from embeddings.corpora.reading.tables import Table
from embeddings.corpora.reading.text_block import FILE_END, TextBlock, merge_blocks, text_batches
from embeddings.errors import CorpusError
from embeddings.printable import describe


def is_path_of_file(item: str | Path) -> bool:
    """Whether a text is the path of a file."""
    try:
        return len(str(item)) < 4096 and Path(item).is_file()
    except (OSError, ValueError):
        return False


BLOCK_SIZE = 1 << 18  # bytes of text
PARSED_BLOCKS = 4  # blocks of CSV and JSON lines that are parsed at a time
BATCH_SIZE = 1 << 19  # bytes of text of `read_texts`
N_SAMPLES = 2  # blocks of a plain text file that are examined for hard-wrapped text

Report = Callable[[int, int | None], object]


@dataclass
class SourceReader:
    """Reads sources in blocks of about `size` bytes, reports progress in bytes, and counts decoding errors.

    Arguments:
        columns: which columns of tables are read as documents; or a reader of rows that must be filled, each with a
            line for each of its texts, for which each line of plain text is a row, too.
        rows: rows, lines or items still to read; None for all.
    """

    encoding_errors: str
    report: Report | None = None
    size: int = BLOCK_SIZE
    total: int | None = None
    columns: ColumnSelection | RowReader = field(default_factory=ColumnSelection)
    rows: int | None = None
    done: int = 0
    errors: int = 0
    error_positions: list[str] = field(default_factory=list)  # of the first ones
    encoding: str = UTF8
    opener: FileOpener = field(default_factory=FileOpener)
    lines: Lines = "separate"
    hard_wrapped: str | None = None  # the first file that seems to be

    def read(self, source: Source) -> Iterator[TextBlock]:
        """Yield the blocks of one source."""
        if self.rows == 0:
            return
        if isinstance(self.columns, RowReader):
            yield from self.limited(rows.lines() for rows in self.columns.read_source(self, source))
            return
        decoder = Utf8Decoder(self.encoding_errors, source.name)
        if isinstance(source, File):
            yield from self.read_file(source, self.columns, decoder)
        else:
            table: Table
            if isinstance(source, DataTable):
                self.check_lines(source.name)
                table, columns = open_data_table(source, decoder), self.columns
            else:
                table, columns = self.items_table(source, self.columns, decoder)
            for block in self.read_table(table, columns):
                self.done += int(block.sizes.sum())
                yield block
                self.progress(self.done)
        self.add_errors_of(decoder)

    @property
    def description(self) -> dict[str, Any]:
        """Properties found in the sources, as values that JSON can hold."""
        errors = {"decoding_errors": self.errors, "decoding_error_positions": self.error_positions}
        wrapped = {} if self.hard_wrapped is None else {"hard_wrapped": self.hard_wrapped}
        inferred = self.columns.inferred_columns if isinstance(self.columns, ColumnSelection) else {}
        return {**errors, **wrapped, "columns": inferred}

    def progress(self, done: int) -> None:
        """Report the number of bytes read so far; for files, as stored on disk."""
        if self.report is not None:
            self.report(done, self.total)

    def add_errors_of(self, decoder: Utf8Decoder) -> None:
        """Count the decoding errors of a source."""
        self.errors += decoder.errors
        self.error_positions = (self.error_positions + decoder.positions)[:MAX_POSITIONS]

    def table_rows(self, source: Source) -> Iterator[Rows]:
        """Yield the rows of a source that is a table, with the reader of rows."""
        assert isinstance(self.columns, RowReader)
        decoder = Utf8Decoder(self.encoding_errors, source.name)
        with self.open_table(source, decoder) as (table, stored):
            for rows in self.columns.read(table):
                yield rows
                self.progress(self.done + (0 if stored is None else stored.bytes_read))
            self.done += 0 if stored is None else stored.bytes_read
        self.add_errors_of(decoder)

    @contextmanager
    def open_table(self, source: Source, decoder: Utf8Decoder) -> Iterator[tuple[Table, PeekableStream | None]]:
        """Open a source as a table, and of a file the stream of its bytes as stored."""
        header = self.columns.header if isinstance(self.columns, RowReader) else None
        if isinstance(source, DataTable):
            yield open_data_table(source, decoder), None
        elif isinstance(source, File):
            with (
                self.open(source, decoder) as (raw, data, file_type),
                table_of_file(source, raw, data, file_type, decoder, BLOCK_SIZE, header) as table,
            ):
                yield table, raw
        else:
            yield items_table(source, decoder), None

    def read_file(self, file: File, columns: ColumnSelection, decoder: Utf8Decoder) -> Iterator[TextBlock]:
        """Yield the text of a file, or the rows of a table."""
        with self.open(file, decoder) as (raw, data, file_type):
            if file_type is FileType.TEXT:
                given = replace(columns, tags=[tag for tag in columns.tags if tag not in FILE_COLUMNS])
                refuse_columns(f"{file.name} is plain text and", columns if file.path is None else given)
                yield from self.read_lines(raw, data, decoder)
            else:
                self.check_lines(f"{file.name} is {file_type.value}")
                with table_of_file(file, raw, data, file_type, decoder, self.size, header=True) as table:
                    for block in self.read_table(table, columns):
                        yield block
                        self.progress(self.done + raw.bytes_read)
            self.done += raw.bytes_read

    def check_lines(self, description: str) -> None:
        """Refuse to join the lines of anything but plain text and strings."""
        if self.lines != "separate":
            raise CorpusError(
                f"{description}; lines are joined in plain text files and strings only: omit {self.lines!r}"
            )

    @contextmanager
    def open(self, file: File, decoder: Utf8Decoder) -> Iterator[tuple[PeekableStream, PeekableStream, FileType]]:
        """Open a file: its bytes as stored, its content, of text in UTF-8, and its type."""
        with self.opener.open(file) as (raw, content):
            data = PeekableStream(content, file.name)
            file_type = FileType.TEXT if file.is_plain_text else detect_binary(data.head)
            if file_type is None:
                check_byte_order(data.head, self.encoding, data.name)
                if self.encoding != UTF8:
                    data = PeekableStream(Transcoder(data.read_some, self.encoding, decoder).read, data.name)
                file_type = detect(data.head, file.name)
            yield raw, data, file_type

    def read_lines(self, raw: PeekableStream, data: PeekableStream, decoder: Utf8Decoder) -> Iterator[TextBlock]:
        """Yield plain text, then its end."""
        line_is_open = False
        blocks = utf8_blocks(data.read_some, self.size, decoder)
        if has_lone_returns(data.head):
            blocks = (block.replace(b"\r", b"\n") for block in blocks)
        for number, block in enumerate(blocks if self.lines == "separate" else join_paragraphs(blocks)):
            if number < N_SAMPLES and self.hard_wrapped is None and is_hard_wrapped(block[:SAMPLE_SIZE]):
                self.hard_wrapped = raw.name
            text = self.first_lines(block)
            yield TextBlock.of_file(text)
            self.progress(self.done + raw.bytes_read)
            line_is_open = not text.endswith(b"\n")
            if self.rows == 0:
                break
        if self.rows and line_is_open:
            self.rows -= 1
        yield FILE_END

    def first_lines(self, block: bytes) -> bytes:
        """Return the part of a block within the remaining number of lines, and count its lines."""
        if self.rows is None:
            return block
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))[: self.rows]
        self.rows -= len(ends)
        return block if self.rows else block[: int(ends[-1]) + 1]

    def read_table(self, table: Table, columns: ColumnSelection) -> Iterator[TextBlock]:
        """Yield the rows of a table, each a document."""
        return self.limited(rows.block() for rows in RowReader(columns.resolve).read(table))

    def limited(self, blocks: Iterator[TextBlock]) -> Iterator[TextBlock]:
        """Yield rows in blocks of about `size` bytes, up to the last row that is to be read."""
        for part in merge_blocks(blocks, self.size):
            rows = part if self.rows is None else part.slice(0, self.rows)
            self.rows = None if self.rows is None else self.rows - len(rows)
            yield from rows.split(self.size)
            if self.rows == 0:
                return

    def items_table(
        self, source: Items, columns: ColumnSelection, decoder: Utf8Decoder
    ) -> tuple[Table, ColumnSelection]:
        """Return the items of an iterable as a table, mappings and tagged objects as rows, and the columns to read."""
        items = iter(source.items)
        first: list[Any] = []  # up to the first one that is not null
        while (not first or is_null(first[-1])) and (following := list(islice(items, 1))):
            first += following
        example, items = first[-1] if first else None, islice(chain(first, items), self.rows)
        if not isinstance(example, str | None):
            self.check_lines(f"{source.name} does not contain strings")
        records = None
        if isinstance(example, Mapping):
            records = record_rows.mapping_records(items)
        elif hasattr(example, "words") and hasattr(example, "tags"):  # such as gensim's TaggedDocument
            columns = replace(columns, text=columns.text or "words", tags=columns.tags or ("tags",))
            what = "an object with words and tags"
            records = record_rows.item_records(items, lambda item: {"words": item.words, "tags": item.tags}, what)
        if records is not None:
            return record_rows.RecordTable(source.name, records, decoder, self.size), columns
        refuse_columns(source.name, columns)
        if isinstance(example, str | Path) and not isinstance(source.items, Texts) and is_path_of_file(example):
            problem = f"its first item, {example!r}, is a file: Corpus(*paths)"
            raise CorpusError(f"an iterable must contain texts, but {problem}")
        if self.lines != "separate":
            items = (join_lines(item) if isinstance(item, str) else item for item in items)
        return record_rows.ItemTable(source.name, items, decoder, self.size), ColumnSelection(TEXT_COLUMN)


def refuse_columns(what: str, columns: ColumnSelection) -> None:
    """Refuse requested columns of something that has none."""
    names = [name for name in (columns.text, *columns.tags) if name is not None]
    if names and not columns.is_of_tables:
        extensions = ", ".join([*EXTENSIONS, *ARROW_EXTENSIONS])
        hint = f"columns are read from mappings, from JSON under any name, and from {extensions}; "
        hint += f"tags of plain text files can be {' and '.join(FILE_COLUMNS)}"
        raise CorpusError(f"{what} has no column {names[0]!r}; {hint}")


def join_lines(text: str) -> str:
    """Return a text whose paragraphs are lines."""
    return b"".join(join_paragraphs([text.encode("utf-8", "surrogatepass")])).decode("utf-8", "surrogatepass")


@contextmanager
def table_of_file(
    file: File,
    raw: PeekableStream,
    data: PeekableStream,
    file_type: FileType,
    decoder: Utf8Decoder,
    size: int,
    header: bool | None,
) -> Iterator[Table]:
    """Open the table in a file: its bytes as stored, its content, and its type; blocks have about `size` bytes."""
    name = file.name
    if file_type in (FileType.PARQUET, FileType.ARROW_FILE, FileType.ARROW_STREAM):
        with open_arrow(file, raw, data, file_type, decoder) as table:
            yield table
        return
    blocks = utf8_blocks(data.read_some, PARSED_BLOCKS * min(size, BLOCK_SIZE), decoder)
    if file_type is FileType.JSON_LINES:
        yield record_rows.JsonTable(name, blocks, decoder, size)
    elif file_type is FileType.JSON_ARRAY:
        yield record_rows.JsonTable(name, array_lines(blocks, name), decoder, size, unit="item")
    elif file_type is FileType.TEXT:
        blocks = blocks if has_lone_returns(data.head) else without_lone_returns(blocks)
        yield CsvTable(blocks, name, "\t", decoder, header=False, has_quotes=False)
    else:
        yield CsvTable(blocks, name, "," if file_type is FileType.CSV else "\t", decoder, header=header)


def without_lone_returns(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of a text whose lines end with line feeds, with spaces for other carriage returns."""
    rest = b""
    for block in blocks:
        text = rest + block
        end = len(text) - text.endswith(b"\r")
        yield re.sub(rb"\r(?!\n)", b" ", text[:end])
        rest = text[end:]
    if rest:
        yield rest


def items_table(source: Items, decoder: Utf8Decoder) -> Table:
    """Return an iterable of mappings or tuples as a table."""
    items = iter(source.items)
    first = list(islice(items, 1))
    has_names = bool(first) and isinstance(first[0], Mapping)
    if first and not has_names and (isinstance(first[0], str) or not isinstance(first[0], Sequence)):
        problem = f"must contain tuples or mappings, but its first item is {describe(first[0])}"
        raise CorpusError(f"{source.name} {problem}")
    items = chain(first, items)
    records = (
        record_rows.mapping_records(items)
        if has_names
        else record_rows.tuple_records(items, len(first[0]) if first else 0)
    )
    return record_rows.RecordTable(source.name, records, decoder, BLOCK_SIZE, has_names=has_names)


@contextmanager
def open_table(source: Source, *, encoding: str = UTF8, encoding_errors: str = "strict") -> Iterator[Table]:
    """Open a source as a table; see `RowReader` for the names of its columns."""
    reader = SourceReader(encoding_errors, encoding=encoding)
    with reader.open_table(source, Utf8Decoder(encoding_errors, source.name)) as (table, _):
        yield table


def is_table(source: Source, encoding: str = UTF8, opener: FileOpener | None = None) -> bool:
    """Whether a source has columns: a table, or a list of mappings or tuples; an iterator is not inspected.

    opener: opens the file next, to read it; it continues with what was read here.
    """
    if isinstance(source, DataTable):
        return True
    if not isinstance(source, File):
        first = source.items[0] if isinstance(source.items, Sequence) and source.items else None
        return first is not None and not isinstance(first, str)
    with ExitStack() as stack:
        opener = opener or stack.enter_context(FileOpener())
        with opener.peek(source) as data:
            file_type, head = detect_binary(data.head), data.head
            if file_type is None and encoding != UTF8:
                check_byte_order(head, encoding, data.name)
                head = Transcoder(BytesIO(head).read, encoding, Utf8Decoder("replace", data.name)).read(len(head))
            return (file_type or detect(head, source.name)) is not FileType.TEXT


def read_texts(
    sources: Iterable[Source],
    *,
    text_column: str | None = None,
    kept: Sequence[str] | None = (),
    encoding: str = UTF8,
    encoding_errors: str = "strict",
    rows: int | None = None,
    report: Report | None = None,
    is_of_tables: bool = False,
) -> Iterator[TextBlock]:
    """Yield whole lines, rows or items of sources; nulls are empty. `kept` names columns to keep; None for all.

    `is_of_tables`: `text_column` applies to tables only, and other sources are read as they are.
    """
    sources = list(sources)
    columns = ColumnSelection(text=text_column, kept=kept, is_of_tables=is_of_tables)
    reader = SourceReader(encoding_errors, report, BATCH_SIZE, total_size(sources), columns, rows, encoding=encoding)
    for source in sources:
        yield from text_batches(reader.read(source))
