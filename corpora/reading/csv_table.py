"""Tables of CSV and TSV (RFC 4180), with line numbers and a limit on the size of a row; lines of cells between tabs.

Arrow parses blocks of whole rows; the `csv` module the column names, and blocks that Arrow refuses.
"""

import csv
import re
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from io import IncrementalNewlineDecoder, StringIO
from itertools import chain, islice
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.arrow_tables import ArrowTable
from embeddings.corpora.reading.columns import Role
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.record_rows import (
    N_CHECKED,
    BlockTable,
    Record,
    are_numbers,
    complete_lines,
    is_number,
    position_names,
)
from embeddings.corpora.reading.tables import Batch, cast
from embeddings.corpora.reading.text_block import MAX_ROW, gather, is_long
from embeddings.errors import CorpusError, SingleTextError
from embeddings.support.arrow import combine_chunks, pa

MAX_HEADER = 1 << 20  # characters
LINE_END = re.compile(rb"\r\n|\r|\n")
QUOTE = ord('"')
FIELD_LIMIT = Lock()  # held while `csv.field_size_limit`, which is global, is changed


class CsvTable(ArrowTable):
    """A file that comes in blocks of valid UTF-8; all cells are strings.

    Cells in double quotes may contain delimiters, line ends, and doubled quotes. Outside of quotes a lone
    carriage return ends a row too. Empty lines are skipped.

    Arguments:
        header: whether the first row holds the column names; None: it does, unless a cell of it is a number.
    """

    is_text = True

    def __init__(
        self, blocks: Iterable[bytes], name: str, delimiter: str, decoder: Utf8Decoder, *, header: bool | None = True
    ) -> None:
        self.blocks, self.delimiter = iter(blocks), delimiter
        rows, self.text, self.n_lines = read_rows(self.blocks, name, delimiter)
        names = rows[0] if rows else []
        self.n_cells = len(names)
        self.has_names = not any(map(is_number, names)) if header is None else header
        self.first_rows = [] if self.has_names else rows  # rows read before the other rows
        if not self.has_names:
            names = position_names(names)
        super().__init__(name, pa.schema([(one, pa.string()) for one in names]), self.parsed_rows, decoder)

    @cached_property
    def spelled_numbers(self) -> list[str]:  # type: ignore[override]
        """The names of the columns whose first cells are numbers."""
        rows, self.text, self.n_lines = read_rows(
            chain([self.text], self.blocks), self.name, self.delimiter, self.n_cells, self.n_lines
        )
        self.first_rows += rows
        cells = zip(*self.first_rows[:N_CHECKED], strict=True)
        return [name for name, column in zip(self.columns, cells, strict=False) if are_numbers(column)]

    def parsed_rows(self, names: list[str]) -> Iterator[Any]:
        """Yield the rows of the columns `names`, a block at a time."""
        places = [self.columns.index(name) for name in names]
        if self.first_rows:
            yield strings_batch(self.first_rows, names, places)
        text = self.text
        while (block := gather(self.blocks, len(text))) or text:
            text += block
            end = find_row_end(text, self.delimiter, is_end=not block)
            if end == 0:
                if is_long(text):
                    raise CsvReader([], self.name, self.delimiter, self.n_cells, self.n_lines).long_row_error()
                continue
            table = None if end is None else parse_cells(memoryview(text)[:end], self.delimiter, self.n_cells, places)
            if end is None or table is None:
                rows, text, self.n_lines = read_rows(
                    chain([text], self.blocks), self.name, self.delimiter, self.n_cells, self.n_lines
                )
                yield strings_batch(rows, names, places)
            else:
                feeds, returns, pairs = (text.count(one, 0, end) for one in (b"\n", b"\r", b"\r\n"))
                self.n_lines += feeds + returns - pairs
                text = text[end:]
                yield pa.record_batch(list(map(combine_chunks, table.columns)), names)


def strings_batch(rows: list[list[str]], names: list[str], places: list[int]) -> Any:
    """Return the cells at `places` in rows as a record batch of strings with the names `names`."""
    return pa.record_batch([pa.array([row[place] for row in rows], pa.string()) for place in places], names)


