"""Rows of CSV and TSV (RFC 4180), with line numbers and a limit on the size of a row.

The standard library reads the column names, small tables, and all that is not valid; `csv_cells` what is between.
"""

import csv
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import IncrementalNewlineDecoder, StringIO
from itertools import chain, islice
from threading import Lock
from typing import Any

from embeddings.corpora.reading.csv_cells import CellSpans, CompiledReader, StringCells
from embeddings.corpora.reading.text_rows import MAX_ROW, ColumnSelection, Rows, merge_tags
from embeddings.errors import CorpusError

NUMBER = re.compile(r"\s*[-+]?[.,]?\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)
N_CHECKED = 100  # cells that decide whether a column holds numbers
MAX_HEADER = 1 << 20  # characters
MIN_COMPILED = 1 << 22  # bytes of rows, from which on they are parsed by compiled code
LINE_END = re.compile(rb"\r\n|\r|\n")
FIELD_LIMIT = Lock()  # held while `csv.field_size_limit`, which is global, is changed


def csv_rows(blocks: Iterable[bytes], name: str, columns: ColumnSelection, delimiter: str) -> Iterator[Rows]:
    """Yield the rows of a file that comes in blocks of valid UTF-8; its first row has the column names.

    Cells in double quotes may contain delimiters, line ends, and doubled quotes. Outside of quotes a lone
    carriage return ends a row too. If no text column is requested, the only column is used. Empty lines are skipped.
    """
    blocks = iter(blocks)
    names, blocks, n_lines = read_header(blocks, name, delimiter)
    if not names:
        return
    text_index = names.index(columns.text_column(name, names, names))
    tag_indices = [names.index(tag) for tag in columns.tag_columns(name, names)]
    kept_names = columns.kept_columns(name, names)
    kept_indices = [*map(names.index, kept_names)]
    sample: list[str] = []  # of the cells that are not empty
    selection = [text_index, *tag_indices, *kept_indices]
    for cells in read_cells(blocks, name, delimiter, len(names), n_lines, selection):
        if len(sample) < N_CHECKED:
            sample = [*sample, *filter(None, cells.strings(text_index))][:N_CHECKED]
            if len(sample) == N_CHECKED:
                check_is_text(sample, name)
        kept = string_table(kept_names, [cells.strings(index) for index in kept_indices])
        tags = [merge_tags(row) for row in zip(*map(cells.strings, tag_indices), strict=True)] if tag_indices else None
        yield replace(cells.texts(text_index), tags=tags, columns=kept)
    check_is_text(sample, name)


def read_header(blocks: Iterator[bytes], name: str, delimiter: str) -> tuple[list[str], Iterator[bytes], int]:
    """Return the column names, the blocks after them, and how many lines they take; no names if there is no row."""
    head: list[bytes] = []

    def record() -> Iterator[bytes]:
        for block in blocks:
            head.append(block)
            yield block

    reader = CsvReader(record(), name, delimiter)
    header = reader.read()
    text, n_lines = b"".join(head), reader.reader.line_num
    ends = (match.end() for match in re.finditer(LINE_END, text))
    rest = text[next(islice(ends, n_lines - 1, None), len(text)) :] if header else b""
    return header[0] if header else [], chain(filter(None, [rest]), blocks), n_lines


def read_cells(
    blocks: Iterator[bytes], name: str, delimiter: str, n_columns: int, n_lines: int, columns: Sequence[int]
) -> Iterator[StringCells | CellSpans]:
    """Yield the rows after the header, of `n_lines` lines; of small tables without the compiled parser."""
    head, size = [], 0
    while size < MIN_COMPILED and (block := next(blocks, b"")):
        head.append(block)
        size += len(block)
    blocks = chain(head, blocks)
    if size >= MIN_COMPILED:
        compiled = CompiledReader(blocks, delimiter, n_columns, columns)
        yield from compiled
        blocks, n_lines = chain(filter(None, [compiled.rest]), blocks), n_lines + compiled.n_lines
    reader = CsvReader(blocks, name, delimiter, n_columns, n_lines)
    while rows := reader.read():
        yield StringCells(rows)


def string_table(names: Sequence[str], columns: Sequence[Sequence[str]]) -> Any:
    """Return a pyarrow table of columns of strings; None without columns."""
    if not names:
        return None
    import pyarrow

    return pyarrow.table([pyarrow.array(column, pyarrow.string()) for column in columns], list(names))


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
            limit, hint = (MAX_ROW, "is a quote never closed?") if self.n_cells else (MAX_HEADER, "is this a table?")
            if self.row_size > limit:
                raise self.error(f"the row that starts here is longer than {limit} characters; {hint}")
        yield ["".join(parts)]
        self.is_end = True

    def read(self) -> list[list[str]]:
        """Return the next rows that are not empty: the first one only, then those up to the next block."""
        rows: list[list[str]] = []
        self.is_new_block = not self.n_cells
        with FIELD_LIMIT:
            limit = csv.field_size_limit()
            csv.field_size_limit(
                2 * MAX_ROW if self.n_cells else limit
            )  # above what `lines` refuses with a better message
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
                raise self.convert(error) from error
            finally:
                csv.field_size_limit(limit)
        return rows

    def convert(self, error: csv.Error) -> CorpusError:
        """Convert an error of the parser."""
        if self.is_end:
            return self.error("a quoted cell of the row that starts here is never closed")
        if not self.n_cells:
            return self.error(f"the column names in the first row cannot be read: {error}")
        self.row_line = self.n_lines + self.reader.line_num
        return self.error('text after the closing quote of a cell; write a quote within a cell as ""')

    def error(self, problem: str) -> CorpusError:
        """Return an error for the current row."""
        return CorpusError(f"{self.name}, line {self.row_line}: {problem}")


def check_is_text(cells: list[str], name: str) -> None:
    """Refuse a column of numbers."""
    if cells and all(map(NUMBER.fullmatch, cells)):
        raise CorpusError(f"the text column in {name} holds numbers, not text")
