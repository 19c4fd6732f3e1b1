"""Tables of records: JSON lines, Python mappings such as those of `csv.DictReader`, tuples, and lines of cells.

Arrow parses blocks of common JSON lines, the standard library everything else.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from embeddings.corpora.reading.columns import ColumnSelection, Tag, check_column_exists, is_null, merge_tags
from embeddings.corpora.reading.encodings import Utf8Decoder, encode_utf8
from embeddings.corpora.reading.text_block import MAX_ROW, TextBlock, gather, is_long
from embeddings.errors import CorpusError, SingleTextError
from embeddings.printable import describe, format_names
from embeddings.support.arrow import combine_chunks, pa, string_bytes


class JsonNumber(str):
    """A JSON number as written, of any length; it does not count as text."""


def as_python(value: Any) -> Any:
    """A value with numbers that were kept as written converted to integers or floats."""
    if isinstance(value, JsonNumber):
        return json.loads(value)
    if isinstance(value, list | tuple):
        return [as_python(item) for item in value]
    if isinstance(value, dict):
        return {key: as_python(item) for key, item in value.items()}
    return value


NUMBER = re.compile(r"\s*[-+]?[.,]?\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)
N_CHECKED = 100  # cells that decide whether a column holds numbers
BATCH_ROWS = 4096
T = TypeVar("T")

Cell = bytes | list[bytes]  # a text, or its tokens
Record = tuple[str, dict[str, Any]]  # its position for messages, and its fields

DECODER = json.JSONDecoder(parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber)


class RecordCollector:
    """Collects rows from records.

    A column is the name of a field, or a dotted path to a nested field. Every record must have it; null is an empty
    text. If no text column is requested, the only field of strings of the first record is used. A text may be a list
    of tokens.

    Attributes:
        names: of the text column and the tag columns; none before the first record.
        kinds: the types of the values of these columns in the first record.
        is_tokens: whether texts are lists of tokens; None before the first text.
        length: the size of the text collected so far.
    """

    def __init__(self, file: str, columns: ColumnSelection, decoder: Utf8Decoder) -> None:
        self.file = file
        self.columns = columns
        self.decoder = decoder
        self.names: Sequence[str] = ()
        self.kinds: Sequence[type] = ()
        self.is_tokens: bool | None = None
        self.length = 0
        self.cells: list[Cell | None] = []
        self.tags: list[Tag] = []
        self.kept: list[dict[str, Any]] = []  # records of which fields are kept
        self.kept_names: list[str] | None = None
        self.schema: Any = None  # of the kept fields

    def rows(self, records: Iterable[Record], size: int) -> Iterator[TextBlock]:
        """Yield records as rows, about `size` bytes of text at a time."""
        for position, record in records:
            self.add(position, record)
            if self.length >= size:
                yield from self.take()
        yield from self.take()

    def add(self, position: str, record: dict[str, Any]) -> None:
        """Add a record; its position is for messages."""
        if not self.names:
            candidates = [name for name, value in record.items() if type(value) is str]
            text = self.columns.text or self.columns.text_column(self.file, list(record), candidates)
            self.names = (text, *(self.columns.tags or self.columns.tag_columns(self.file, list(record))))
            self.kinds = [type(record.get(name)) for name in self.names]
        text, *tag_names = self.names
        cell = text_cell(field_value(record, text, position), text, position, self.decoder)
        if cell is not None:
            if self.is_tokens not in (None, isinstance(cell, list)):
                raise CorpusError(f"{position}: the text {text!r} must be a string, or in all rows a list of tokens")
            self.is_tokens = isinstance(cell, list)
        self.cells.append(cell)
        if tag_names:
            self.tags.append(merge_tags([self.tag_cell(record, name, position) for name in tag_names]))
        if self.columns.keeps_columns:
            self.kept.append(record)
        self.length += len(cell or b"") + 1

    def tag_cell(self, record: dict[str, Any], column: str, position: str) -> Tag:
        """Return the tag of a record, or the list of its tags without nulls."""
        value = field_value(record, column, position)
        if not isinstance(value, list | tuple):
            return tag_value(value, column, position, self.decoder)
        return [tag for one in value if (tag := tag_value(one, column, position, self.decoder)) is not None]

    def take(self) -> Iterator[TextBlock]:
        """Yield the rows collected since the last call, if there are any."""
        tags, columns = self.tags or None, self.kept_fields()
        if self.cells and self.is_tokens:
            yield TextBlock.of_tokens([cell if isinstance(cell, list) else [] for cell in self.cells], tags, columns)
        elif self.cells:
            yield TextBlock.of_cells([cell if isinstance(cell, bytes) else b"" for cell in self.cells], tags, columns)
        self.cells, self.tags, self.kept, self.length = [], [], [], 0

    def kept_fields(self) -> Any:
        """The kept fields as a pyarrow table, whose types the first one decides; a missing field is null."""
        if not self.kept:
            return None
        if self.kept_names is None:
            self.kept_names = self.columns.kept_columns(self.file, list(self.kept[0]))
        table = pa.table([self.kept_field(name) for name in self.kept_names], self.kept_names)
        self.schema = self.schema or table.schema
        return table

    def kept_field(self, name: str) -> Any:
        """The values of one kept field as an array of the type of the first table."""
        values = [as_python(record.get(name)) for record in self.kept]
        try:
            if self.schema is not None:
                return pa.array(values, self.schema.field(name).type)
            array = pa.array(values)
            return array.cast(pa.string()) if pa.types.is_null(array.type) else array
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            kind = "one type" if self.schema is None else f"the type {self.schema.field(name).type}"
            reason = " ".join(str(error).split())
            raise CorpusError(f"{self.file}: the values of {name!r} do not all have {kind}: {reason}") from None


def text_cell(value: Any, column: str, position: str, decoder: Utf8Decoder) -> Cell | None:
    """Return the text of a record, or its tokens; None for null."""
    if is_null(value):
        return None
    if hasattr(value, "tolist") and not isinstance(value, str):  # an array of strings
        value = value.tolist()
    if isinstance(value, list | tuple):
        for token in value:
            if not isinstance(token, str) or isinstance(token, JsonNumber):
                raise CorpusError(f"{position}: a token of {column!r} must be a string, got {describe_field(token)}")
        return [encode_utf8(token, decoder, position) for token in value]
    if not isinstance(value, str) or isinstance(value, JsonNumber):
        raise CorpusError(f"{position}: the text {column!r} must be a string, got {describe_field(value)}")
    return encode_utf8(value, decoder, position)


def field_value(record: dict[str, Any], path: str, position: str) -> Any:
    """Return the value of a field by its name or by a dotted path; a path through null gives None."""
    if path in record:
        return record[path]
    value: Any = record
    for name in path.split("."):
        if value is None:
            return None
        if type(value) is not dict or name not in value:
            raise CorpusError(f"{position}: no field {path!r}; its fields: {format_names(list(record))}")
        value = value[name]
    return value


def tag_value(value: Any, column: str, position: str, decoder: Utf8Decoder) -> str | None:
    """Return a tag: a string, an integer as it is written, or None."""
    if type(value) is not bool and isinstance(value, Integral):  # numpy integers too
        return str(int(value))
    if value is not None and not isinstance(value, str):
        raise CorpusError(f"{position}: the tag {column!r} must be a string or integer, got {describe_field(value)}")
    return None if value is None else encode_utf8(value, decoder, position).decode()


def describe_field(value: object) -> str:
    """Format the value of a field for a message."""
    return f"the number {value:.20}" if isinstance(value, JsonNumber) else f"a value {describe(value)}"


@dataclass
class RecordTable:
    """An open table of records, with the attributes of an `ArrowTable`; its values are read as Python values.

    A column is the name of a field, or the dotted path of a nested one; every record must have it. Rows are read in
    blocks of about `size` bytes of text.
    """

    name: str
    records: Iterator[Record]
    decoder: Utf8Decoder
    size: int
    has_names: bool = field(default=True, kw_only=True)

    @cached_property
    def cells(self) -> dict[str, list[Any]]:
        """The values of the first records in the fields of the first one."""
        sample = list(islice(self.records, N_CHECKED))
        self.records = chain(sample, self.records)
        return {field: [record.get(field) for _, record in sample] for field in (sample[0][1] if sample else ())}

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.cells)

    @property
    def text_columns(self) -> list[str]:
        """The names of the columns of strings."""
        if not self.has_names:
            return [field for field in self.cells if field not in self.number_columns]
        return [field for field, values in self.cells.items() if any(type(value) is str for value in values)]

    @property
    def number_columns(self) -> list[str]:
        """The names of the columns of numbers."""
        strings = self.text_columns if self.has_names else []
        return [field for field, values in self.cells.items() if field not in strings and are_numbers(values)]

    @property
    def is_text(self) -> bool:
        """Whether all cells are strings, and numbers are spelled."""
        return not self.has_names and all(isinstance(one, str) for values in self.cells.values() for one in values)

    def rows(self, selection: ColumnSelection) -> Iterator[TextBlock]:
        """Yield the text, tags and kept columns of all rows (see `RecordCollector`)."""
        return RecordCollector(self.name, selection, self.decoder).rows(self.records, self.size)

    def batches(
        self, columns: Sequence[str], optional: Sequence[str] = (), arrays: Sequence[str] = ()
    ) -> Iterator[list[list[Any]]]:
        """Yield column values as `ArrowTable.batches` does; columns in `arrays` are lists, not Arrow arrays."""
        for column in () if self.has_names else columns:
            check_column_exists(self.name, column, self.columns)
        for part in batches_of(self.records, BATCH_ROWS):
            cells = [[record.get(column) for _, record in part] for column in optional]
            values, others = (
                [[field_value(record, column, position) for position, record in part] for column in names]
                for names in (columns, arrays)
            )
            yield [*values, *cells, *others]


class JsonTable(RecordTable):
    """A table of JSON lines that come in blocks of valid UTF-8."""

    def __init__(self, name: str, blocks: Iterable[bytes], decoder: Utf8Decoder, size: int) -> None:
        self.blocks = blocks
        super().__init__(name, json_records(blocks, name), decoder, size)

    def rows(self, selection: ColumnSelection) -> Iterator[TextBlock]:
        """Yield the text, tags and kept columns of all rows; blocks of common rows are parsed by Arrow."""
        collector, n_lines = RecordCollector(self.name, selection, self.decoder), 0
        for text in line_blocks(self.blocks):
            rows = parse_rows(text, collector)
            if rows is not None:
                yield rows
            else:
                yield from collector.rows(json_records([text], self.name, n_lines), self.size)
            n_lines += text.count(b"\n")


def batches_of(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items of an iterable, `size` at a time."""
    iterator = iter(items)
    return iter(lambda: list(islice(iterator, size)), [])


