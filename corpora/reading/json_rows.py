"""Rows of JSON lines: an object a line, read by the standard library line by line, so that a fault has a number."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from embeddings.corpora.reading.text_rows import LONGEST_ROW, Columns, Rows, from_cells, listed
from embeddings.corpora.reading.utf8 import Utf8, utf8
from embeddings.errors import CorpusError


class Number(str):
    """A number as it is written: JSON's have no limit, and are no text."""


# NaN and the like pass too; they are nothing that is asked for
DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number)


def json_rows(blocks: Iterable[bytes], name: str, columns: Columns, decoder: Utf8) -> Iterator[Rows]:
    """The rows of a file that comes in blocks of valid UTF-8; blank lines are none.

    A column is the name of a field, or a dotted path of names to one within others. Every row must have it; null is
    an empty text. Where none is named the first row's only field of strings is taken.

    Raises:
        CorpusError: a line is broken, nested too deep or no object, or a field is missing or no string; it is told
        with the number of the line.
    """
    number, text, tag = 0, None, None
    for lines in whole_lines(blocks, name):
        cells: list[bytes] = []
        tags: list[str | None] = []
        for line in lines:
            number += 1
            if not line or line.isspace():
                continue
            row, where = parsed(line, name, number), f"{name}, line {number}"
            if text is None:
                text, tag = choose(columns, row, name)
            value = cell(row, text, where)
            if value is not None and type(value) is not str:
                raise CorpusError(f"{where}: {text!r} is {kind(value)}, not a string")
            cells.append(utf8(value or "", decoder))
            if tag is not None:
                tags.append(tag_of(cell(row, tag, where), tag, where, decoder))
        yield from_cells(cells, tags if tag is not None else None)


def whole_lines(blocks: Iterable[bytes], name: str) -> Iterator[list[str]]:
    """The lines that end in each block, without their ends; then what stands after the last.

    Raises:
        CorpusError: one is too long.
    """
    rest: list[str] = []
    number = length = 0
    for block in blocks:
        first, *others = block.decode().split("\n")
        rest.append(first)
        length += len(first)
        if length > LONGEST_ROW:
            raise CorpusError(f"{name}, line {number + 1}: longer than {LONGEST_ROW} characters")
        if others:
            *lines, last = others
            yield ["".join(rest), *lines]
            rest, length, number = [last], len(last), number + len(others)
    yield ["".join(rest)]


def parsed(line: str, name: str, number: int) -> dict[str, Any]:
    """The object of a line.

    Raises:
        CorpusError: it is broken, nested too deep, or something else.
    """
    try:
        value = DECODER.decode(line.lstrip())
    except RecursionError:
        raise CorpusError(f"{name}, line {number}: JSON nested too deep") from None
    except ValueError as error:
        reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise CorpusError(f"{name}, line {number}: broken JSON: {reason}") from None
    if type(value) is not dict:
        raise CorpusError(f"{name}, line {number}: {kind(value)}, not an object")
    return value


def choose(columns: Columns, row: dict[str, Any], name: str) -> tuple[str, str | None]:
    """The columns of texts and of tags, by the first row."""
    if columns.text is not None:
        return columns.text, columns.tag
    return columns.choose(name, [field for field, value in row.items() if type(value) is str], list(row)), columns.tag


def cell(row: dict[str, Any], path: str, where: str) -> Any:
    """The value of a field, by its name or else by a dotted path.

    Raises:
        CorpusError: there is none.
    """
    if path in row:
        return row[path]
    value: Any = row
    for part in path.split("."):
        if value is None:
            return None
        if type(value) is not dict or part not in value:
            raise CorpusError(f"{where}: no field {path!r}; there are: {listed(list(row))}")
        value = value[part]
    return value


def tag_of(value: Any, tag: str, where: str, decoder: Utf8) -> str | None:
    """A tag: a string, or a whole number as it is written.

    Raises:
        CorpusError: it is something else.
    """
    if value is not None and not isinstance(value, str):
        raise CorpusError(f"{where}: the tag {tag!r} is {kind(value)}, not a string")
    return None if value is None else utf8(value, decoder).decode()


def kind(value: Any) -> str:
    """What a JSON value is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Number):
        return f"a number ({value[:20]})"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return "a string"
