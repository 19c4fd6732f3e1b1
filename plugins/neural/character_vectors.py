"""Vectors of words by their characters (Ling et al. 2015) of a trained C2W model, in numpy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embeddings.models.subwords import Word
from embeddings.plugins.neural.lstm import run_lstm
from embeddings.plugins.neural.sentence_batches import Ids, groups_of_similar_length, pad, reversed_rows

DIRECTIONS = ("forward", "backward")
BATCH_CHARACTERS = 20_000


@dataclass(frozen=True)
class Alphabet:
    """The characters of words as numbers.

    Arguments:
        code_points: the known characters in order, whose numbers are from 1 on; that of all others is 0.
        max_characters: how many characters of a word are read.
    """

    code_points: np.ndarray
    max_characters: int

    def numbers(self, word: str) -> Ids:
        """The numbers of the characters of a word, int64; at least one."""
        points = np.frombuffer(word[: self.max_characters].encode("utf-32-le", "surrogatepass") or bytes(4), "<u4")
        places = np.searchsorted(self.code_points, points)
        is_known = self.code_points[np.minimum(places, len(self.code_points) - 1)] == points
        return np.where(is_known, places + 1, 0).astype(np.int64)


@dataclass(frozen=True)
class CharacterVectors:
    """Computes the vectors of words of any spelling: w = D (f; b) + d of the last states f and b of two LSTMs.

    Arguments:
        tables: those of a C2W model by name, float32.
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