def position_names(cells: Sequence[Any]) -> list[str]:
    """The names of columns without names: "1", "2" and so on."""
    return [str(place) for place, _ in enumerate(cells, 1)]


def are_numbers(cells: Iterable[Any]) -> bool:
    """Whether the first rows of a column are a column of numbers: at least half of the cells that are not empty."""
    filled = [is_number(cell) for cell in cells if not (cell is None or (isinstance(cell, str) and not cell))]
    return bool(filled) and 2 * sum(filled) >= len(filled)


def is_number(cell: Any) -> bool:
    """Whether a cell is a number or spells one."""
    if isinstance(cell, str) and not isinstance(cell, JsonNumber):
        return NUMBER.fullmatch(cell) is not None
    return cell is not None and (isinstance(cell, JsonNumber) or hasattr(cell, "__float__"))


def mapping_records(items: Iterable[Any]) -> Iterator[Record]:
    """Yield Python mappings as records."""
    for number, item in enumerate(items, 1):
        if not isinstance(item, Mapping):
            raise CorpusError(f"item {number} is {describe(item)}, but the first item is a mapping")
        yield f"item {number}", dict(item)


def tuple_records(items: Iterable[Any]) -> Iterator[Record]:
    """Yield sequences of values as records whose fields are numbered; all must be as long as the first one."""
    names: list[str] | None = None
    for number, item in enumerate(items, 1):
        names = position_names(item) if names is None else names
        if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != len(names):
            raise CorpusError(f"item {number} is {describe(item)}; expected a tuple of {len(names)} values")
        yield f"item {number}", dict(zip(names, item, strict=True))


