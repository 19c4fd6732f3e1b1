"""Tables of records: JSON, Python mappings such as those of `csv.DictReader`, and tuples.

Arrow parses blocks of common JSON lines, the standard library everything else.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.columns import TEXT_COLUMN, Kind, Role, check_column_exists
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.tables import (
    Batch,
    Cells,
    JsonNumber,
    Table,
    as_python,
    cast,
    describe_cell,
)
from embeddings.corpora.reading.text_block import MAX_ROW, count_lines, gather, is_long
from embeddings.errors import CorpusError
from embeddings.printable import describe
from embeddings.support.arrow import combine_chunks, pa
from embeddings.support.logs import log

NUMBER = re.compile(r"\s*[-+]?[.,]?\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)
N_CHECKED = 100  # rows that decide which columns there are, and which of them hold numbers
BATCH_ROWS = 256  # few, because what is held is scanned by the garbage collector again and again
FEW_ITEMS = 16  # that are requested of an iterable at a time
T = TypeVar("T")

Record = tuple[str, dict[str, Any]]  # its position for messages, and its fields

DECODER = json.JSONDecoder(parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber)


class RecordTable(Table):
    """A table of records, which are read in blocks of about `size` bytes of the first column.

    The columns are the fields of all of the first 100 records, or dotted paths of nested fields. A field that a record
    does not have is null.
    """

    def __init__(
        self, name: str, records: Iterable[Record], decoder: Utf8Decoder, size: int, *, has_names: bool = True
    ) -> None:
        self.name, self.records, self.decoder, self.size = name, iter(records), decoder, size
        self.has_names = has_names
        self.kept_schema = pa.schema([])  # of the kept columns, whose types hold all values so far
        self.late: set[str] = set()  # fields that are not kept, because the first records do not have them

    @cached_property
    def sample(self) -> list[Record]:
        """The first records."""
        return list(islice(self.records, N_CHECKED))

    @cached_property
    def cells(self) -> dict[str, list[Any]]:
        """The values of the first records in each field."""
        names = dict.fromkeys(field for _, record in self.sample for field in record)
        return {name: [record.get(name) for _, record in self.sample] for name in names}

    @cached_property
    def kinds(self) -> list[tuple[str, Kind]]:  # type: ignore[override]
        """The names and kinds of all columns."""
        return [(name, kind_of(values)) for name, values in self.cells.items()]

    @cached_property
    def spelled_numbers(self) -> list[str]:  # type: ignore[override]
        """Columns of strings that hold numbers, in a table without names."""
        return [] if self.has_names else [name for name in self.of_kind(Kind.STRING) if are_numbers(self.cells[name])]

    @property
    def is_text(self) -> bool:  # type: ignore[override]
        """Whether all cells are strings, and numbers are spelled."""
        return not self.has_names and all(isinstance(one, str) for values in self.cells.values() for one in values)

    def check_column(self, name: str) -> None:
        """Refuse a column that none of the first records has, nor a nested field that a dotted path leads to."""
        is_nested = "." in name and any(has_field(record, name) for _, record in self.sample)
        if self.sample and not is_nested:
            check_column_exists(self.name, name, self.columns)

    def batches(self, roles: Sequence[tuple[str, Role]]) -> Iterator[Batch]:
        """Yield all rows."""
        yield from self.record_batches(chain(self.sample, self.records), roles)

    def record_batches(self, records: Iterable[Record], roles: Sequence[tuple[str, Role]]) -> Iterator[Batch]:
        """Yield the rows of records."""
        first = getter(roles[0][0])
        for part in parts_of_items(records, self.size, lambda record: length(first(record[1]))):
            yield self.batch(part, roles)

    def batch(self, records: list[Record], roles: Sequence[tuple[str, Role]]) -> Batch:
        """Return records as a batch."""

        def position(row: int) -> str:
            return records[row][0]

        if kept := {name for name, role in roles if role is Role.ANY}:
            self.warn_of_late_fields(records, kept)
        arrays = []
        for name, role in roles:
            value_of = getter(name)
            values = [value_of(record) for _, record in records]
            of_role = Cells(name, role, position, self.decoder)
            arrays.append(self.kept_values(name, values) if role is Role.ANY else of_role.array(values))
        return Batch(arrays, position)

    def kept_values(self, name: str, values: list[Any]) -> Any:
        """Return the values of a kept field as an array of a type that holds them and all before them."""
        values = [*map(as_python, values)]
        try:
            array = pa.array(values)
            schemas = [self.kept_schema, pa.schema([(name, array.type)])]
            self.kept_schema = pa.unify_schemas(schemas, promote_options="permissive")
            kind = self.kept_schema.field(name).type
            return array if array.type == kind else pa.array(values, kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            reason = " ".join(str(error).split())
            raise CorpusError(f"{self.name}: the values of {name!r} do not all have one type: {reason}") from None

    def warn_of_late_fields(self, records: list[Record], kept: set[str]) -> None:
        """Warn once of each field that is not kept, although all are to be, because it appears too late."""
        for position, record in records if kept.issuperset(self.columns) else ():
            for name in record.keys() - kept - self.late:
                self.late.add(name)
                log.warning(
                    "%s: the column %r is not kept: it first appears in %s, after the first %s rows",
                    self.name, name, position, N_CHECKED,
                )  # fmt: skip


def kind_of(values: list[Any]) -> Kind:
    """Return the kind of a column by its first values."""
    if any(type(value) is str for value in values):
        return Kind.STRING
    if are_numbers(values):
        return Kind.NUMBER
    lists = (value for value in values if isinstance(value, list | tuple) and value)
    is_strings = any(all(type(one) is str for one in value) for value in lists)
    return Kind.STRINGS if is_strings else Kind.OTHER


def length(value: Any) -> int:
    """Return the size of a text or a list of tokens; 1 for other values."""
    return len(value) if isinstance(value, str | list) else 1


def parts_of_items(items: Iterable[T], size: int, size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield items in parts of about `size`, and of at most about BATCH_ROWS items."""
    part: list[T] = []
    total = 0
    for few in batches_of(items, FEW_ITEMS):
        part += few
        total += sum(map(size_of, few))
        if total >= size or len(part) >= BATCH_ROWS:
            yield part
            part, total = [], 0
    if part:
        yield part


