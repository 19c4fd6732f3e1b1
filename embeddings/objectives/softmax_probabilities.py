"""Logarithms of softmax probabilities, and the base of objectives that apply one softmax to all words."""

from collections.abc import Callable, Mapping

import numpy as np

from embeddings.objectives.objective import Objective

MAX_SCORES = 2**22  # that are computed at a time


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax of each row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    logarithms: np.ndarray = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logarithms


def log_softmax_items(
    scores: Callable[[slice], np.ndarray], width: int, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Items of `log_softmax(S)`, float64 (items,), of a matrix S that is computed a few rows at a time.

    Arguments:
        scores: returns some rows of S, which are overwritten.
        width: numbers in a row of S.
        rows: (items,) the row of each item, in rising order.
        columns: (items,) the column.
    """
    items, size = np.empty(len(rows)), max(MAX_SCORES // width, 1)
    for start in range(0, int(rows[-1]) + 1 if len(rows) else 0, size):
        part = slice(*np.searchsorted(rows, [start, start + size]))
        block, own = scores(slice(start, start + size)), rows[part] - start
        block -= block.max(axis=1, keepdims=True)
        items[part] = block[own, columns[part]]
        items[part] -= np.log(np.exp(block, out=block).sum(axis=1))[own]
    return items


def log_softmax_of_rows(hidden: np.ndarray, table: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """`log_softmax_items` of the products of hidden rows, only those that `rows` names, with all rows of a table."""
    used, numbers = np.unique(rows, return_inverse=True)
    return log_softmax_items(lambda part: hidden[used[part]] @ table.T, len(table), numbers, columns)


class SoftmaxObjective(Objective):
    """Base of objectives whose probabilities are the softmax of the scores of all words."""

    def word_scores(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int) -> np.ndarray:
        """The scores of all words, (n, vocabulary)."""
        return self.scores(hidden, tables, "output", slot)

    def log_probabilities(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int = 0) -> np.ndarray:
        """The logarithm of the softmax of the scores: normalised exactly, even if it is not in training."""
        return log_softmax(self.word_scores(hidden, tables, slot))

    def word_log_probabilities(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """See `Objective`."""
        return log_softmax_items(
            lambda part: self.word_scores(hidden[part], tables, slot), len(self.vocabulary), rows, words
        )