def line_records(blocks: Iterable[bytes], name: str) -> Iterator[Record]:
    """Yield the cells between the tabs of lines as records whose fields are numbered; blank lines are skipped."""
    names: list[str] = []
    for number, line in enumerate(chain.from_iterable(complete_lines(blocks, name)), 1):
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t")
        names = names or position_names(cells)
        if len(cells) != len(names) or len(names) == 1:
            error, expected = (CorpusError, len(names)) if len(names) > 1 else (SingleTextError, "at least 2")
            raise error(f"{name}, line {number}: expected {expected} cells separated by tabs, got {len(cells)}")
        yield f"{name}, line {number}", dict(zip(names, cells, strict=True))


def json_records(blocks: Iterable[bytes], file: str, number: int = 0) -> Iterator[Record]:
    """Yield the objects of JSON lines that come in blocks of valid UTF-8, after `number` lines; skips blank lines."""
    for lines in complete_lines(blocks, file, number):
        for line in lines:
            number += 1
            if line and not line.isspace():
                position = f"{file}, line {number}"
                yield position, parse_object(line, position)


def complete_lines(blocks: Iterable[bytes], file: str, number: int = 0) -> Iterator[list[str]]:
    """Yield lines without their ends, a block at a time; the last one may have no end.

    number: the lines before the blocks, for messages.
    """
    for text in line_blocks(blocks):
        lines = text.decode().split("\n")
        if (place := next((place for place, line in enumerate(lines) if len(line) > MAX_ROW), None)) is not None:
            raise CorpusError(f"{file}, line {number + place + 1}: longer than {MAX_ROW} characters")
        number += len(lines) - 1
        yield lines[:-1] if text.endswith(b"\n") else lines


