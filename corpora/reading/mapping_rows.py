"""Rows that are Python mappings, such as those of `csv.DictReader` or of a frame's `to_dict("records")`."""

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any

from embeddings.corpora.reading.json_rows import cell, choose
from embeddings.corpora.reading.reader import kind
from embeddings.corpora.reading.text_rows import Columns, Rows, from_cells
from embeddings.corpora.reading.utf8 import Utf8, utf8
from embeddings.errors import CorpusError


def mapping_rows(items: Iterable[Any], name: str, columns: Columns, decoder: Utf8, size: int) -> Iterator[Rows]:
    """Mappings as rows, about `size` bytes of text at a time; columns are as those of JSON lines.

    Raises:
        CorpusError: an item is no mapping, lacks a column, or has no text there; it is told with its number.
    """
    text, tag = None, None
    cells: list[bytes] = []
    tags: list[str | None] = []
    length = 0
    for number, item in enumerate(items, 1):
        decoder.name, decoder.offset = f"item {number}", 0
        if not isinstance(item, Mapping):
            raise CorpusError(f"item {number} is {kind(item)}, but the first item is a mapping")
        row = dict(item)
        if text is None:
            text, tag = choose(columns, row, name)
        cells.append(utf8(text_of(cell(row, text, decoder.name), text, decoder.name), decoder))
        if tag is not None:
            tags.append(tag_of(cell(row, tag, decoder.name), tag, decoder))
        length += len(cells[-1]) + 1
        if length >= size:
            yield from_cells(cells, tags if tag is not None else None)
            cells, tags, length = [], [], 0
    if cells:
        yield from_cells(cells, tags if tag is not None else None)


def text_of(value: Any, column: str, where: str) -> str:
    """A text; None is an empty one.

    Raises:
        CorpusError: it is something else.
    """
    if value is not None and not isinstance(value, str):
        raise CorpusError(f"{where}: {column!r} is {kind(value)}, not a string")
    return value or ""


def tag_of(value: Any, column: str, decoder: Utf8) -> str | None:
    """A tag: a string, or a whole number as it is written.

    Raises:
        CorpusError: it is something else.
    """
    if type(value) is not bool and isinstance(value, Integral):  # numpy's too
        return str(int(value))
    if value is not None and not isinstance(value, str):
        raise CorpusError(f"{decoder.name}: the tag {column!r} is {kind(value)}, not a string")
    return None if value is None else utf8(value, decoder).decode()