def parse_cells(text: memoryview, delimiter: str, n_columns: int, places: list[int], *, has_quotes: bool = True) -> Any:
    """Parse columns of whole rows, by their places, as a pyarrow table; None if Arrow refuses the rows."""
    names = [str(place) for place in range(n_columns)]
    column_types = dict.fromkeys([names[place] for place in places], pa.string())
    try:
        return pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(use_threads=False, column_names=names, block_size=len(text) + 1),
            pa.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=has_quotes, quote_char='"' if has_quotes else False
            ),
            pa.csv.ConvertOptions(
                check_utf8=False, column_types=column_types, include_columns=list(column_types),
                strings_can_be_null=False,
            ),
        )  # fmt: skip
    except pa.ArrowException:
        return None


def find_row_end(text: bytes, delimiter: str, *, is_end: bool) -> int | None:
    """Return the offset after the last complete row of a text that starts at a row; 0 if no row is complete.

    None: a quote is neither at the border of a cell nor doubled, or is never closed; or Arrow would drop a byte order
    mark. `is_end`: no text follows.
    """
    if text.startswith(BOM_UTF8):
        return None
    size = len(text) if is_end else max(len(text) - 1, 0)  # half a line end or half a doubled quote may be last
    data = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(data[:size] == QUOTE)
    if len(quotes):
        is_border = np.zeros(256, bool)
        is_border[[ord(delimiter), *b'\r\n"']] = True  # two adjacent quotes close and open
        is_first = quotes[::2] == 0
        opens = is_border[data[quotes[::2] - 1]] | is_first
        closes = is_border[data[np.minimum(quotes[1::2] + 1, len(text) - 1)]]
        if not (opens.all() and closes.all()):
            is_border[QUOTE] = False
            if is_first[0] or is_border[data[quotes - 1]].any():
                return None
            quotes = quotes[:0]  # quotes within cells that have no quotes around them are text
    if is_end:
        return size if len(quotes) % 2 == 0 else None
    for number in range(len(quotes) // 2 * 2, -1, -2):  # from the last gap between quoted cells to the first one
        begin = int(quotes[number - 1]) + 1 if number else 0
        stop = int(quotes[number]) if number < len(quotes) else size
        line_end = max(text.rfind(b"\n", begin, stop), text.rfind(b"\r", begin, stop))
        if line_end >= 0:
            return line_end + (2 if text[line_end : line_end + 2] == b"\r\n" else 1)
    return 0


def read_rows(
    blocks: Iterator[bytes], name: str, delimiter: str, n_cells: int = 0, n_lines: int = 0
) -> tuple[list[list[str]], bytes, int]:
    """Read rows with the standard library: only the first if `n_cells` is 0, else all that begin in the first block.

    Returns:
        The rows, the text of the blocks after them, and the number of lines up to there, including `n_lines`.
    """
    head: list[bytes] = []

    def record() -> Iterator[bytes]:
        for block in blocks:
            head.append(block)
            yield block

    reader = CsvReader(record(), name, delimiter, n_cells, n_lines)
    rows = reader.read()
    rows += reader.read() if n_cells else []
    text, count = b"".join(head), reader.reader.line_num
    ends = (match.end() for match in re.finditer(LINE_END, text))
    rest = text[next(islice(ends, count - 1, None), len(text)) :] if rows else b""
    return rows, rest, n_lines + count


class CsvReader:
    """Reads rows block by block; all must have as many cells as the first row, which holds the column names.

    Arguments:
        n_cells: the number of cells in a row; 0 if the first row is still to come.
        n_lines: the lines before the text.
    """

    def __init__(self, blocks: Iterable[bytes], name: str, delimiter: str, n_cells: int = 0, n_lines: int = 0) -> None:
        self.blocks = blocks
        self.name = name
        self.reader = csv.reader(chain.from_iterable(self.lines()), delimiter=delimiter, strict=True)
        self.n_cells = n_cells
        self.n_lines = n_lines
        self.row_line = n_lines + 1  # the first line of the current row
        self.row_size = 0  # characters in the blocks since the last row
        self.is_new_block = self.is_end = False

    def lines(self) -> Iterator[Iterable[str]]:
        """Yield the lines that end in each block, with their ends: a line feed, a carriage return, or both."""
        decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8")(), translate=False)
        parts: list[str] = []
        for block in chain(self.blocks, [b""]):
            text = decoder.decode(block, final=not block)
            end = max(text.rfind("\n"), text.rfind("\r")) + 1
            self.is_new_block = True
            self.row_size += len(text)
            if end:
                yield StringIO("".join([*parts, text[:end]]), newline="")
                parts = []
            parts.append(text[end:])
            if self.row_size > (MAX_ROW if self.n_cells else MAX_HEADER):
                raise self.long_row_error()
        yield ["".join(parts)]
        self.is_end = True

    def read(self) -> list[list[str]]:
        """The first call returns the first row; each later call, the rows up to the end of the current block."""
        rows: list[list[str]] = []
        self.is_new_block = not self.n_cells
        with FIELD_LIMIT:
            limit = csv.field_size_limit()
            if self.n_cells:
                csv.field_size_limit(2 * MAX_ROW)  # above what `lines` refuses with a better message
            try:
                for row in self.reader:
                    if row:
                        self.n_cells = self.n_cells or len(row)
                        if len(row) != self.n_cells:
                            raise self.error(f"the row has {len(row)} cells, but the first row has {self.n_cells}")
                        rows.append(row)
                    self.row_line, self.row_size = self.n_lines + self.reader.line_num + 1, 0
                    if self.is_new_block and rows:
                        break
            except csv.Error as error:
                problem = f"the column names in the first row cannot be read: {error}"
                if self.is_end:
                    problem = "a quoted cell of the row that starts here is never closed"
                elif self.n_cells:
                    self.row_line = self.n_lines + self.reader.line_num
                    problem = 'text after the closing quote of a cell; write a quote within a cell as ""'
                raise self.error(problem) from error
            finally:
                csv.field_size_limit(limit)
        return rows

    def long_row_error(self) -> CorpusError:
        """Return an error for a row that is too long."""
        limit, hint = (MAX_ROW, "is a quote never closed?") if self.n_cells else (MAX_HEADER, "is this a table?")
        return self.error(f"the row that starts here is longer than {limit} characters; {hint}")

    def error(self, problem: str) -> CorpusError:
        """Return an error for the current row."""
        return CorpusError(f"{self.name}, line {self.row_line}: {problem}")


class LineTable(BlockTable):
    """A table of lines of cells between tabs, which have no quotes; blank lines are skipped."""

    def __init__(self, name: str, blocks: Iterable[bytes], decoder: Utf8Decoder, size: int) -> None:
        super().__init__(name, blocks, decoder, size, has_names=False)
        self.n_cells = 0

    def parsed_records(self, text: bytes) -> Iterator[Record]:
        """Yield the cells of lines as records whose fields are numbered."""
        lines = chain.from_iterable(complete_lines([text], self.name, self.n_lines))
        for number, line in enumerate(lines, self.n_lines + 1):
            if not line.strip() and "\t" not in line:
                continue
            cells = line.rstrip("\r").split("\t")
            self.n_cells = self.n_cells or len(cells)
            if len(cells) != self.n_cells or self.n_cells == 1:
                error, expected = (CorpusError, self.n_cells) if self.n_cells > 1 else (SingleTextError, "at least 2")
                problem = f"expected {expected} cells separated by tabs, got {len(cells)}"
                raise error(f"{self.name}, line {number}: {problem}")
            yield f"{self.name}, line {number}", dict(zip(position_names(cells), cells, strict=True))

    def arrow_types(self, roles: Sequence[tuple[str, Role]]) -> dict[str, Any]:
        """Return the types of all cells: strings."""
        return {name: pa.string() for name, _ in roles}

    def parsed_batch(self, text: bytes, roles: Sequence[tuple[str, Role]], types: dict[str, Any]) -> Batch | None:
        """Parse a block with Arrow."""
        if text.startswith(BOM_UTF8) or text.count(b"\r") != text.count(b"\r\n"):
            return None
        places = [self.columns.index(name) for name in types]
        table = parse_cells(memoryview(text), "\t", self.n_cells, places, has_quotes=False)
        if table is None:
            return None
        columns = dict(zip(types, map(combine_chunks, table.columns), strict=True))
        arrays = [cast(columns[name], role) for name, role in roles]
        position = self.line_positions(text, lambda: filled_lines(text))
        return None if any(array is None for array in arrays) else Batch(arrays, position)


def filled_lines(text: bytes) -> NDArray[np.int64]:
    """Return where lines that are not empty begin."""
    return np.array([match.start() for match in re.finditer(rb"^[^\r\n]", text, re.MULTILINE)], np.int64)