def parse_object(line: str, position: str) -> dict[str, Any]:
    """Parse the JSON object in a line."""
    try:
        value = DECODER.decode(line.lstrip())
    except RecursionError:
        raise CorpusError(f"{position}: JSON is nested too deeply") from None
    except ValueError as error:
        reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise CorpusError(f"{position}: invalid JSON: {reason}") from None
    if type(value) is not dict:
        raise CorpusError(f"{position}: expected a JSON object, got {describe_field(value)}")
    return value


def tagged_records(items: Iterable[Any]) -> Iterator[Record]:
    """Yield objects with the attributes `words` and `tags`, such as gensim's TaggedDocument, as records."""
    for number, item in enumerate(items, 1):
        if not (hasattr(item, "words") and hasattr(item, "tags")):
            raise CorpusError(f"item {number} is {describe(item)}, but the first item has words and tags")
        yield f"item {number}", {"words": item.words, "tags": item.tags}


NEGATIVE_ZERO = re.compile(rb"-0[\s,}]")
LINE_FEED, CARRIAGE_RETURN, OPEN_OBJECT, CLOSE_OBJECT = b"\n\r{}"


def line_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the text in blocks of complete lines; of a line that is too long only a part, for an error."""
    blocks, text = iter(blocks), b""
    while (block := gather(blocks, len(text))) or text:
        text += block
        end = text.rfind(b"\n") + 1 if block else len(text)
        if end == 0 and is_long(text):
            end = len(text)
        if end:
            yield text[:end]
            text = text[end:]


def parse_rows(text: bytes, collector: RecordCollector) -> TextBlock | None:
    """Parse lines with Arrow; None if Arrow refuses them, or might read something else than the standard library."""
    types: dict[type, Any] = {str: pa.string(), JsonNumber: pa.int64()}
    is_common = all(kind in types for kind in collector.kinds) and collector.kinds[:1] == [str]
    if not is_common or collector.is_tokens or collector.columns.keeps_columns or len(text) > MAX_ROW:
        return None
    n_objects = count_objects(text)
    if n_objects is None or (JsonNumber in collector.kinds and NEGATIVE_ZERO.search(text)):
        return None
    fields = zip(collector.names, collector.kinds, strict=True)
    table = parse_lines(text, {name: types[kind] for name, kind in fields})
    if table is None or len(table) != n_objects or any(column.null_count for column in table.columns):
        return None  # null stands for a missing field, too
    collector.is_tokens = False
    name, *tag_names = collector.names
    data, starts = string_bytes(combine_chunks(table[name]))
    tags = [list(map(str, table[tag].to_pylist())) for tag in tag_names]
    merged = [merge_tags(row) for row in zip(*tags, strict=True)] if tags else None
    return TextBlock(data.tobytes(), starts[1:], tags=merged)


def count_objects(text: bytes) -> int | None:
    """Return the number of lines that are not empty; None if some do not begin and end as an object does."""
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == LINE_FEED)
    ends = ends if text.endswith(b"\n") else np.append(ends, len(text))
    starts = np.append(0, ends[:-1] + 1)
    is_filled = starts < ends
    starts, last = starts[is_filled], ends[is_filled] - 1
    last -= data[last] == CARRIAGE_RETURN
    are_objects = (data[starts] == OPEN_OBJECT).all() and (data[last] == CLOSE_OBJECT).all()
    return len(starts) if are_objects else None


def parse_lines(text: bytes, types: dict[str, Any]) -> Any:
    """Parse the fields of JSON lines with these names and types as a pyarrow table; None if Arrow refuses them."""
    try:
        return pa.json.read_json(
            pa.BufferReader(text),
            pa.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            pa.json.ParseOptions(explicit_schema=pa.schema(types.items()), unexpected_field_behavior="ignore"),
        )
    except (pa.ArrowException, UnicodeError):  # UnicodeError: a field name is not valid
        return None
