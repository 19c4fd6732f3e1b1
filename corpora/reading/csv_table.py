"""Tables of CSV and TSV (RFC 4180), and lines of cells between tabs, with line numbers and a limit on a row's size.

Arrow parses blocks of whole rows; the `csv` module the first row, and blocks that Arrow refuses.
"""

import csv
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import StringIO
from threading import Lock
from typing import Any

import numpy as np

from embeddings.corpora.reading.arrow_tables import ArrowTable
from embeddings.corpora.reading.encodings import Utf8Decoder
from embeddings.corpora.reading.record_rows import N_CHECKED, are_numbers, is_number, position_names
from embeddings.corpora.reading.text_block import MAX_ROW, count_lines, gather, is_long
from embeddings.errors import CorpusError
from embeddings.support.arrow import combine_chunks, pa

QUOTE = ord('"')
FIELD_LIMIT = Lock()  # held while `csv.field_size_limit`, which is global, is changed


class CsvTable(ArrowTable):
    """A file that comes in blocks of valid UTF-8; all cells are strings.

    Cells in double quotes may contain delimiters, line ends, and doubled quotes. Outside of quotes a lone
    carriage return ends a row too. Empty lines are skipped.

    Arguments:
        header: whether the first row holds the column names; None: it does, unless a cell of it is a number.
        has_quotes: else quotes are characters as all others, and lines of white space are skipped, too.
    """

    is_text = True

    def __init__(
        self, blocks: Iterable[bytes], name: str, delimiter: str, decoder: Utf8Decoder, *, header: bool | None = True,
        has_quotes: bool = True,
    ) -> None:  # fmt: skip
        self.blocks, self.delimiter, self.has_quotes = iter(blocks), delimiter, has_quotes
        self.text, self.is_end, self.n_lines, self.n_cells, self.name = b"", False, 0, 0, name
        rows: list[list[str]] = []
        while not rows and self.read_on():
            rows = self.parsed_rows(limit=1)
        names = rows[0] if rows else []
        self.has_names = not any(map(is_number, names)) if header is None else header
        self.first_rows = [] if self.has_names else rows  # rows read before the other rows
        if not self.has_names:
            names = position_names(names)
        super().__init__(name, pa.schema([(one, pa.string()) for one in names]), self.read_rows, decoder)

    @cached_property
    def spelled_numbers(self) -> list[str]:  # type: ignore[override]
        """The names of the columns whose first cells are numbers."""
        while len(self.first_rows) < N_CHECKED and self.read_on():
            self.first_rows += self.parsed_rows(N_CHECKED - len(self.first_rows))
        cells = zip(*self.first_rows[:N_CHECKED], strict=True)
        return [name for name, column in zip(self.columns, cells, strict=False) if are_numbers(column)]

    def read_on(self) -> bool:
        """Append the next blocks to the text that is not parsed yet; returns whether there is any text."""
        if is_long(self.text):
            problem = f"the row that starts here is longer than {MAX_ROW} characters; is a quote never closed?"
            raise self.error(1, problem)
        block = b"" if self.is_end else gather(self.blocks, len(self.text))
        self.is_end = not block
        self.text += block
        return bool(self.text)

    def read_rows(self, names: list[str]) -> Iterator[Any]:
        """Yield the rows of the columns `names`, a block at a time."""
        places = [self.columns.index(name) for name in names]
        if self.first_rows:
            yield strings_batch(self.first_rows, names, places)
        while self.read_on():
            end, table = find_row_end(self.text, self.delimiter, is_end=self.is_end, has_quotes=self.has_quotes), None
            if end:
                table = parse_cells(
                    memoryview(self.text)[:end], self.delimiter, self.n_cells, places, has_quotes=self.has_quotes
                )
            if end and table is not None:
                returns, pairs = (self.text.count(one, 0, end) for one in (b"\r", b"\r\n"))
                self.n_lines += count_lines(self.text, end) + returns - pairs
                self.text = self.text[end:]
                yield pa.record_batch(list(map(combine_chunks, table.columns)), names)
            elif end != 0 and (rows := self.parsed_rows()):
                yield strings_batch(rows, names, places)

    def parsed_rows(self, limit: int | None = None) -> list[list[str]]:
        """Take complete rows, at most `limit` of them, from the start of the text, parsed by the standard library."""
        # a carriage return that is last may be half of a line end
        stop = max(self.text.rfind(b"\n"), self.text.rfind(b"\r", 0, max(len(self.text) - 1, 0))) + 1
        stop = len(self.text) if self.is_end else stop
        lines = StringIO(self.text[:stop].decode(), newline="").readlines()
        quoting: Any = csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE
        # an item is a line, so that `line_num` is the line of an error
        reader = csv.reader(lines, delimiter=self.delimiter, quoting=quoting, strict=True)
        rows: list[list[str]] = []
        n_lines = 0  # of complete rows
        with field_limit():
            try:
                while len(rows) != limit and (row := next(reader, None)) is not None:
                    if row and (self.has_quotes or len(row) > 1 or row[0].strip()):
                        self.n_cells = self.n_cells or len(row)
                        if len(row) != self.n_cells:
                            problem = f"the row has {len(row)} cells, but the first row has {self.n_cells}"
                            raise self.error(n_lines + 1, problem)
                        rows.append(row)
                    n_lines = reader.line_num
            except csv.Error as error:
                if str(error) != "unexpected end of data":
                    problem = 'text after the closing quote of a cell; write a quote within a cell as ""'
                    raise self.error(reader.line_num, problem) from error
                if self.is_end:
                    problem = "a quoted cell of the row that starts here is never closed"
                    raise self.error(n_lines + 1, problem) from error
        self.text = "".join(lines[n_lines:]).encode() + self.text[stop:]
        self.n_lines += n_lines
        return rows

    def error(self, line: int, problem: str) -> CorpusError:
        """Return an error for a line of the text, from 1."""
        return CorpusError(f"{self.name}, line {self.n_lines + line}: {problem}")


@contextmanager
def field_limit() -> Iterator[None]:
    """Let cells have any size that rows may have."""
    with FIELD_LIMIT:
        limit = csv.field_size_limit(2 * MAX_ROW)
        try:
            yield
        finally:
            csv.field_size_limit(limit)


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


def find_row_end(text: bytes, delimiter: str, *, is_end: bool, has_quotes: bool = True) -> int | None:
    """Return the offset after the last complete row of a text that starts at a row; 0 if no row is complete.

    None: a quote is neither at the border of a cell nor doubled, or is never closed; or Arrow would drop a byte order
    mark. `is_end`: no text follows.
    """
    if text.startswith(BOM_UTF8):
        return None
    size = len(text) if is_end else max(len(text) - 1, 0)  # half a line end or half a doubled quote may be last
    data = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(data[: size * has_quotes] == QUOTE)
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
            # such as inches in 5" disk
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
