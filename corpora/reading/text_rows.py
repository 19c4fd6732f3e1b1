"""Rows of tables, each a document, and their conversion to blocks of text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError, S, SettingError

Tag = str | list[str] | None  # a list: of several tags of one row
Tags = Sequence[Tag]
TEXT_COLUMN = "text"  # unless another column is requested
MAX_ROW = 1 << 24  # characters of a row of CSV or JSON lines, which takes up to ten times as many bytes of memory


@dataclass(frozen=True)
class TextBlock:
    """Complete code points of UTF-8 text."""

    data: bytes
    parts: Sequence[int] | NDArray[np.int64]  # the ends, in bytes, of the files or items in it
    items: bool  # each part is one document; else blank lines separate documents
    is_complete: bool  # the last part ends with the block; else it continues in the next one


@dataclass(frozen=True)
class Rows:
    """Rows of a table: their concatenated texts, where each ends (rows,), their tags, and the columns to keep.

    columns: a pyarrow table (rows,); None if no columns are kept.
    """

    data: bytes
    ends: NDArray[np.int64]
    tags: Tags | None
    columns: Any = None

    def __len__(self) -> int:
        return len(self.ends)

    def first(self, count: int) -> "Rows":
        """Return the first `count` rows."""
        ends = self.ends[:count]
        columns = None if self.columns is None else self.columns.slice(0, count)
        return Rows(self.data[: ends[-1] if len(ends) else 0], ends, self.tags and self.tags[:count], columns)

    def take(self, numbers: Iterable[int], tags: Tags | None) -> "Rows":
        """Return the rows with these numbers, with these tags."""
        ends = [0, *self.ends.tolist()]
        numbers = list(numbers)
        columns = None if self.columns is None else self.columns.take(numbers)
        return rows_from_cells([self.data[ends[row] : ends[row + 1]] for row in numbers], tags, columns)


@dataclass(frozen=True)
class TokenRows:
    """Rows of a table whose text is a list of tokens, in UTF-8, their tags, and the columns to keep as in `Rows`."""

    lists: Sequence[Sequence[bytes]]
    tags: Tags | None
    columns: Any = None

    def __len__(self) -> int:
        return len(self.lists)

    def first(self, count: int) -> "TokenRows":
        """Return the first `count` rows."""
        columns = None if self.columns is None else self.columns.slice(0, count)
        return TokenRows(self.lists[:count], self.tags and self.tags[:count], columns)

    def take(self, numbers: Iterable[int], tags: Tags | None) -> "TokenRows":
        """Return the rows with these numbers, with these tags."""
        numbers = list(numbers)
        columns = None if self.columns is None else self.columns.take(numbers)
        return TokenRows([self.lists[row] for row in numbers], tags, columns)


AnyRows = Rows | TokenRows


def tag_list(tag: Tag) -> list[str]:
    """Return the tags of a row; null is none."""
    return tag if isinstance(tag, list) else [] if tag is None else [tag]


def merge_tags(tags: Sequence[Tag]) -> Tag:
    """Return the tags of a row, given those of each of its tag columns."""
    return tags[0] if len(tags) == 1 else [one for tag in tags for one in tag_list(tag)]


@dataclass
class ColumnSelection:
    """The requested columns: of the text, and of the tags, which are those of all these columns.

    kept: further columns to read, as `Rows.columns`; None for all. By default none.
    """

    text: str | None = None
    tags: Sequence[str] = ()
    kept: Sequence[str] | None = ()
    inferred_columns: dict[str, str] = field(default_factory=dict)  # by file, if no text column was requested

    def text_column(self, file: str, candidates: Sequence[str], names: Sequence[str]) -> str:
        """Return the text column of a file with these columns, of which `candidates` hold strings.

        By default it is `text`, or the only column of strings.
        """
        if self.text is not None:
            check_column_exists(file, self.text, names)
            return self.text
        if TEXT_COLUMN in candidates and names.count(TEXT_COLUMN) == 1 and TEXT_COLUMN not in self.tags:
            candidates = [TEXT_COLUMN]
        if len(candidates) == 1:
            self.inferred_columns[file] = candidates[0]
            return candidates[0]
        if not candidates:
            raise CorpusError(f"{file} has no column of strings; its columns: {format_names(names)}")
        raise CorpusError(
            f"{file} has several text columns; select one with {S.text_column}: {format_names(candidates)}"
        )

    @property
    def keeps_columns(self) -> bool:
        """Whether columns are kept."""
        return self.kept is None or len(self.kept) > 0

    def kept_columns(self, file: str, names: Sequence[str]) -> list[str]:
        """Return the names of the columns to keep; raises CorpusError if the file does not have one exactly once."""
        kept = list(names if self.kept is None else self.kept)
        for column in kept:
            check_column_exists(file, column, names)
        return kept

    def tag_columns(self, file: str, names: Sequence[str]) -> Sequence[str]:
        """Return the requested tag columns; raises CorpusError if the file does not have one."""
        for tag in self.tags:
            check_column_exists(file, tag, names)
        return self.tags


def check_column(name: str, column: str | None) -> str | None:
    """Return the name of a column; raises SettingError if it is empty or not a string."""
    if column is not None and (not isinstance(column, str) or not column):
        raise SettingError(f"{S[name + '_column']} must be the name of a column, got {column!r}")
    return column


def check_tag_columns(columns: str | Sequence[str] | None) -> str | list[str] | None:
    """Return the name of a column, or the distinct names of several; None for no column."""
    names = column_names(columns)
    for name in names:
        if check_column("tag", name) is None:
            raise SettingError(f"{S.tag_column} must be the name of a column or names of several, got {columns!r}")
    distinct = list(dict.fromkeys(names))
    return distinct if len(distinct) > 1 else next(iter(distinct), None)


def column_names(columns: str | Sequence[str] | None) -> Sequence[str]:
    """Return the names of no column, of one or of several as a sequence."""
    return columns if isinstance(columns, list | tuple) else [] if columns is None else [cast(str, columns)]


def check_column_exists(file: str, column: str, names: Sequence[str]) -> None:
    """Refuse a column that is missing or ambiguous."""
    if names.count(column) > 1:
        raise CorpusError(f"{file} has {names.count(column)} columns called {column!r}")
    if column not in names:
        raise CorpusError(f"{file} has no column {column!r}; its columns: {format_names(names)}")


def format_names(names: Sequence[str], limit: int = 20) -> str:
    """Format names for a message."""
    text = ", ".join(repr(name)[1:-1] for name in names[:limit])
    return f"{text} and {len(names) - limit} more" if len(names) > limit else text or "none"


def is_null(value: object) -> bool:
    """Whether a value of a column stands for a missing one: None, NaN, or NA of pandas; as a text it is empty."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def describe(value: object) -> str:
    """Format a value and its type for a message, cut to a line."""
    text = repr(value)
    return f"of type {type(value).__name__} ({text if len(text) <= 40 else text[:37] + '...'})"


