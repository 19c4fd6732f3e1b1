"""Pooling of rows of a table for many texts, and of the contexts of words.

Text t consists of the rows `ids[starts[t]:starts[t + 1]]`, int64. Results go to `output`, float32 (texts, width),
of which the caller has set the start; the columns of the table beyond the width are not read.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.integers import larger, smaller
from embeddings.kernels.row_operations import add_table_rows, add_weighted_table_rows


@entry_point
def sum_texts(table: np.ndarray, ids: np.ndarray, starts: np.ndarray, weights: np.ndarray, output: np.ndarray) -> None:
    """Add the rows of each text, by the weight of each row of the table; by 1 if `weights` is empty."""
    stride, width = table.strides[0], output.shape[1]
    for text in range(output.shape[0]):
        if weights.shape[0] > 0:
            add_weighted_table_rows(table, output[text], ids, starts[text], starts[text + 1], stride, width, weights)
        else:
            add_table_rows(table, output[text], ids, starts[text], starts[text + 1], stride, width)


class TokenRows(NamedTuple):
    """The words of tokens: token t consists of the words from `places[t]` to below `places[t + 1]`.

    rows: int64 (words,), -1 for a word without a vector. forms: int8 (words,), the number of the form of each word.
    """

    places: np.ndarray
    rows: np.ndarray
    forms: np.ndarray


@entry_point
def select_rows(
    raw: np.ndarray,
    starts: np.ndarray,
    tokens: TokenRows,
    ids: np.ndarray,
    new_starts: np.ndarray,
    n_words: np.ndarray,
    form_counts: np.ndarray,
) -> None:
    """Write the rows of the words of each token to `ids`, leaving out -1, and where texts start in `ids`.

    Also write the number of words of each text to `n_words`, and add those in each form to `form_counts`.

    raw: int32, the number of each token. Texts start at `starts`, int64.
    """
    count = np.int64(0)
    for text in range(starts.shape[0] - 1):
        new_starts[text] = count
        n_words[text] = 0
        for token in range(starts[text], starts[text + 1]):
            first, stop = tokens.places[raw[token]], tokens.places[raw[token] + 1]
            n_words[text] += stop - first
            for place in range(first, stop):
                if tokens.rows[place] >= 0:
                    ids[count] = tokens.rows[place]
                    count += 1
                    form_counts[tokens.forms[place]] += 1
    new_starts[starts.shape[0] - 1] = count


class ContextText(NamedTuple):
    """A text and the vectors of its words.

    ids: (tokens,) int32. lines: (lines + 1,) int64, where lines begin in `ids`; windows do not cross them.
    rows: (types,) int32, the row of each id in `matrix`, -1 for a word without a vector: it counts towards the window
    size, but is not added. matrix: (words, dim) float32.
    """

    ids: np.ndarray
    lines: np.ndarray
    rows: np.ndarray
    matrix: np.ndarray


class ContextSums(NamedTuple):
    """Sums of the contexts of each of several words.

    sums: (n, dim) float64, of vectors; contexts: (n,) int64, their numbers. occurrences: (n,) int64, those with at
    least one context word. buffer: (dim,) float32, of one occurrence; each thread has its own.
    """

    sums: np.ndarray
    contexts: np.ndarray
    occurrences: np.ndarray
    buffer: np.ndarray


@entry_point
def add_contexts(
    text: ContextText, positions: np.ndarray, slots: np.ndarray, size: int, window: int, line: int,
    thread: tuple[int, int], result: ContextSums,
) -> None:  # fmt: skip
    """Add the contexts of occurrences to the sums of their words.

    Arguments:
        positions: (n,) int64, ascending: where the occurrences begin in `ids`.
        slots: (n,) int32, the row of each in the sums.
        size: the number of tokens of an occurrence.
        window: the number of tokens on each side.
        line: the number of a line that begins at or before the first position.
        thread: t and n: thread t of n adds the occurrences of every nth word, so that no two write to one row.
    """
    for i in range(positions.shape[0]):
        slot, position = slots[i], positions[i]
        if slot % thread[1] != thread[0]:
            continue
        while text.lines[line + 1] <= position:
            line += 1
        first = larger(position - window, text.lines[line])
        last = smaller(position + size + window, text.lines[line + 1])
        result.buffer[:] = 0
        total = 0
        for place in range(first, last):
            row = text.rows[text.ids[place]]
            if row >= 0 and not position <= place < position + size:
                total += 1
                for column in range(result.buffer.shape[0]):
                    result.buffer[column] += text.matrix[row, column]
        if total > 0:
            result.occurrences[slot] += 1
            result.contexts[slot] += total
            for column in range(result.buffer.shape[0]):
                result.sums[slot, column] += result.buffer[column]
