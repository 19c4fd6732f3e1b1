"""Tables: rows in batches, one Arrow array a column in the type of its role, whatever the source is."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from embeddings.corpora.reading.columns import Kind, Role, check_column_exists, is_null
from embeddings.corpora.reading.encodings import Utf8Decoder, encode_utf8
from embeddings.corpora.reading.tag_arrays import list_array, list_sizes
from embeddings.errors import CorpusError
from embeddings.printable import describe
from embeddings.support.arrow import pa, pc, to_arrow, to_nullable_array, to_string_array

Position = Callable[[int], str]  # where a row of a batch stands, for messages


@dataclass(frozen=True)
class Batch:
    """Rows of a table, an Arrow array for each column; texts and tags are large strings or large lists of them."""

    arrays: list[Any]
    position: Position


class Table(ABC):
    """An open table, which can be read once.

    Attributes:
        has_names: else columns have their numbers, "1", "2" and so on, as names.
        is_text: all cells are valid UTF-8, numbers are spelled.
        name: for messages.
        decoder: handles strings that are not UTF-8.
        kinds: the names and kinds of all columns.
        spelled_numbers: columns of strings that hold numbers.
    """

    has_names = True
    is_text = False
    name: str
    decoder: Utf8Decoder
    kinds: list[tuple[str, Kind]]
    spelled_numbers: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return [name for name, _ in self.kinds]

    def of_kind(self, kind: Kind) -> list[str]:
        """Return the names of the columns of a kind."""
        return [name for name, one in self.kinds if one is kind]

    @property
    def text_columns(self) -> list[str]:
        """The names of the columns of strings that do not spell numbers."""
        return [name for name in self.of_kind(Kind.STRING) if name not in self.spelled_numbers]

    @property
    def number_columns(self) -> list[str]:
        """The names of the columns of numbers."""
        return [name for name, kind in self.kinds if kind is Kind.NUMBER or name in self.spelled_numbers]

    def read(self, roles: Sequence[tuple[str, Role]]) -> Iterator[Batch]:
        """Yield all rows; raises CorpusError for a column that is missing, or cells that cannot have its role."""
        for name, _ in roles:
            self.check_column(name)
        is_tokens: dict[str, bool] = {}  # whether texts are lists of tokens
        for batch in self.batches(roles):
            for (name, role), array in zip(roles, batch.arrays, strict=True):
                if role is Role.TEXT and array.null_count < len(array):
                    kind = pa.types.is_large_list(array.type)
                    if is_tokens.setdefault(name, kind) != kind:
                        row = array.is_valid().index(True).as_py()
                        raise CorpusError(f"{batch.position(row)}: the text {name!r} must be {Role.TEXT.value}")
            yield batch

    def check_column(self, name: str) -> None:
        """Refuse a column that the table does not have once."""
        check_column_exists(self.name, name, self.columns)

    @abstractmethod
    def batches(self, roles: Sequence[tuple[str, Role]]) -> Iterator[Batch]:
        """Yield all rows, of columns that exist; texts are strings or lists of tokens in a whole batch."""


# ------------------------------------------------------------------------------------------------ of Arrow arrays


def plain_type(kind: Any) -> Any:
    """Return the type of the values of an Arrow type that encodes them: a dictionary, runs, or an extension."""
    while True:
        if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        elif isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        else:
            return kind


def is_string_type(kind: Any) -> bool:
    """Whether an Arrow type is a type of strings, encoded or not."""
    kind = plain_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list_type(kind: Any) -> bool:
    """Whether an Arrow type is a type of lists."""
    types = pa.types
    checks = (
        types.is_list,
        types.is_large_list,
        types.is_fixed_size_list,
        types.is_list_view,
        types.is_large_list_view,
    )
    return any(check(kind) for check in checks)


def is_number_type(kind: Any) -> bool:
    """Whether an Arrow type is a type of numbers; truth values count as numbers."""
    types = pa.types
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(plain_type(kind)) for check in checks)


def plain(array: Any) -> Any:
    """Return an array whose values stand row by row: without dictionary, runs, extensions or views."""
    kind, types = array.type, pa.types
    if types.is_dictionary(kind):
        return plain(array.dictionary).take(array.indices)
    if types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(array))
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return array.cast(pa.large_string() if types.is_string_view(kind) else pa.large_binary())
    is_view = types.is_list_view(kind) or types.is_large_list_view(kind)
    if is_view or (is_list_type(kind) and plain_type(kind.value_type) != kind.value_type):
        return list_array(plain(array.flatten()), list_sizes(array), array.is_null())
    return array


def cast(array: Any, role: Role) -> Any:
    """Return a plain array in the type of a role; None if Arrow refuses some value, or would convert other types."""
    kind, types = array.type, pa.types
    try:
        if role is Role.NUMBER:
            return array.cast(pa.float64())
        if role in (Role.ANY, Role.VECTOR):
            return array
        if is_list_type(kind) and not is_list_type(kind.value_type):
            values = cast(array.flatten(), role)
            return None if values is None else list_array(values, list_sizes(array), array.is_null())
        if role is Role.TAG and types.is_floating(kind):  # of integers and nulls, in pandas
            array = array.cast(pa.int64())
        is_tag = role is Role.TAG and (types.is_integer(kind) or types.is_floating(kind))
        return array.cast(pa.large_string()) if is_tag or is_string_type(kind) or types.is_null(kind) else None
    except (pa.ArrowException, TypeError):
        return None


def as_binary(array: Any) -> Any:
    """Return strings, or lists of them, as bytes, which need not be UTF-8; other arrays as they are."""
    if is_list_type(array.type) and is_string_type(array.type.value_type):
        return array.cast(pa.large_list(pa.large_binary()))
    return array.cast(pa.large_binary()) if is_string_type(array.type) else array


# ----------------------------------------------------------------------------------------------- of Python values


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


def describe_cell(value: object) -> str:
    """Format a value for a message."""
    return f"the number {value:.20}" if isinstance(value, JsonNumber) else f"a value {describe(value)}"


NAMES = {role: f"the {role.name.lower()}" for role in Role} | {Role.NUMBER: "the value in column"}


@dataclass(frozen=True)
class Cells:
    """The values of a column of a role, one after another, for messages that name row and column.

    has_bytes: bytes are strings that are not UTF-8.
    """

    column: str
    role: Role
    position: Position
    decoder: Utf8Decoder
    has_bytes: bool = False

    def array(self, values: list[Any]) -> Any:
        """Return values as an Arrow array; raises CorpusError for the first one that cannot have the role."""
        if self.role is Role.NUMBER:
            return pa.array([self.number(value, row) for row, value in enumerate(values)], pa.float64())
        if self.role is Role.VECTOR:
            return self.vectors(values)
        is_text = set(map(type, values)) <= {str, type(None), *([] if self.role is Role.TEXT else [JsonNumber])}
        with suppress(UnicodeEncodeError):  # a lone surrogate
            if is_text:
                return to_nullable_array(values)
            if self.role is Role.TEXT and set(map(type, values)) <= {list, tuple}:
                items = [*chain.from_iterable(values)]
                if set(map(type, items)) <= {str}:
                    return list_array(to_string_array(items), np.fromiter(map(len, values), np.int64, len(values)))
        cells = [self.cell(value, row) for row, value in enumerate(values)]
        is_list = [isinstance(cell, list) for cell in cells if cell is not None]
        if not any(is_list):
            return to_nullable_array(cells)
        if self.role is Role.TEXT and not all(is_list):
            row = next(row for row, cell in enumerate(cells) if isinstance(cell, list | None) is not is_list[0])
            raise self.error(values[row], row)
        lists = [cell if isinstance(cell, list) else [] if cell is None else [cell] for cell in cells]
        flat = to_nullable_array([*chain.from_iterable(lists)])
        is_null = to_arrow(np.array([cell is None for cell in cells], np.bool_))
        return list_array(flat, np.fromiter(map(len, lists), np.int64, len(lists)), is_null)

    def vectors(self, values: list[Any]) -> Any:
        """Return lists of numbers, or what is to be checked for them."""
        try:
            return pa.array(list(map(as_python, values)))
        except (TypeError, ValueError, OverflowError):
            problem = f"a vector in column {self.column!r} is not a list of numbers"
            raise CorpusError(f"{self.position(0)}, or one of {len(values)} rows from there on: {problem}") from None

    def cell(self, value: Any, row: int) -> Any:
        """Return a text or a tag, or a list of tokens or tags; None for null."""
        if hasattr(value, "tolist") and not isinstance(value, str):  # of numpy
            value = value.tolist()
        if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | Set):
            return [self.item(item, row, is_token=self.role is Role.TEXT) for item in value]
        return self.item(value, row)

    def item(self, value: Any, row: int, *, is_token: bool = False) -> str | None:
        """Return a text, token or tag; None for null."""
        if is_null(value) and not is_token:
            return None
        if isinstance(value, bytes) and self.has_bytes:
            part = Utf8Decoder(self.decoder.policy, self.position(row))
            text = part.clean(value, final=True).decode()
            self.decoder.add_errors_of(part)
            return text
        is_whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
        if self.role is Role.TAG and is_whole and not isinstance(value, bool):
            return str(int(value))
        if isinstance(value, str) and not (self.role is Role.TEXT and isinstance(value, JsonNumber)):
            return encode_utf8(value, self.decoder, self.position(row)).decode()
        raise self.error(value, row, is_token=is_token)

    def number(self, value: Any, row: int) -> float | None:
        """Return a number."""
        try:
            return None if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            raise self.error(value, row) from None

    def error(self, value: object, row: int, *, is_token: bool = False) -> CorpusError:
        """Return the error of a value that cannot have the role."""
        what, must = ("a token of", "a string") if is_token else (NAMES[self.role], self.role.value)
        return CorpusError(f"{self.position(row)}: {what} {self.column!r} must be {must}, got {describe_cell(value)}")
