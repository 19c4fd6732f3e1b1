"""Rows of CSV and TSV (RFC 4180): a compiled pass over bytes that extracts the text and tag columns.

pyarrow's CSV reader does not report the line of a bad row, limits rows to its block size, and accepts unclosed quotes.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_rows import MAX_ROW, ColumnSelection, Rows
from embeddings.errors import CorpusError
from embeddings.kernels.jit import allocating_entry_point, inline

NUMBER = re.compile(rb"\s*[-+]?[.,]?\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE)
N_CHECKED = 100  # cells that decide whether a column holds numbers
MAX_HEADER = 1 << 20  # bytes
NAMES = {",": "CSV", "\t": "TSV"}
NO_COLUMN = -1

# indices of `state`, an int64 array that is kept from block to block
(
    MODE,  # one of those below
    COLUMN,  # in the current row
    N_COLUMNS,  # of every row; 0 until the first row is complete
    CELL_SIZE,  # bytes of the cell so far
    LAST_BYTE,  # of the cell so far
    LINE,  # current line of the file
    ROW_LINE,  # first line of the row
    N_ROWS,  # complete rows in the arrays
    TEXT_SIZE,  # bytes of text in the arrays
    TAG_SIZE,  # bytes of tags
    ERROR,  # one of those below
) = range(11)
STATE_SIZE = 11
CELL_START, UNQUOTED, QUOTED, QUOTE_CLOSED = range(4)
WRONG_CELL_COUNT, TEXT_AFTER_QUOTE = 1, 2
QUOTE, NEWLINE, RETURN = 34, 10, 13


@inline
def copy_cell(data: Any, start: int, stop: int, column_numbers: Any, out: Any, state: Any) -> None:
    """Append bytes of a cell to the texts or tags, if its column is selected."""
    if state[COLUMN] == column_numbers[0]:
        for k in range(stop - start):
            out[0][state[TEXT_SIZE] + k] = data[start + k]
        state[TEXT_SIZE] += stop - start
    if state[COLUMN] == column_numbers[1]:
        for k in range(stop - start):
            out[2][state[TAG_SIZE] + k] = data[start + k]
        state[TAG_SIZE] += stop - start


@inline
def find_either(data: Any, start: int, one: int, other: int) -> int:
    """Return the position of the next of two bytes, or the end."""
    stop = start
    while stop < data.shape[0] and data[stop] != one and data[stop] != other:
        stop += 1
    return stop


@inline
def read_quoted(data: Any, start: int, column_numbers: Any, out: Any, state: Any) -> int:
    """Read a quoted cell up to the next quote, which may close it; returns the position behind that."""
    stop = find_either(data, start, QUOTE, QUOTE)
    for k in range(start, stop):
        state[LINE] += data[k] == NEWLINE
    copy_cell(data, start, stop, column_numbers, out, state)
    if stop < data.shape[0]:
        state[MODE] = QUOTE_CLOSED
        return stop + 1
    return stop


@inline
def read_unquoted(data: Any, start: int, delimiter: int, column_numbers: Any, out: Any, state: Any) -> int:
    """Read the rest of an unquoted cell; returns its end."""
    stop = find_either(data, start, delimiter, NEWLINE)
    copy_cell(data, start, stop, column_numbers, out, state)
    state[MODE] = UNQUOTED
    state[CELL_SIZE] += stop - start
    state[LAST_BYTE] = data[stop - 1]
    return stop


@inline
def end_row(mode: int, column_numbers: Any, out: Any, state: Any) -> bool:
    """End a row, without a carriage return at its end; returns whether it is the first, or has an error."""
    has_return = mode == UNQUOTED and state[LAST_BYTE] == RETURN
    is_empty = state[COLUMN] == 0 and mode != QUOTE_CLOSED and state[CELL_SIZE] == has_return
    if has_return and state[COLUMN] == column_numbers[0]:
        state[TEXT_SIZE] -= 1
    if has_return and state[COLUMN] == column_numbers[1]:
        state[TAG_SIZE] -= 1
    n_columns = state[COLUMN] + 1
    state[COLUMN] = state[MODE] = state[CELL_SIZE] = 0
    is_first = state[N_COLUMNS] == 0 and not is_empty
    if is_first:
        state[N_COLUMNS] = n_columns
    elif not is_empty:
        if n_columns != state[N_COLUMNS]:
            state[ERROR], state[COLUMN] = WRONG_CELL_COUNT, n_columns
            return True
        out[1][state[N_ROWS]] = state[TEXT_SIZE]
        out[3][state[N_ROWS]] = state[TAG_SIZE]
        state[N_ROWS] += 1
    state[ROW_LINE] = state[LINE]
    return is_first


@allocating_entry_point
def split(data: Any, delimiter: int, column_numbers: Any, out: Any, state: Any) -> int:
    """Read `data`; returns the number of bytes read, fewer than all after the first row or an error.

    column_numbers: of the text and the tag column. Updates in place: `out` (bytes of texts, their ends, bytes of tags,
    their ends) and `state`. Empty lines are skipped.
    """
    i = 0
    while i < data.shape[0]:
        byte, mode = data[i], state[MODE]
        if mode == QUOTED:
            i = read_quoted(data, i, column_numbers, out, state)
            continue
        if (mode in (CELL_START, UNQUOTED) and byte not in (QUOTE, NEWLINE, delimiter)) or (
            mode == UNQUOTED and byte == QUOTE
        ):
            i = read_unquoted(data, i, delimiter, column_numbers, out, state)
            continue
        i += 1
        if byte == QUOTE:
            if mode == QUOTE_CLOSED:
                copy_cell(data, i - 1, i, column_numbers, out, state)
            state[MODE] = QUOTED
        elif byte == delimiter:
            state[COLUMN] += 1
            state[MODE] = state[CELL_SIZE] = CELL_START
        elif byte == NEWLINE:
            state[LINE] += 1
            if end_row(mode, column_numbers, out, state):
                return i
        elif byte != RETURN:
            state[ERROR] = TEXT_AFTER_QUOTE
            return i
    return i


class CsvParser:
    """The state of the compiled pass over a file, and the rows that it has extracted."""

    def __init__(self, name: str, delimiter: str) -> None:
        self.name = name
        self.delimiter = delimiter
        self.state: NDArray[np.int64] = np.zeros(STATE_SIZE, np.int64)
        self.state[[LINE, ROW_LINE]] = 1
        self.column_numbers = (NO_COLUMN, NO_COLUMN)
        self.out = (np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.uint8), np.empty(0, np.int64))
        self.n_cells = self.n_numbers = 0

    def read(self, data: bytes) -> int:
        """Read bytes; returns how many were read: all, or those of the first row."""
        state, size = self.state, len(data)
        texts, text_ends, tags, tag_ends = self.out
        self.out = (
            reserve(texts, state[TEXT_SIZE], size if self.column_numbers[0] != NO_COLUMN else 0),
            reserve(text_ends, state[N_ROWS], size),
            reserve(tags, state[TAG_SIZE], size if self.column_numbers[1] != NO_COLUMN else 0),
            reserve(tag_ends, state[N_ROWS], size),
        )
        used = split(np.frombuffer(data, np.uint8), ord(self.delimiter), self.column_numbers, self.out, state)
        if state[ERROR] == WRONG_CELL_COUNT:
            raise self.error(f"the row has {state[COLUMN]} cells, the first row {state[N_COLUMNS]}")
        if state[ERROR] == TEXT_AFTER_QUOTE:
            raise self.error('text after the closing quote of a cell; write a quote within a cell as ""', state[LINE])
        if state[TEXT_SIZE] - (self.out[1][state[N_ROWS] - 1] if state[N_ROWS] else 0) > MAX_ROW:
            raise self.error(f"the row that starts here is longer than {MAX_ROW} bytes; is a quote never closed?")
        return used

    def error(self, problem: str, line: int | None = None) -> CorpusError:
        """Return the error for the current row, or for a line."""
        return CorpusError(f"{self.name}, line {self.state[ROW_LINE] if line is None else line}: {problem}")

    def rows(self) -> Rows:
        """Return the rows that ended since the last call."""
        texts, text_ends, tags, tag_ends = self.out
        count = int(self.state[N_ROWS])
        ends, last = text_ends[:count].copy(), int(text_ends[count - 1]) if count else 0
        data = texts[:last].tobytes()
        self.count_numbers(data, ends)
        row_tags = None
        if self.column_numbers[1] != NO_COLUMN:
            end = int(tag_ends[count - 1]) if count else 0
            tag_data = tags[:end].tobytes()
            row_tags = [tag_data[i:j].decode() for i, j in pairwise([0, *tag_ends[:count].tolist()])]
            tags[: self.state[TAG_SIZE] - end] = tags[end : self.state[TAG_SIZE]].copy()
            self.state[TAG_SIZE] -= end
        texts[: self.state[TEXT_SIZE] - last] = texts[last : self.state[TEXT_SIZE]].copy()
        self.state[TEXT_SIZE] -= last
        self.state[N_ROWS] = 0
        return Rows(data, ends, row_tags)

    def count_numbers(self, data: bytes, ends: NDArray[np.int64]) -> None:
        """Count numbers among the first cells that are not empty."""
        row = 0
        while self.n_cells < N_CHECKED and row < len(ends):
            cell = data[int(ends[row - 1]) if row else 0 : int(ends[row])]
            self.n_cells += bool(cell)
            self.n_numbers += bool(NUMBER.fullmatch(cell))
            row += 1
        if self.n_cells == N_CHECKED:
            self.check_is_text()

    def check_is_text(self) -> None:
        """Refuse a column of numbers."""
        if self.n_cells and self.n_cells == self.n_numbers:
            raise CorpusError(f"the text column in {self.name} holds numbers, not text")


def reserve(array: Any, used: int, size: int) -> Any:
    """Return an array with the first `used` items of this one and room for `size` more."""
    if used + size <= len(array):
        return array
    larger = np.empty(used + size, array.dtype)
    larger[:used] = array[:used]
    return larger


def csv_rows(blocks: Iterable[bytes], name: str, columns: ColumnSelection, delimiter: str) -> Iterator[Rows]:
    """Yield the rows of a file that comes in blocks of valid UTF-8; its first row has the column names.

    Cells in double quotes may contain delimiters, line ends, and quotes written twice. If no text column is requested,
    the only column is used. Empty lines are skipped.

    Raises:
        CorpusError: a column is missing or holds numbers, a row has a wrong number of cells, or a quote is not
            closed; the message has the line number.
    """
    parser, head = CsvParser(name, delimiter), b""
    names: list[str] = []
    for data in chain(blocks, [b"\n"]):  # the last row may have no line end; another empty line does no harm
        if not names:
            head += data
            parser = CsvParser(name, delimiter)
            used = parser.read(head)
            if len(head) - len(data) > MAX_HEADER:
                raise CorpusError(f"{name} is not {NAMES[delimiter]}: its first row is longer than {MAX_HEADER} bytes")
            if not parser.state[N_COLUMNS]:
                continue
            names, data = parse_header(head[:used], delimiter, name), head[used:]
            text, tag = columns.text_column(name, names, names), columns.tag_column(name, names)
            parser.column_numbers = (names.index(text), NO_COLUMN if tag is None else names.index(tag))
        parser.read(data)
        yield parser.rows()
    if parser.state[MODE] == QUOTED:
        raise parser.error("a quoted cell of the row that starts here is never closed")
    parser.check_is_text()


def parse_header(row: bytes, delimiter: str, name: str) -> list[str]:
    """Parse the column names."""
    try:
        return next(csv.reader([row.decode().strip("\r\n")], delimiter=delimiter))
    except csv.Error as error:
        raise CorpusError(f"{name}: the column names in the first row cannot be read: {error}") from error
