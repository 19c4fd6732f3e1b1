"""Blocks of text, in which all sources are read, and the columns of tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
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
    """A part of the text of one source, in UTF-8: bytes of a file, or whole rows of a table or items of an iterable.

    Arguments:
        data: the texts one after another; complete code points.
        parts: the ends, in bytes, of the files, rows or items in it; of the lines in a block of `text_batches`.
        items: each part is one document; else blank lines separate documents.
        is_complete: the last part ends with the block; else it continues in the next one.
        tags: those of each row; None without tag columns.
        columns: the kept columns of the rows, a pyarrow table; None if none are kept.
        lists: rows whose text is a list of tokens, which are in place of `data` and `parts`.
    """

    data: bytes
    parts: Sequence[int] | NDArray[np.int64]
    items: bool = True
    is_complete: bool = True
    tags: Tags | None = None
    columns: Any = None
    lists: Sequence[Sequence[bytes]] | None = None

    def __len__(self) -> int:
        return len(self.parts if self.lists is None else self.lists)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each part begins, and where the last one ends, (parts + 1,)."""
        return np.append(0, np.asarray(self.parts, np.int64))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The bytes of each part (parts,)."""
        if self.lists is None:
            return np.diff(self.starts)
        return np.array([sum(map(len, tokens)) for tokens in self.lists], np.int64)

    def slice(self, start: int, stop: int) -> "TextBlock":
        """Return the rows from `start` to `stop`, with their tags and columns."""
        if start == 0 and stop >= len(self):
            return self
        tags = None if self.tags is None else self.tags[start:stop]
        columns = None if self.columns is None else self.columns.slice(start, stop - start)
        if self.lists is not None:
            return replace(self, tags=tags, columns=columns, lists=self.lists[start:stop])
        starts = self.starts[start : stop + 1]
        data = self.data[starts[0] : starts[-1]]
        return replace(self, data=data, parts=starts[1:] - starts[0], tags=tags, columns=columns)

    def split(self, size: int) -> "Iterator[TextBlock]":
        """Yield the rows in blocks of at most `size` bytes, or of one longer row; lists of tokens as they are."""
        row, ends = 0, self.starts[1:]
        while row < len(ends):
            limit = size + (int(ends[row - 1]) if row else 0)
            stop = max(int(np.searchsorted(ends, limit, side="right")), row + 1)
            yield self.slice(row, stop)
            row = stop
        if self.lists is not None:
            yield self

    def select(self, is_kept: NDArray[np.bool_]) -> "TextBlock":
        """Return some of the rows, with their tags and columns; `is_kept` is (rows,)."""
        tags = None if self.tags is None else list(compress(self.tags, is_kept))
        columns = None if self.columns is None else self.columns.take(np.flatnonzero(is_kept).tolist())
        if self.lists is not None:
            return replace(self, tags=tags, columns=columns, lists=list(compress(self.lists, is_kept)))
        data = np.frombuffer(self.data, np.uint8)[np.repeat(is_kept, self.sizes)].tobytes()
        return replace(self, data=data, parts=np.cumsum(self.sizes[is_kept]), tags=tags, columns=columns)


FILE_END = TextBlock(b"", (0,), items=False)


def file_part(data: bytes) -> TextBlock:
    """Return a part of a file of plain text that continues."""
    return TextBlock(data, (len(data),), items=False, is_complete=False)


def token_block(lists: Sequence[Sequence[bytes]], tags: Tags | None = None, columns: Any = None) -> TextBlock:
    """Return rows whose texts are lists of tokens."""
    return TextBlock(b"", (), tags=tags, columns=columns, lists=lists)


def text_batches(blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks of one source with whole rows or lines, of which each is a part.

    A line of plain text includes its line feed; after the last line feed, there is a line only if it is not empty.
    """
    pieces: list[bytes] = []  # of a line that continues in the next block
    for block in blocks:
        if block.items:
            yield block
            continue
        pieces.append(block.data)
        data = np.frombuffer(block.data, np.uint8)
        before = sum(map(len, pieces[:-1]))
        ends = np.flatnonzero(data == ord("\n")) + 1 + before
        if block.is_complete and before + len(data) > (ends[-1] if len(ends) else 0):
            ends = np.append(ends, before + len(data))
        if len(ends):
            text = b"".join(pieces)
            yield TextBlock(text[: ends[-1]], ends, items=False)
            pieces = [text[ends[-1] :]]


def tag_list(tag: Tag) -> list[str]:
    """Return the tags of a row; null is none."""
    return tag if isinstance(tag, list) else [] if tag is None else [tag]


def merge_tags(tags: Sequence[Tag]) -> Tag:
    """Return the tags of a row, given those of each of its tag columns."""
    return tags[0] if len(tags) == 1 else [one for tag in tags for one in tag_list(tag)]


@dataclass
class ColumnSelection:
    """The requested columns: of the text, and of the tags, which are those of all these columns.

    kept: further columns to read, as `TextBlock.columns`; None for all. By default none.
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


def split_text(data: bytes, size: int) -> Iterator[TextBlock]:
    """Yield one item of valid UTF-8 in blocks of about `size` bytes, then its end."""
    start = 0
    while start < len(data):
        stop = min(start + size, len(data))
        while stop < len(data) and data[stop] & 0xC0 == 0x80:  # within a code point
            stop += 1
        yield TextBlock(data[start:stop], (stop - start,), is_complete=False)
        start = stop
    yield TextBlock(b"", (0,))


def merge_parts(parts: Iterable[TextBlock], size: int) -> Iterator[TextBlock]:
    """Yield the same rows in fewer parts, of `size` bytes or more each; rows of tokens as they are."""
    buffer: list[TextBlock] = []
    length = 0
    for rows in parts:
        if rows.lists is not None:
            yield rows
            continue
        buffer.append(rows)
        length += len(rows.data)
        if length >= size:
            yield concatenate_rows(buffer)
            buffer, length = [], 0
    if buffer:
        yield concatenate_rows(buffer)


def concatenate_rows(parts: list[TextBlock]) -> TextBlock:
    """Concatenate parts."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(rows.data) for rows in parts[:-1])])
    ends = np.concatenate([np.asarray(rows.parts) + start for rows, start in zip(parts, starts, strict=True)])
    tags = None if parts[0].tags is None else [tag for rows in parts for tag in rows.tags or ()]
    columns = None
    if parts[0].columns is not None:
        import pyarrow

        columns = pyarrow.concat_tables([rows.columns for rows in parts])
    return TextBlock(b"".join(rows.data for rows in parts), ends, tags=tags, columns=columns)


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


def rows_from_cells(cells: Sequence[bytes], tags: Tags | None = None, columns: Any = None) -> TextBlock:
    """Build rows from their texts."""
    ends = np.cumsum(np.fromiter(map(len, cells), np.int64, len(cells)))
    return TextBlock(b"".join(cells), ends, tags=tags, columns=columns)
