"""Vectors of sentential contexts (Melamud, Goldberger and Dagan 2016) by a trained context2vec model, in numpy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from embeddings.plugins.neural.lstm import run_lstm
from embeddings.plugins.neural.sentence_batches import Ids, encode_groups, reading_order

UNKNOWN, MARK = range(2)  # rows of the tables of marks
BATCH_WORDS = 20_000


@dataclass(frozen=True)
class ContextEncoder:
    """Computes the vectors of the contexts of words.

    Arguments:
        tables: those of a context2vec model by name, float32.
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
        """The states of the LSTM of one side after each word, (n, steps, hidden size)."""
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