def text_blocks(rows: Rows, size: int) -> Iterator[TextBlock]:
    """Yield rows as blocks of about `size` bytes; a longer row takes several."""
    row, start = 0, 0
    while row < len(rows):
        stop = int(np.searchsorted(rows.ends, start + size, side="right"))
        if stop > row:
            end = int(rows.ends[stop - 1])
            yield TextBlock(rows.data[start:end], rows.ends[row:stop] - start, items=True, is_complete=True)
            row, start = stop, end
        else:
            end = int(rows.ends[row])
            yield from split_text(rows.data[start:end], size)
            row, start = row + 1, end


def split_text(data: bytes, size: int) -> Iterator[TextBlock]:
    """Yield one item of valid UTF-8 in blocks of about `size` bytes, then its end."""
    start = 0
    while start < len(data):
        stop = min(start + size, len(data))
        while stop < len(data) and data[stop] & 0xC0 == 0x80:  # within a code point
            stop += 1
        yield TextBlock(data[start:stop], (stop - start,), items=True, is_complete=False)
        start = stop
    yield TextBlock(b"", (0,), items=True, is_complete=True)


def merge_parts(parts: Iterable[AnyRows], size: int) -> Iterator[AnyRows]:
    """Yield the same rows in fewer parts, of `size` bytes or more each; rows of tokens as they are."""
    buffer: list[Rows] = []
    length = 0
    for rows in parts:
        if isinstance(rows, TokenRows):
            yield rows
            continue
        buffer.append(rows)
        length += len(rows.data)
        if length >= size:
            yield concatenate_rows(buffer)
            buffer, length = [], 0
    if buffer:
        yield concatenate_rows(buffer)


def concatenate_rows(parts: list[Rows]) -> Rows:
    """Concatenate parts."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(rows.data) for rows in parts[:-1])])
    ends = np.concatenate([rows.ends + start for rows, start in zip(parts, starts, strict=True)])
    tags = None if parts[0].tags is None else [tag for rows in parts for tag in rows.tags or ()]
    columns = None
    if parts[0].columns is not None:
        import pyarrow

        columns = pyarrow.concat_tables([rows.columns for rows in parts])
    return Rows(b"".join(rows.data for rows in parts), ends, tags, columns)


def is_long(text: bytes) -> bool:
    """Whether text in UTF-8 is longer than a row may be."""
    return len(text) > MAX_ROW and len(text.decode()) > MAX_ROW


def gather(blocks: Iterator[bytes], size: int) -> bytes:
    """Return the next blocks together, `size` or 4 million bytes or more; one at least, fewer at the end."""
    pieces = [next(blocks, b"")]
    length = len(pieces[0])
    while length < min(size, MAX_ROW // 4) and (block := next(blocks, b"")):
        pieces.append(block)
        length += len(block)
    return b"".join(pieces)


def rows_from_cells(cells: Sequence[bytes], tags: Tags | None = None, columns: Any = None) -> Rows:
    """Build rows from their texts."""
    ends = np.cumsum(np.fromiter(map(len, cells), np.int64, len(cells)))
    return Rows(b"".join(cells), ends, tags, columns)
