"""Compiled parser of CSV and TSV: finds the cells of complete rows, as the standard library's reader does."""

from typing import Any

from embeddings.compilation.jit import entry_point, inline
from embeddings.corpora.reading.cell_bytes import copy_bytes

Array = Any
Int = Any

END, IS_FAULTY = range(2)  # indices of `state`
START, STOP, QUOTES = range(3)  # of a cell: where its text starts and stops, and the number of doubled quotes in it
LINE_FEED, CARRIAGE_RETURN, QUOTE = 10, 13, 34


@inline
def is_line_end(byte: Int) -> bool:
    """Whether a byte ends a row outside of quotes."""
    return byte in (LINE_FEED, CARRIAGE_RETURN)


@inline
def find_quote(text: Array, i: Int) -> tuple[Int, Int]:
    """Return the place of the quote that closes the cell whose text begins at `i`, and how many doubled ones precede.

    The place is negative if the text ends before it is known.
    """
    quotes, size = 0, text.shape[0]
    while True:
        while i < size and text[i] != QUOTE:
            i += 1
        if i + 1 >= size:
            return -1, quotes
        if text[i + 1] != QUOTE:
            return i, quotes
        quotes, i = quotes + 1, i + 2


@inline
def find_cell(text: Array, i: Int, delimiter: Int) -> tuple[Int, Int, Int, Int]:
    """Return start and stop of the cell at `i`, its doubled quotes, and the place after it; negative if unknown."""
    start, stop, quotes, after = i, i, 0, i
    if i < text.shape[0] and text[i] == QUOTE:
        start = i + 1
        stop, quotes = find_quote(text, start)
        after = stop + 1 if stop >= 0 else -1
    else:
        while stop < text.shape[0] and text[stop] != delimiter and not is_line_end(text[stop]):
            stop += 1
        after = stop
    if after >= text.shape[0] or (after >= 0 and text[after] == CARRIAGE_RETURN and after + 1 >= text.shape[0]):
        after = -1  # a line feed may follow
    return start, stop, quotes, after


@inline
def find_row(text: Array, i: Int, delimiter: Int, places: Array, spans: Array, row: Int) -> tuple[Int, bool]:
    """Write the cells of the row at `i`; returns the place after it, negative if unknown, and whether it is faulty."""
    cell = 0
    while True:
        start, stop, quotes, after = find_cell(text, i, delimiter)
        if after < 0:
            return -1, False
        is_end = is_line_end(text[after])
        if (text[after] != delimiter and not is_end) or cell >= places.shape[0]:
            return -1, True
        if places[cell] >= 0:
            spans[row, places[cell], START], spans[row, places[cell], STOP] = start, stop
            spans[row, places[cell], QUOTES] = quotes
        cell, i = cell + 1, after + 1
        if is_end:
            i += text[after] == CARRIAGE_RETURN and text[i] == LINE_FEED
            return i, cell != places.shape[0]


@entry_point
def find_rows(text: Array, begin: Int, delimiter: Int, places: Array, spans: Array, state: Array) -> int:
    """Find complete rows that are not empty, from byte `begin` on, where one starts; returns their number.

    Arguments:
        places: the place in `spans` of each column, negative for columns that are not wanted (columns,).
        spans: output, (rows, places, 3). Text after the last row that fits remains.
        state: output: where the first row starts that was not found, and whether it is faulty: it has another number of
            cells, or text after a closing quote.
    """
    row, i = 0, begin
    state[IS_FAULTY] = False
    while row < spans.shape[0] and i < text.shape[0]:
        if text[i] == LINE_FEED:
            i += 1
        elif text[i] == CARRIAGE_RETURN:
            if i + 1 >= text.shape[0]:
                break
            i += 2 if text[i + 1] == LINE_FEED else 1
        else:
            after, is_faulty = find_row(text, i, delimiter, places, spans, row)
            if after < 0 or is_faulty:
                state[IS_FAULTY] = is_faulty
                break
            i, row = after, row + 1
    state[END] = i
    return row


@entry_point
def copy_cells(text: Array, spans: Array, place: Int, out: Array, ends: Array) -> int:
    """Write the cells of a column one after another, with single quotes for doubled ones; returns their size.

    ends: output: where each cell ends (rows,).
    """
    end = 0
    for row in range(spans.shape[0]):
        start, stop = spans[row, place, START], spans[row, place, STOP]
        while spans[row, place, QUOTES] and start < stop:
            i = start
            while i < stop and text[i] != QUOTE:
                i += 1
            size = min(i + 1, stop) - start  # one quote of two
            copy_bytes(out, end, text, start, size)
            end, start = end + size, i + 2
        if start < stop:
            copy_bytes(out, end, text, start, stop - start)
            end += stop - start
        ends[row] = end
    return end
