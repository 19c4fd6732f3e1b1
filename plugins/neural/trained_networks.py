"""Trained recurrent networks in numpy, without PyTorch: LSTM, linear layer, the loss of words, batches of sentences.

With the input x, the previous state h, and weights W and bias b for the gates i, f and o and for the candidate g:

    i, f, o = sigmoid(W (x; h) + b)    g = tanh(W (x; h) + b)    c = f c + i g    h = o tanh(c)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from embeddings.kernels.block import LAST, POSITION
from embeddings.kernels.sentence_block import SentenceBlock
from embeddings.objectives.objective import Objective
from embeddings.support.imports import import_library

Ids = NDArray[np.int64]
MAX_WORDS = 20_000  # words, or characters, whose rows trained networks compute at a time

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
    # One product for the inputs of all steps; only that of the states has to wait for the step before.
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

    def total_loss(self, ids: Ids, line_borders: Ids) -> tuple[float, int]:
        """The summed loss and the number of words of a text; see `WordPredictor.total_loss`."""
        loss = 0.0
        for sentences in sentence_groups(ids, line_borders, self.max_length):
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


def batches(block: SentenceBlock, batch_words: int) -> Iterator[tuple[Ids, Ids]]:
    """The sentences of a block in batches of at most `batch_words` words with padding, or one sentence.

    Yields the place of each word in the block, (sentences, longest), where padding repeats the last word, and the
    lengths of the sentences, which do not rise. Similar lengths form a batch; the order of the batches is random, with
    a seed that depends on the block.
    """
    starts = block.starts[: int(block.cursor[LAST]) + 1]
    lengths = np.diff(starts)
    groups = list(groups_of_similar_length(lengths, batch_words))
    for number in np.random.default_rng(int(block.cursor[POSITION])).permutation(len(groups)):
        rows = groups[number][::-1]
        yield padded_places(lengths[rows]) + starts[rows][:, None], lengths[rows]


def groups_of_similar_length(lengths: Ids, max_words: int) -> Iterator[Ids]:
    """The numbers of all sentences, sorted by length, in groups of up to `max_words` words with padding."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    for stop, length in enumerate(lengths[order].tolist()):
        if stop > start and (stop + 1 - start) * length > max_words:
            yield order[start:stop]
            start = stop
    if start < len(order):
        yield order[start:]


def encode_groups(sentences: Sequence[Ids], encode: Callable[[Ids, Ids], np.ndarray]) -> list[np.ndarray]:
    """A row for each word of each sentence, (words of the sentence, dim).

    Arguments:
        encode: returns the rows of padded sentences (n, longest, dim), given the sentences and their lengths.
    """
    rows: list[np.ndarray] = [np.zeros((0, 0), np.float32)] * len(sentences)
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    for group in groups_of_similar_length(lengths, MAX_WORDS):
        padded, sizes = pad([sentences[number] for number in group])
        for number, size, row in zip(group, sizes, encode(padded, sizes), strict=True):
            rows[number] = row[:size]
    return rows


def padded_places(lengths: Ids) -> Ids:
    """Word numbers of sentences of the given `lengths`, (n, longest); padding repeats the last word."""
    places: Ids = np.minimum(np.arange(int(lengths.max())), np.maximum(lengths, 1)[:, None] - 1)
    return places


def pad(sentences: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Pad sentences of at least one word with their last word; returns the rows and the lengths."""
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    starts = np.append(0, np.cumsum(lengths[:-1]))
    return np.concatenate(sentences)[padded_places(lengths) + starts[:, None]], lengths


def reading_order(ids: Ids, lengths: Ids, mark: int) -> tuple[Ids, Ids, Ids]:
    """The inputs of a forward and a backward reader of padded sentences, (n, longest) each.

    Both begin with `mark`; all words but the last follow, or the words from the last to the second. The third array
    says where the backward reader has reached the word after each.
    """
    forward = np.roll(ids, 1, axis=1)
    known = np.maximum(lengths[:, None] - 1 - np.arange(ids.shape[1]), 0)
    backward = np.roll(reversed_rows(ids, lengths), 1, axis=1)
    forward[:, 0] = backward[:, 0] = mark
    return forward, backward, known


def reversed_rows(ids: Ids, lengths: Ids) -> Ids:
    """Reverse the words of padded rows (n, longest); padding stays at the end."""
    return np.take_along_axis(ids, np.maximum(lengths[:, None] - 1 - np.arange(ids.shape[1]), 0), axis=1)
