"""Rows of CSV and TSV (RFC 4180), read by the standard library, with line numbers and a limit on the size of a row."""

import csv
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from io import IncrementalNewlineDecoder, StringIO
from itertools import chain
from threading import Lock
from typing import Any

from embeddings.corpora.reading.text_rows import MAX_ROW, ColumnSelection, Rows, merge_tags, rows_from_cells
from embeddings.errors import CorpusError

NUMBER = re.compile(r"\s*[-+]?[.,]?\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)
N_CHECKED = 100  # cells that decide whether a column holds numbers
MAX_HEADER = 1 << 20  # characters
FIELD_LIMIT = Lock()  # held while `csv.field_size_limit`, which is global, is changed


def csv_rows(blocks: Iterable[bytes], name: str, columns: ColumnSelection, delimiter: str) -> Iterator[Rows]:
    """Yield the rows of a file that comes in blocks of valid UTF-8; its first row has the column names.

    Cells in double quotes may contain delimiters, line ends, and doubled quotes. Outside of quotes a lone
    carriage return ends a row too. If no text column is requested, the only column is used. Empty lines are skipped.
    """
    reader = CsvReader(blocks, name, delimiter)
    header = reader.read()
    if not header:
        return
    names = header[0]
    text_index = names.index(columns.text_column(name, names, names))
    tag_indices = [names.index(tag) for tag in columns.tag_columns(name, names)]
    kept_names = columns.kept_columns(name, names)
    kept_indices = [*map(names.index, kept_names)]
    sample: list[str] = []  # of the cells that are not empty
    while rows := reader.read():
        texts = [row[text_index] for row in rows]
        if len(sample) < N_CHECKED:
            sample = [*sample, *filter(None, texts)][:N_CHECKED]
            if len(sample) == N_CHECKED:
                check_is_text(sample, name)
        kept = string_table(kept_names, [[row[index] for row in rows] for index in kept_indices])
        tags = [merge_tags([row[index] for index in tag_indices]) for row in rows] if tag_indices else None
        yield rows_from_cells([cell.encode() for cell in texts], tags, kept)
    check_is_text(sample, name)


def string_table(names: Sequence[str], columns: Sequence[Sequence[str]]) -> Any:
    """Return a pyarrow table of columns of strings; None without columns."""
    if not names:
        return None
    import pyarrow

    return pyarrow.table([pyarrow.array(column, pyarrow.string()) for column in columns], list(names))


class CsvReader:
    """Reads rows block by block; all must have as many cells as the first row, which holds the column names."""

    def __init__(self, blocks: Iterable[bytes], name: str, delimiter: str) -> None:
        self.blocks = blocks
        self.name = name
        self.reader = csv.reader(chain.from_iterable(self.lines()), delimiter=delimiter, strict=True)
        self.n_cells = 0
        self.row_line = 1  # the first line of the current row
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
                    self.row_line, self.row_size = self.reader.line_num + 1, 0
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
        self.row_line = self.reader.line_num
        return self.error('text after the closing quote of a cell; write a quote within a cell as ""')

    def error(self, problem: str) -> CorpusError:
        """Return an error for the current row."""
        return CorpusError(f"{self.name}, line {self.row_line}: {problem}")


def check_is_text(cells: list[str], name: str) -> None:
    """Refuse a column of numbers."""
    if cells and all(map(NUMBER.fullmatch, cells)):
        raise CorpusError(f"the text column in {name} holds numbers, not text")
