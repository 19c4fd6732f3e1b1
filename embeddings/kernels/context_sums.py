"""Sums of the vectors around occurrences of words, compiled."""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.kernels.integers import larger, smaller


class ContextText(NamedTuple):
    """A text and the vectors of its words.

    ids: (tokens,) int32. lines: (lines + 1,) int64, where lines begin in `ids`; windows do not cross them.
    rows: (types,) int32, the row of each id in `matrix`, -1 for a word without a vector, which is no context but takes
    a place in the window. weights: (types,) float32, of each id in a sum. matrix: (words, dim) float32.
    """

    ids: np.ndarray
    lines: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    matrix: np.ndarray


class ContextSums(NamedTuple):
    """Sums of the contexts of each of several words.

    sums: (n, dim) float64, of the weighted vectors. weights: (n,) float64. occurrences: (n,) int64, those with at
    least one context word. buffer: (dim,) float32, of one occurrence; each thread has its own.
    """

    sums: np.ndarray
    weights: np.ndarray
    occurrences: np.ndarray
    buffer: np.ndarray


@entry_point
def add_contexts(
    text: ContextText, positions: np.ndarray, slots: np.ndarray, size: int, window: int, line: int,
    share: tuple[int, int], result: ContextSums,
) -> None:  # fmt: skip
    """Add the contexts of occurrences to the sums of their words.

    Arguments:
        positions: (n,) int64, ascending: where the occurrences begin in `ids`.
        slots: (n,) int32, the row of each in the sums.
        size: the number of tokens of an occurrence.
        window: the number of tokens on each side.
        line: the number of a line that begins at or before the first position.
        share: thread t of n adds the occurrences of every nth word, so that no two threads write to one row.
    """
    for i in range(positions.shape[0]):
        slot, position = slots[i], positions[i]
        if slot % share[1] != share[0]:
            continue
        while text.lines[line + 1] <= position:
            line += 1
        first = larger(position - window, text.lines[line])
        last = smaller(position + size + window, text.lines[line + 1])
        result.buffer[:] = 0
        total = 0.0
        for place in range(first, last):
            row = text.rows[text.ids[place]]
            if row >= 0 and not position <= place < position + size:
                weight = text.weights[text.ids[place]]
                total += weight
                for column in range(result.buffer.shape[0]):
                    result.buffer[column] += weight * text.matrix[row, column]
        if total > 0:
            result.occurrences[slot] += 1
            result.weights[slot] += total
            for column in range(result.buffer.shape[0]):
                result.sums[slot, column] += result.buffer[column]
