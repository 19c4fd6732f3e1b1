"""Rows of CSV and TSV (RFC 4180): a compiled pass over bytes that keeps two columns of them."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_rows import LONGEST_ROW, Columns, Rows
from embeddings.errors import CorpusError
from embeddings.kernels.jit import kernel, piece

NUMBER = re.compile(rb"\s*[-+]?[.,]?\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE)
LOOKED_AT = 100  # cells that decide whether a column is one of numbers
LONGEST_HEADER = 1 << 20  # bytes
FORMS = {",": "CSV", "\t": "TSV"}
NOBODY = -1

# state, an int64 array that lasts from block to block
(
    MODE,  # one of those below
    COLUMN,  # of the row so far
    COLUMNS,  # of every row; 0 while the first is not over
    LENGTH,  # bytes of the cell so far
    LAST,  # byte of the cell so far
    LINE,  # of the file that is being read
    ROW_LINE,  # that the row started with
    ROWS,  # that ended in the arrays; likewise, bytes in them:
    TEXT,
    TAG,
    FAULT,  # one of those below
) = range(11)
STATES = 11
START, PLAIN, QUOTED, CLOSED = range(4)
RAGGED, AFTER_QUOTE = 1, 2
QUOTE, NEWLINE, RETURN = 34, 10, 13


@piece
def keep(data: Any, start: int, stop: int, wanted: Any, out: Any, state: Any) -> None:
    """Put bytes of a cell behind those there are, if the cell is wanted."""
    if state[COLUMN] == wanted[0]:
        copy(data, start, stop, out[0], state[TEXT])
        state[TEXT] += stop - start
    if state[COLUMN] == wanted[1]:
        copy(data, start, stop, out[2], state[TAG])
        state[TAG] += stop - start


@piece
def copy(data: Any, start: int, stop: int, goal: Any, at: int) -> None:
    """Put bytes in `goal` at a place."""
    for k in range(stop - start):
        goal[at + k] = data[start + k]


@piece
def run(data: Any, start: int, one: int, other: int) -> int:
    """The place of the next of two bytes, or the end."""
    stop = start
    while stop < data.shape[0] and data[stop] != one and data[stop] != other:
        stop += 1
    return stop


@piece
def quoted(data: Any, start: int, wanted: Any, out: Any, state: Any) -> int:
    """Take in a quoted cell up to the next quote, which may end it; gives the place behind that."""
    stop = run(data, start, QUOTE, QUOTE)
    for k in range(start, stop):
        state[LINE] += data[k] == NEWLINE
    keep(data, start, stop, wanted, out, state)
    if stop < data.shape[0]:
        state[MODE] = CLOSED
        return stop + 1
    return stop


@piece
def plain(data: Any, start: int, delimiter: int, wanted: Any, out: Any, state: Any) -> int:
    """Take in what is left of a cell that is not quoted; gives its end."""
    stop = run(data, start, delimiter, NEWLINE)
    keep(data, start, stop, wanted, out, state)
    state[MODE] = PLAIN
    state[LENGTH] += stop - start
    state[LAST] = data[stop - 1]
    return stop


@piece
def end_row(mode: int, wanted: Any, out: Any, state: Any) -> bool:
    """End a row, without the return before its end; gives whether it was the first one, or ragged."""
    returned = mode == PLAIN and state[LAST] == RETURN
    empty = state[COLUMN] == 0 and mode != CLOSED and state[LENGTH] == returned
    if returned and state[COLUMN] == wanted[0]:
        state[TEXT] -= 1
    if returned and state[COLUMN] == wanted[1]:
        state[TAG] -= 1
    columns = state[COLUMN] + 1
    state[COLUMN] = state[MODE] = state[LENGTH] = 0
    if empty:
        state[ROW_LINE] = state[LINE]
        return False
    first = state[COLUMNS] == 0
    if first:
        state[COLUMNS] = columns
    elif columns != state[COLUMNS]:
        state[FAULT], state[COLUMN] = RAGGED, columns
        return True
    else:
        out[1][state[ROWS]] = state[TEXT]
        out[3][state[ROWS]] = state[TAG]
        state[ROWS] += 1
    state[ROW_LINE] = state[LINE]
    return first  # type: ignore[no-any-return]


@kernel
def split(data: Any, delimiter: int, wanted: Any, out: Any, state: Any) -> int:
    """Read on through `data`; gives how many bytes were read, fewer than there are after the first row or a fault.

    wanted: the numbers of the columns of texts and tags. Changes in place: `out` (bytes of texts, where each ends,
    bytes of tags, where each ends) and `state`. An empty line is no row.
    """
    i = 0
    while i < data.shape[0]:
        byte, mode = data[i], state[MODE]
        if mode == QUOTED:
            i = quoted(data, i, wanted, out, state)
            continue
        if (mode in (START, PLAIN) and byte not in (QUOTE, NEWLINE, delimiter)) or (mode == PLAIN and byte == QUOTE):
            i = plain(data, i, delimiter, wanted, out, state)
            continue
        i += 1
        if byte == QUOTE:
            if mode == CLOSED:
                keep(data, i - 1, i, wanted, out, state)
            state[MODE] = QUOTED
        elif byte == delimiter:
            state[COLUMN] += 1
            state[MODE] = state[LENGTH] = START
        elif byte == NEWLINE:
            state[LINE] += 1
            if end_row(mode, wanted, out, state):
                return i
        elif byte != RETURN:
            state[FAULT] = AFTER_QUOTE
            return i
    return i


class Table:
    """A CSV file as it is read: the state of the pass, and the rows it has kept."""

    def __init__(self, name: str, delimiter: str) -> None:
        self.name = name
        self.delimiter = delimiter
        self.state: NDArray[np.int64] = np.zeros(STATES, np.int64)
        self.state[[LINE, ROW_LINE]] = 1
        self.wanted = (NOBODY, NOBODY)
        self.out = (np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.uint8), np.empty(0, np.int64))
        self.numbers = self.cells = 0

    def read(self, data: bytes) -> int:
        """Read on through these bytes; gives how many were read: all, or those of the first row.

        Raises:
            CorpusError: a row has another number of cells than the first, or text follows a closing quote.
        """
        self.reserve(len(data))
        array = np.frombuffer(data, np.uint8)
        used = split(array, ord(self.delimiter), self.wanted, self.out, self.state)
        state = self.state
        if state[FAULT] == RAGGED:
            raise self.fault(f"{state[COLUMN]} cells in the row, {state[COLUMNS]} in the first")
        if state[FAULT] == AFTER_QUOTE:
            raise self.fault('text after the closing quote of a cell; a quote within is written ""', state[LINE])
        if state[TEXT] - (self.out[1][state[ROWS] - 1] if state[ROWS] else 0) > LONGEST_ROW:
            raise self.fault(f"the row that starts here is longer than {LONGEST_ROW} bytes; is a quote never closed?")
        return used

    def fault(self, what: str, line: int | None = None) -> CorpusError:
        """The error for a row, or for the line of it that is given."""
        return CorpusError(f"{self.name}, line {self.state[ROW_LINE] if line is None else line}: {what}")

    def reserve(self, size: int) -> None:
        """Make room for so many more bytes of text."""
        texts, text_ends, tags, tag_ends = self.out
        state = self.state
        self.out = (
            grown(texts, state[TEXT], size if self.wanted[0] != NOBODY else 0),
            grown(text_ends, state[ROWS], size),
            grown(tags, state[TAG], size if self.wanted[1] != NOBODY else 0),
            grown(tag_ends, state[ROWS], size),
        )

    def rows(self) -> Rows:
        """The rows that ended since the last call.

        Raises:
            CorpusError: the first cells of the column are all numbers.
        """
        texts, text_ends, tags, tag_ends = self.out
        count = int(self.state[ROWS])
        ends, last = text_ends[:count].copy(), int(text_ends[count - 1]) if count else 0
        data = texts[:last].tobytes()
        self.look(data, ends)
        found = None
        if self.wanted[1] != NOBODY:
            end = int(tag_ends[count - 1]) if count else 0
            found = cut(tags[:end].tobytes(), tag_ends[:count])
            tags[: self.state[TAG] - end] = tags[end : self.state[TAG]].copy()
            self.state[TAG] -= end
        texts[: self.state[TEXT] - last] = texts[last : self.state[TEXT]].copy()
        self.state[TEXT] -= last
        self.state[ROWS] = 0
        return Rows(data, ends, found)

    def look(self, data: bytes, ends: NDArray[np.int64]) -> None:
        """Count which of the first cells that are not empty are numbers."""
        at = 0
        while self.cells < LOOKED_AT and at < len(ends):
            cell = data[int(ends[at - 1]) if at else 0 : int(ends[at])]
            self.cells += bool(cell)
            self.numbers += bool(NUMBER.fullmatch(cell))
            at += 1
        if self.cells == LOOKED_AT:
            self.check_numbers()

    def check_numbers(self) -> None:
        """Refuse a column of numbers."""
        if self.cells and self.cells == self.numbers:
            raise CorpusError(f"the column of texts in {self.name} holds numbers, not text")


def grown(array: Any, used: int, more: int) -> Any:
    """An array with the first `used` items of this one and room for `more`."""
    if used + more <= len(array):
        return array
    larger = np.empty(used + more, array.dtype)
    larger[:used] = array[:used]
    return larger


def cut(data: bytes, ends: NDArray[np.int64]) -> list[str | None]:
    """The strings that end so."""
    return [data[start:end].decode() for start, end in pairwise([0, *ends.tolist()])]


def csv_rows(blocks: Iterable[bytes], name: str, columns: Columns, delimiter: str) -> Iterator[Rows]:
    """The rows of a file that comes in blocks of valid UTF-8; its first row names the columns.

    Cells may be quoted by " and then hold delimiters and line ends, and quotes written twice. Where no column is
    named a table's only column is taken. Empty lines are no rows.

    Raises:
        CorpusError: a column is missing or one of numbers, a row has more or fewer cells than the first, or a quote is
        not closed; lines are told by number.
    """
    table, head = Table(name, delimiter), b""
    names: list[str] = []
    for data in chain(blocks, [b"\n"]):  # the last row may have no end of its own; a line more is no row
        if not names:
            head += data
            table = Table(name, delimiter)
            used = table.read(head)
            if len(head) - len(data) > LONGEST_HEADER:
                what = f"its first row is longer than {LONGEST_HEADER} bytes"
                raise CorpusError(f"{name} is no {FORMS[delimiter]}: {what}")
            if not table.state[COLUMNS]:
                continue
            names, data = header(head[:used], delimiter, name), head[used:]
            table.wanted = choose(columns, names, name)
        table.read(data)
        yield table.rows()
    if table.state[MODE] == QUOTED:
        raise table.fault("a quoted cell of the row that starts here is never closed")
    table.check_numbers()


def header(row: bytes, delimiter: str, name: str) -> list[str]:
    """The cells of the first row.

    Raises:
        CorpusError: it cannot be cut into cells.
    """
    try:
        return next(csv.reader([row.decode().strip("\r\n")], delimiter=delimiter))
    except csv.Error as error:
        raise CorpusError(f"{name}: the names of its columns, in the first row, cannot be read: {error}") from error


def choose(columns: Columns, names: list[str], name: str) -> tuple[int, int]:
    """The numbers of the columns of texts and of tags."""
    text, tag = columns.choose(name, names, names), columns.tags(name, names)
    return names.index(text), NOBODY if tag is None else names.index(tag)
