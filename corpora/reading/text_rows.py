"""Rows of tables, each a document: which column, and its cells as blocks of text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError

Tags = Sequence[str | None]
LONGEST_ROW = 1 << 28  # bytes of a row of CSV or JSON lines, which is held whole


@dataclass(frozen=True)
class Text:
    """Whole code points of UTF-8. `parts` are the ends, in bytes, of the files or items in it.

    items: each part is a document of its own, else blank lines part documents. closed: the last part ends
    here too; it goes on in the next block otherwise.
    """

    data: bytes
    parts: Sequence[int] | NDArray[np.int64]
    items: bool
    closed: bool


@dataclass(frozen=True)
class Rows:
    """Some rows of a table: their texts one after another, where each ends in them (rows,), and their tags."""

    data: bytes
    ends: NDArray[np.int64]
    tags: Tags | None

    def __len__(self) -> int:
        return len(self.ends)

    def first(self, count: int) -> "Rows":
        """The first so many of them."""
        ends = self.ends[:count]
        return Rows(self.data[: ends[-1] if len(ends) else 0], ends, self.tags and self.tags[:count])


@dataclass
class Columns:
    """The columns that are asked for; `taken` are those taken where none was named, by file."""

    text: str | None = None
    tag: str | None = None
    taken: dict[str, str] = field(default_factory=dict)

    def choose(self, name: str, strings: Sequence[str], every: Sequence[str]) -> str:
        """The column of texts of the file of this name, that has `every` column, of strings these.

        Raises:
            CorpusError: it does not have the one that is named; or none is, and there is not just one to take.
        """
        if self.text is not None:
            check_there(name, self.text, every)
            return self.text
        if len(strings) == 1:
            self.taken[name] = strings[0]
            return strings[0]
        if not strings:
            raise CorpusError(f"{name} has no column of strings; its columns: {listed(every)}")
        raise CorpusError(f"{name} has columns; choose one with --text-column: {listed(strings)}")

    def tags(self, name: str, every: Sequence[str]) -> str | None:
        """The column of tags, if one is asked for.

        Raises:
            CorpusError: the file has none of that name.
        """
        if self.tag is not None:
            check_there(name, self.tag, every)
        return self.tag


def check_there(name: str, column: str, every: Sequence[str]) -> None:
    """Refuse a column that is missing, or there twice."""
    if every.count(column) > 1:
        raise CorpusError(f"{name} has {every.count(column)} columns called {column!r}")
    if column not in every:
        raise CorpusError(f"{name} has no column {column!r}; its columns: {listed(every)}")


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names for a message, as many as fit a line."""
    shown = ", ".join(repr(name)[1:-1] for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown or "none"


def texts(rows: Rows, size: int) -> Iterator[Text]:
    """The rows as blocks of about `size` bytes; one that is longer takes several."""
    at, base = 0, 0
    while at < len(rows):
        stop = int(np.searchsorted(rows.ends, base + size, side="right"))
        if stop > at:
            end = int(rows.ends[stop - 1])
            yield Text(rows.data[base:end], rows.ends[at:stop] - base, items=True, closed=True)
            at, base = stop, end
        else:
            end = int(rows.ends[at])
            yield from one_text(rows.data[base:end], size)
            at, base = at + 1, end


def one_text(data: bytes, size: int) -> Iterator[Text]:
    """One item of valid UTF-8 in pieces of about `size` bytes, then its end."""
    start = 0
    while start < len(data):
        stop = min(start + size, len(data))
        while stop < len(data) and data[stop] & 0xC0 == 0x80:  # within a code point
            stop += 1
        yield Text(data[start:stop], (stop - start,), items=True, closed=False)
        start = stop
    yield Text(b"", (0,), items=True, closed=True)


def gathered(parts: Iterator[Rows], size: int) -> Iterator[Rows]:
    """The same rows in fewer and larger parts, of `size` bytes or more each."""
    waiting: list[Rows] = []
    length = 0
    for rows in parts:
        waiting.append(rows)
        length += len(rows.data)
        if length >= size:
            yield joined(waiting)
            waiting, length = [], 0
    if waiting:
        yield joined(waiting)


def joined(parts: list[Rows]) -> Rows:
    """Several parts as one."""
    if len(parts) == 1:
        return parts[0]
    bases = np.cumsum([0, *(len(rows.data) for rows in parts[:-1])])
    ends = np.concatenate([rows.ends + base for rows, base in zip(parts, bases, strict=True)])
    tags = None if parts[0].tags is None else [tag for rows in parts for tag in rows.tags or ()]
    return Rows(b"".join(rows.data for rows in parts), ends, tags)


def from_cells(cells: Sequence[bytes], tags: Tags | None) -> Rows:
    """Rows of these texts."""
    ends = np.cumsum(np.fromiter(map(len, cells), np.int64, len(cells)))
    return Rows(b"".join(cells), ends, tags)
