"""Probabilities of the words of new text, by a trained model: each word is predicted from its full context window."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from embeddings.models.model import Model
from embeddings.objectives.objective import Objective

NO_WORD = -1  # in `Windows.contexts`, where there is none
MAX_CONTEXTS = 2**22  # of windows that are handled at a time
MAX_HIDDEN = 2**22  # numbers in hidden rows that are handled at a time


@dataclass(frozen=True)
class Windows:
    """Words to predict (n,), and the words around each (n, 2 window), `NO_WORD` beyond the ends of a line."""

    centres: np.ndarray
    contexts: np.ndarray


@dataclass(frozen=True)
class Examples:
    """Predictions of words from hidden rows.

    Arguments:
        count: how many hidden rows there are.
        hidden: returns some of them, given a slice: (rows, length of a hidden row).
        rows: (examples,) the hidden row of each example.
        words: (examples,) the word that it predicts.
        slot: the slot of the output rows, if words have several.
    """

    count: int
    hidden: Callable[[slice], np.ndarray]
    rows: np.ndarray
    words: np.ndarray
    slot: int = 0


@dataclass(frozen=True)
class WordPredictor:
    """Probabilities of words by a trained model.

    Arguments:
        tables: those of the objective as saved, float64.
        window: words on either side of a word that predict it.
        examples: the predictions that the model makes in windows.
    """

    objective: Objective
    tables: Mapping[str, np.ndarray]
    window: int
    examples: Callable[[Windows], Iterator[Examples]]

    @property
    def hidden_dim(self) -> int:
        """Numbers in a hidden row."""
        return self.objective.hidden_dim

    @property
    def slots(self) -> int:
        """The number of output rows of a word."""
        return 1 if self.objective.is_concatenated else self.objective.slots

    def log_probabilities(self, hidden: np.ndarray, slot: int = 0) -> np.ndarray:
        """The natural logarithm of the probability of each word, float64 (n, vocabulary)."""
        logarithms = self.objective.log_probabilities(hidden.astype(np.float64), self.tables, slot)
        assert logarithms is not None
        return logarithms

    @property
    def has_probabilities(self) -> bool:
        """Whether words have probabilities, whose negative logarithms are losses."""
        return self.objective.has_probabilities

    def total_loss(self, ids: np.ndarray, line_borders: np.ndarray) -> tuple[float, int]:
        """The summed loss and the number of examples of a text: rows of its words, and line borders (lines + 1,)."""
        loss, count = 0.0, 0
        offsets = np.array([*range(-self.window, 0), *range(1, self.window + 1)])
        line_of = np.repeat(np.arange(len(line_borders) - 1), np.diff(line_borders))
        step = max(MAX_CONTEXTS // len(offsets), 1)
        for start in range(0, len(ids), step):
            centres = np.arange(start, min(start + step, len(ids)))
            positions = centres[:, None] + offsets
            inside = positions.clip(0, len(ids) - 1)
            is_context = (positions == inside) & (line_of[inside] == line_of[centres][:, None])
            windows = Windows(ids[centres], np.where(is_context, ids[inside], NO_WORD))
            for examples in self.examples(windows):
                loss += self.loss(examples)
                count += len(examples.words)
        return loss, count

    def loss(self, examples: Examples) -> float:
        """The summed loss of examples: -log P, or the loss of negative sampling."""
        loss, size = 0.0, max(MAX_HIDDEN // self.hidden_dim, 1)
        order = np.argsort(examples.rows, kind="stable")
        rows, words = examples.rows[order], examples.words[order]
        for start in range(0, examples.count, size):
            part = slice(*np.searchsorted(rows, [start, start + size]))
            hidden = examples.hidden(slice(start, start + size)).astype(np.float64)
            losses = self.objective.losses(hidden, self.tables, rows[part] - start, words[part], examples.slot)
            loss += float(losses.sum())
        return loss


def pair_examples(settings: Any, model: Model, windows: Windows, slot: int = 0) -> Iterator[Examples]:
    """Each context predicts the centre. A context word has one hidden row for all its occurrences."""
    vectors = model.vectors.matrix
    examples, columns = np.nonzero(windows.contexts != NO_WORD)
    words, rows = np.unique(windows.contexts[examples, columns], return_inverse=True)
    yield Examples(len(words), lambda part: vectors[words[part]], rows, windows.centres[examples], slot)


def mean_examples(
    settings: Any, model: Model, windows: Windows, weights: np.ndarray | None = None
) -> Iterator[Examples]:
    """The mean of the contexts, or the sum with combine="sum", predicts the centre.

    Contexts are multiplied by the `weights` of their positions, (2 window, dim).
    """
    vectors, mean = model.vectors.matrix, getattr(settings, "combine", "mean") == "mean"
    is_context = windows.contexts != NO_WORD
    counts = is_context.sum(axis=1)
    has_context = counts > 0
    contexts, counts = windows.contexts[has_context], counts[has_context]

    def hidden(part: slice) -> np.ndarray:
        total = np.zeros((len(contexts[part]), vectors.shape[1]))
        for position, column in enumerate(contexts[part].T):
            rows = np.where(column[:, None] != NO_WORD, vectors[column], 0)
            total += rows if weights is None else rows * weights[position]
        return total / counts[part, None] if mean else total

    yield Examples(len(contexts), hidden, np.arange(len(contexts)), windows.centres[has_context])


def concatenated_examples(settings: Any, model: Model, windows: Windows) -> Iterator[Examples]:
    """The concatenated contexts predict the centre; a missing context is zeros."""
    vectors = model.vectors.matrix
    has_context = (windows.contexts != NO_WORD).any(axis=1)
    contexts = windows.contexts[has_context]

    def hidden(part: slice) -> np.ndarray:
        rows = np.where(contexts[part, :, None] != NO_WORD, vectors[contexts[part]], 0)
        return rows.reshape(len(rows), -1)

    yield Examples(len(contexts), hidden, np.arange(len(contexts)), windows.centres[has_context])
