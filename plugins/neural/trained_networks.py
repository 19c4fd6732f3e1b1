"""Trained recurrent networks in numpy, without PyTorch: LSTM, linear layer, and the loss of words of a sentence.

With the input x, the previous state h, and weights W and bias b for the gates i, f and o and for the candidate g:

    i, f, o = sigmoid(W (x; h) + b)    g = tanh(W (x; h) + b)    c = f c + i g    h = o tanh(c)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from embeddings.objectives.objective import Objective
from embeddings.plugins.neural.sentence_batches import MAX_WORDS, Ids
from embeddings.support.imports import import_library

DIRECTIONS = ("forward", "backward")  # in which C2W reads characters
UNKNOWN, BOUNDARY = range(2)  # rows of the tables of marks: of unknown words and of the border of a sentence


def run_lstm(inputs: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The states after each input, float32 (n, steps, size), starting from a zero state.

    Arguments:
        inputs: float32 (n, steps, dim).
        weights: (4 size, dim + size), the rows of i, f, g and o in this order.
        bias: (1, 4 size).
    """
    expit = import_library("scipy.special").expit
    n, steps, dim = inputs.shape
    size = len(weights) // 4
    from_inputs = inputs.reshape(-1, dim) @ weights[:, :dim].T + bias[0]
    gates = from_inputs.reshape(n, steps, 4 * size)
    recurrent = np.ascontiguousarray(weights[:, dim:].T)
    states = np.empty((n, steps, size), np.float32)
    state, cell = np.zeros((n, size), np.float32), np.zeros((n, size), np.float32)
    for step in range(steps):
        i, f, g, o = np.split(gates[:, step] + state @ recurrent, 4, axis=1)
        cell = expit(f) * cell + expit(i) * np.tanh(g)
        state = expit(o) * np.tanh(cell)
        states[:, step] = state
    return states


def linear(tables: Mapping[str, np.ndarray], name: str, rows: np.ndarray) -> np.ndarray:
    """The outputs of the linear layer of this name, (..., outputs)."""
    outputs: np.ndarray = rows @ tables[f"{name}_weights"].T + tables[f"{name}_bias"][0]
    return outputs


@dataclass(frozen=True)
class SentencePredictor:
    """Predicts each word of a sentence from the context that the network reads.

    Arguments:
        tables: the tables of the objective, float64.
        encode: returns the hidden rows that predict each word of sentences, given as rows of the vocabulary.
        max_length: words of a sentence; longer lines are cut, as in training.
    """

    objective: Objective
    tables: Mapping[str, np.ndarray]
    encode: Callable[[Sequence[Ids]], list[np.ndarray]]
    max_length: int
    hidden_dim: ClassVar[int] = 0  # no hidden row is a mean of word vectors, as `predict_output_word` needs

    @property
    def has_probabilities(self) -> bool:
        """Whether words have probabilities, whose negative logarithms are losses."""
        return self.objective.has_probabilities

    def total_loss(self, ids: Ids, lines: Ids) -> tuple[float, int]:
        """The sum of the losses of all words of a text `ids`, rows of the vocabulary, and the number of words."""
        loss = 0.0
        for sentences in sentence_groups(ids, lines, self.max_length):
            hidden = np.concatenate(self.encode(sentences)).astype(np.float64)
            words = np.concatenate(sentences)
            loss += float(self.objective.losses(hidden, self.tables, np.arange(len(words)), words).sum())
        return loss, len(ids)


def sentence_groups(ids: Ids, lines: Ids, max_length: int) -> Iterator[list[Ids]]:
    """Yield the sentences of a text in groups; `lines` (lines + 1,) are the line boundaries in the text."""
    group: list[Ids] = []
    words = 0
    for first, last in zip(lines[:-1].tolist(), lines[1:].tolist(), strict=True):
        for start in range(first, last, max_length):
            group.append(ids[start : min(start + max_length, last)])
            words += len(group[-1])
            if words >= MAX_WORDS:
                yield group
                group, words = [], 0
    if group:
        yield group
