"""Cells of selected columns of CSV and TSV: those of rows of strings, and those that the compiled parser found."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_rows import MAX_ROW, Rows, rows_from_cells

MAX_ROWS = 4096  # at a time


@dataclass(frozen=True)
class StringCells:
    """Rows of strings."""

    rows: Sequence[Sequence[str]]

    def strings(self, column: int, count: int | None = None) -> list[str]:
        """Return the cells of a column, of the first `count` rows."""
        return [row[column] for row in self.rows[:count]]

    def texts(self, column: int) -> Rows:
        """Return the cells of a column as texts."""
        return rows_from_cells([cell.encode() for cell in self.strings(column)])


@dataclass(frozen=True)
class CellSpans:
    """Cells as places in UTF-8 text; `spans`, (rows, places, 3), is that of `csv_kernel.find_rows`."""

    text: bytes
    spans: NDArray[np.int64]
    places: NDArray[np.int64]

    def strings(self, column: int, count: int | None = None) -> list[str]:
        """Return the cells of a column, of the first `count` rows."""
        spans = self.spans[:count, self.places[column]].tolist()
        cells = ((self.text[start:stop].decode(), quotes) for start, stop, quotes in spans)
        return [cell.replace('""', '"') if quotes else cell for cell, quotes in cells]

    def texts(self, column: int) -> Rows:
        """Return the cells of a column as texts."""
        from embeddings.corpora.reading.csv_kernel import START, STOP, copy_cells

        spans, place = self.spans, int(self.places[column])
        text = np.frombuffer(self.text, np.uint8)
        out = np.empty(int((spans[:, place, STOP] - spans[:, place, START]).sum()), np.uint8)
        ends = np.empty(len(spans), np.int64)
        size = copy_cells(text, spans, place, out, ends)
        return Rows(out[:size].tobytes(), ends, None)


class CompiledReader:
    """Finds the rows of CSV block by block, from the start of a row on, up to the first one that requires `CsvReader`.

    That is the last row, unless it ends with its line, and a row that is not valid or is very long.

    Attributes:
        rest: after the end, the text that was not read.
        n_lines: the lines before it.
    """

    def __init__(self, blocks: Iterable[bytes], delimiter: str, n_columns: int, columns: Iterable[int]) -> None:
        self.blocks = blocks
        self.delimiter = ord(delimiter)
        self.places = np.full(n_columns, -1, np.int64)
        for place, column in enumerate(dict.fromkeys(columns)):
            self.places[column] = place
        self.rest = b""
        self.n_lines = 0

    def __iter__(self) -> Iterator[CellSpans]:
        from embeddings.corpora.reading.csv_kernel import END, IS_FAULTY, find_rows

        spans = np.empty((MAX_ROWS, int(self.places.max()) + 1, 3), np.int64)
        state: Any = np.zeros(2, np.int64)
        for block in self.blocks:
            text = self.rest + block
            array, start, n_rows = np.frombuffer(text, np.uint8), 0, MAX_ROWS
            while n_rows == MAX_ROWS and not state[IS_FAULTY]:
                n_rows = find_rows(array, start, self.delimiter, self.places, spans, state)
                start = int(state[END])
                if n_rows:
                    yield CellSpans(text, spans[:n_rows], self.places)
            self.rest = text[start:]
            self.n_lines += count_lines(array[:start])
            if state[IS_FAULTY] or len(self.rest) > MAX_ROW:
                return


def count_lines(text: NDArray[np.uint8]) -> int:
    """Return the number of lines that end in a text: with a line feed, a carriage return, or both."""
    feeds, returns = text == ord("\n"), text == ord("\r")
    n_feeds, n_returns = np.count_nonzero(feeds), np.count_nonzero(returns)
    return int(n_feeds + n_returns - (np.count_nonzero(feeds[1:] & returns[:-1]) if n_returns else 0))