def getter(path: str) -> Callable[[dict[str, Any]], Any]:
    """Return the function from a record to the value of a field or of a dotted path; None if the record has none."""
    names = path.split(".")

    def get(record: dict[str, Any]) -> Any:
        if path in record:
            return record[path]
        value: Any = record
        for name in names:
            value = value.get(name) if type(value) is dict else None
        return value

    return get if len(names) > 1 else lambda record: record.get(path)


def has_field(record: dict[str, Any], path: str) -> bool:
    """Whether a record has a nested field, or null on the way to it."""
    value: Any = record
    for name in path.split("."):
        if value is None:
            return True
        if type(value) is not dict or name not in value:
            return False
        value = value[name]
    return True


class ItemTable(Table):
    """A table with a single column of texts or lists of tokens, the items of an iterable."""

    def __init__(self, name: str, items: Iterable[Any], decoder: Utf8Decoder, size: int) -> None:
        self.name, self.items, self.decoder, self.size = name, iter(items), decoder, size
        self.kinds = [(TEXT_COLUMN, Kind.STRING)]

    def batches(self, roles: Sequence[tuple[str, Role]]) -> Iterator[Batch]:
        """Yield all items, about `size` characters or tokens at a time."""
        done = 0
        for values in parts_of_items(self.items, self.size, length):
            yield self.batch(values, done)
            done += len(values)

    def batch(self, values: list[Any], done: int) -> Batch:
        """Return items, after `done` others, as a batch."""

        def position(row: int) -> str:
            return f"item {done + row + 1}"

        return Batch([Cells(TEXT_COLUMN, Role.TEXT, position, self.decoder).array(values)], position)


