"""Trained recurrent networks in numpy: LSTM, context2vec and C2W, without PyTorch.

With the input x, the state h of before, and weights W and bias b for the gates i, f and o and for the candidate g:

    i, f, o = sigmoid(W (x; h) + b)    g = tanh(W (x; h) + b)    c = f c + i g    h = o tanh(c)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import expit

from embeddings.models.model import Model
from embeddings.models.subwords import Word
from embeddings.models.table import Table
from embeddings.objectives.objective import Objective
from embeddings.plugins.neural.sentence_batches import (
    Ids,
    encode_groups,
    groups_of_similar_length,
    pad,
    reading_order,
    reversed_rows,
)
from embeddings.training.continued_training import saved_table

UNKNOWN, MARK = range(2)  # rows of the tables of marks
BATCH_WORDS = 20_000

DIRECTIONS = ("forward", "backward")
BATCH_CHARACTERS = 20_000

GROUP_WORDS = 20_000  # whose hidden rows are computed at a time


def run_lstm(inputs: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The states after each input, float32 (n, steps, size), from a state of zeros.

    Arguments:
        inputs: float32 (n, steps, dim).
        weights: (4 size, dim + size), the rows of i, f, g and o in this order.
        bias: (1, 4 size).
    """
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


@dataclass(frozen=True)
class ContextEncoder:
    """Computes the vectors of the contexts of words.

    Arguments:
        tables: the tables of a context2vec model by name, float32.
        words: size of the vocabulary; ids from there on are unknown words.
    """

    tables: Mapping[str, np.ndarray]
    words: int

    def __call__(self, sentences: Sequence[Ids]) -> list[np.ndarray]:
        """The vectors of the contexts of all words of each sentence, float32 (words of the sentence, dim).

        The context of a word does not depend on the word itself.
        """
        return encode_groups(sentences, self.encode, BATCH_WORDS)

    def encode(self, ids: Ids, lengths: Ids) -> np.ndarray:
        """The vectors of the contexts of padded sentences, (n, longest, dim)."""
        order = reading_order(np.minimum(ids, self.words), lengths, self.words + MARK)
        left, right = self.read("left", order.forward), self.read("right", order.backward)
        states = np.concatenate([left, np.take_along_axis(right, order.known[:, :, None], axis=1)], axis=2)
        hidden = np.maximum(self.linear("hidden", states), 0)
        return self.linear("context", hidden)

    def read(self, side: str, ids: Ids) -> np.ndarray:
        """The states of the left or right LSTM after each word, (n, steps, hidden size)."""
        inputs, marks = self.tables[f"{side}_inputs"], self.tables[f"{side}_marks"]
        is_word = ids < self.words
        rows = np.where(
            is_word[..., None], inputs[np.where(is_word, ids, 0)], marks[np.where(is_word, 0, ids - self.words)]
        )
        return run_lstm(rows, self.tables[f"{side}_weights"], self.tables[f"{side}_bias"])

    def linear(self, name: str, rows: np.ndarray) -> np.ndarray:
        """A linear layer."""
        outputs: np.ndarray = rows @ self.tables[f"{name}_weights"].T + self.tables[f"{name}_bias"][0]
        return outputs


@dataclass(frozen=True)
class Alphabet:
    """A numbering of the characters of words.

    Arguments:
        code_points: the known characters in order, with numbers from 1 on; other characters have the number 0.
        max_characters: the maximum number of characters of a word that are read.
    """

    code_points: np.ndarray
    max_characters: int

    def numbers(self, word: str) -> Ids:
        """The character numbers of a word, int64; at least one number."""
        points = np.frombuffer(word[: self.max_characters].encode("utf-32-le", "surrogatepass") or bytes(4), "<u4")
        places = np.searchsorted(self.code_points, points)
        is_known = self.code_points[np.minimum(places, len(self.code_points) - 1)] == points
        return np.where(is_known, places + 1, 0).astype(np.int64)


@dataclass(frozen=True)
class CharacterVectors:
    """Computes the vectors of words of any spelling: w = D (f; b) + d of the last states f and b of two LSTMs.

    Arguments:
        tables: the tables of a C2W model by name, float32.
    """

    tables: Mapping[str, np.ndarray]
    alphabet: Alphabet

    def __call__(self, words: Sequence[Word]) -> np.ndarray:
        """The vectors, float32 (words, dim); zeros for an empty word."""
        rows = np.zeros((len(words), self.dim), np.float32)
        spellings = [
            self.alphabet.numbers(word if isinstance(word, str) else word.decode(errors="replace")) for word in words
        ]
        lengths = np.array([len(spelling) for spelling in spellings], np.int64)
        for group in groups_of_similar_length(lengths, BATCH_CHARACTERS):
            rows[group] = self.encode(*pad([spellings[number] for number in group]))
        rows[[not word for word in words]] = 0
        return rows

    @cached_property
    def dim(self) -> int:
        """Numbers in a vector."""
        return len(self.tables["projection_weights"])

    def encode(self, characters: Ids, lengths: Ids) -> np.ndarray:
        """The vectors of padded spellings, (n, dim)."""
        last, states = lengths - 1, []
        for direction, order in zip(DIRECTIONS, (characters, reversed_rows(characters, lengths)), strict=True):
            weights, bias = (self.tables[f"{direction}_{name}"] for name in ("weights", "bias"))
            states.append(run_lstm(self.tables["character_inputs"][order], weights, bias)[np.arange(len(last)), last])
        both = np.concatenate(states, axis=1)
        vectors: np.ndarray = both @ self.tables["projection_weights"].T + self.tables["projection_bias"][0]
        return vectors


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
    hidden_dim: ClassVar[int] = 0  # no mean of word vectors is a hidden row

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
            if words >= GROUP_WORDS:
                yield group
                group, words = [], 0
    if group:
        yield group


def exact_tables(model: Model, declared: Mapping[str, Table]) -> dict[str, np.ndarray]:
    """The tables of a model, float64."""
    return {name: saved_table(model, name, table).astype(np.float64) for name, table in declared.items()}