class JsonTable(RecordTable):
    """A table of JSON objects, one a line, that come in blocks of valid UTF-8; Arrow parses blocks of common lines.

    unit: what a line is, for messages.
    """

    def __init__(
        self, name: str, blocks: Iterable[bytes], decoder: Utf8Decoder, size: int, *, unit: str = "line"
    ) -> None:
        super().__init__(name, (), decoder, size)
        self.blocks: Iterator[bytes] = line_blocks(blocks)
        self.unit, self.n_lines = unit, 0

    @cached_property
    def sample(self) -> list[Record]:
        """The records of the first blocks."""
        records: list[Record] = []
        while len(records) < N_CHECKED and (text := next(self.blocks, b"")):
            wanted = N_CHECKED - len(records)
            ends = [match.end() for match in islice(FILLED_LINE.finditer(text), wanted)]
            end = ends[-1] if len(ends) == wanted else len(text)
            records += self.parsed_records(text[:end])
            if len(records) == N_CHECKED:  # Arrow parses the other lines of the block
                self.blocks = chain([text[end:]] if end < len(text) else [], self.blocks)
            else:  # some lines are of white space that only Unicode has
                records += self.parsed_records(text[end:])
        return records

    def parsed_records(self, text: bytes) -> Iterator[Record]:
        """Yield the objects of the next lines, parsed by the standard library; skips blank lines."""
        for number, line in enumerate(text.decode().split("\n"), self.n_lines + 1):
            position = f"{self.name}, {self.unit} {number}"
            if len(line) > MAX_ROW:
                raise CorpusError(f"{position}: longer than {MAX_ROW} characters")
            if line and not line.isspace():
                yield position, parse_object(line, position)
        self.n_lines += count_lines(text)

    def batches(self, roles: Sequence[tuple[str, Role]]) -> Iterator[Batch]:
        """Yield all rows."""
        yield from self.record_batches(self.sample, roles)
        types = self.arrow_types(roles)
        for text in self.blocks:
            batch = None if types is None or len(text) > MAX_ROW else self.parsed_batch(text, roles, types)
            if batch is None:
                yield from self.record_batches(self.parsed_records(text), roles)
            else:
                yield batch
                self.n_lines += count_lines(text)

    def arrow_types(self, roles: Sequence[tuple[str, Role]]) -> dict[str, Any] | None:
        """Return the types with which Arrow reads columns; None if it might read something else than the sample has."""
        types: dict[str, Any] = {}
        for name, role in roles:
            values = [value for value in self.cells.get(name, ()) if value is not None]
            kinds = set(map(type, values))
            if kinds == {str} and role in (Role.TEXT, Role.TAG):
                kind = pa.string()
            elif kinds == {JsonNumber} and role in (Role.TAG, Role.NUMBER):
                kind = pa.int64() if role is Role.TAG else pa.float64()
            elif kinds == {list} and role is not Role.ANY:
                kind = pa.list_(pa.float64() if role is Role.VECTOR else pa.string())
            else:
                return None
            # a path may lead to a nested field in some records and be the name of a field in others
            if "." in name or types.setdefault(name, kind) != kind:
                return None
        return types

    def parsed_batch(self, text: bytes, roles: Sequence[tuple[str, Role]], types: dict[str, Any]) -> Batch | None:
        """Parse a block with Arrow; None if Arrow refuses it, or might read something else than `parsed_records`."""
        starts = object_starts(text)
        # Arrow reads -0 as 0, which as a tag would be another string
        if starts is None or (pa.int64() in types.values() and NEGATIVE_ZERO.search(text)):
            return None
        table = parse_lines(text, types)
        if table is None or len(table) != len(starts):
            return None
        arrays = [cast(combine_chunks(table[name]), role) for name, role in roles]
        n_lines = self.n_lines

        def position(row: int) -> str:
            return f"{self.name}, {self.unit} {n_lines + text.count(10, 0, int(starts[row])) + 1}"

        return None if any(array is None for array in arrays) else Batch(arrays, position)


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


def item_records(items: Iterable[Any], fields: Callable[[Any], dict[str, Any]], what: str) -> Iterator[Record]:
    """Yield items as records.

    Arguments:
        fields: returns the fields of an item; raises TypeError, ValueError or AttributeError for other items.
        what: what the items are, for messages.
    """
    for number, item in enumerate(items, 1):
        try:
            yield f"item {number}", fields(item)
        except (TypeError, ValueError, AttributeError):
            raise CorpusError(f"item {number} is {describe(item)}; expected {what}, as the first item") from None


def mapping_records(items: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """Yield Python mappings as records."""
    return item_records(items, lambda item: {**item}, "a mapping")


def tuple_records(items: Iterable[Sequence[Any]], size: int) -> Iterator[Record]:
    """Yield tuples of `size` values as records whose fields are numbered."""
    names = position_names(range(size))
    # a string of as many characters is no tuple
    return item_records(
        items, lambda item: dict(zip(names, (*item, *[None] * isinstance(item, str)), strict=True)),
        f"a tuple of {size} values",
    )  # fmt: skip


def parse_object(line: str, position: str) -> dict[str, Any]:
    """Parse the JSON object in a line."""
    try:
        value = DECODER.decode(line.lstrip())
        if type(value) is dict:
            return value
        problem = f"expected an object, got {describe_cell(value)}"
    except RecursionError:
        problem = "it is nested too deeply"
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at column {error.colno}"
    raise CorpusError(f"{position}: invalid JSON: {problem}")


NEGATIVE_ZERO = re.compile(rb"-0[\s,}]")
FILLED_LINE = re.compile(rb"^[^\S\n]*\S[^\n]*\n?", re.MULTILINE)
LINE_FEED, CARRIAGE_RETURN, OPEN_OBJECT, CLOSE_OBJECT = b"\n\r{}"


def line_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the text in blocks of complete lines; of a line that is too long only a part, for an error."""
    blocks, text = iter(blocks), b""
    while (block := gather(blocks, len(text))) or text:
        text += block
        end = text.rfind(b"\n") + 1 if block else len(text)
        # without this, a file without line ends would be collected as a whole
        if end == 0 and is_long(text):
            end = len(text)
        if end:
            yield text[:end]
            text = text[end:]


def object_starts(text: bytes) -> NDArray[np.int64] | None:
    """Return where lines that are not empty begin; None if some do not begin and end as an object does."""
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == LINE_FEED)
    ends = ends if text.endswith(b"\n") else np.append(ends, len(text))
    starts = np.append(0, ends[:-1] + 1)
    is_filled = starts < ends
    starts, last = starts[is_filled], ends[is_filled] - 1
    last -= data[last] == CARRIAGE_RETURN
    are_objects = (data[starts] == OPEN_OBJECT).all() and (data[last] == CLOSE_OBJECT).all()
    return starts if are_objects else None


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
