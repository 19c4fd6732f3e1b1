"""Vectors of arbitrary strings: the sum of the rows of all vocabulary n-grams within them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import allocating_entry_point
from embeddings.corpora.token_trie import NONE, TokenTrie, build_trie, find_sequences
from embeddings.errors import FormatError
from embeddings.models.model import Model
from embeddings.support.imports import import_library

NGRAMS = "ngrams"  # the table of rows that vectors are sums of
LOWER_DOTTED_I = "\u0130".lower()  # the only code point whose lower case is two code points


class NgramOccurrences(NamedTuple):
    """The n-grams within texts: text i has `words[offsets[i]:offsets[i + 1]]`, with repetitions."""

    offsets: np.ndarray
    words: np.ndarray


@dataclass(frozen=True)
class NgramComposer:
    """Composes vectors from n-grams and their rows, float32 (n-grams, dim).

    A call with texts returns vectors (texts, dim): for each text the sum of the rows of all n-grams within it, counting
    every occurrence at any code point; zeros for a text without n-grams.
    """

    ngrams: Sequence[str]
    rows: np.ndarray

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of texts, float32 (texts, dim)."""
        csr_array = import_library("scipy.sparse").csr_array

        offsets, words = ngrams_within(self.trie, *code_points(texts))
        counts = csr_array((np.ones(len(words), np.float32), words, offsets), shape=(len(texts), len(self.ngrams)))
        return np.asarray(counts @ self.rows, np.float32)

    @cached_property
    def trie(self) -> TokenTrie:
        """The trie of the n-grams."""
        return trie_of(self.ngrams)


def trie_of(ngrams: Sequence[str]) -> TokenTrie:
    """A trie of n-grams by code points."""
    points, borders = code_points(ngrams)
    lengths = np.diff(borders)
    sequences = np.full((len(ngrams), int(lengths.max(initial=1))), NONE, np.int32)
    sequences[np.arange(sequences.shape[1]) < lengths[:, None]] = points
    return build_trie(sequences, np.arange(len(ngrams), dtype=np.int32), int(points.max(initial=0)) + 1)


@allocating_entry_point
def list_occurrences(trie: TokenTrie, ids: np.ndarray, occurrences: NgramOccurrences, write: bool) -> None:
    """Replace text boundaries in `ids` by boundaries of n-grams, in `offsets`; if `write`, also list the n-grams."""
    ngrams, count, begin = np.empty(trie.longest, np.int32), 0, 0
    for text in range(occurrences.offsets.shape[0] - 1):
        end = occurrences.offsets[text + 1]
        for i in range(begin, end):
            find_sequences(trie, ids, i, end, ngrams)
            for word in ngrams:
                if word >= 0:
                    if write:
                        occurrences.words[count] = word
                    count += 1
        occurrences.offsets[text + 1] = count
        begin = end


def ngrams_within(trie: TokenTrie, ids: np.ndarray, borders: np.ndarray) -> NgramOccurrences:
    """All n-grams within each text of tokens `ids`, whose boundaries in `ids` are `borders` (texts + 1,)."""
    counted = NgramOccurrences(borders.copy(), np.empty(0, np.int32))
    list_occurrences(trie, ids, counted, False)
    found = NgramOccurrences(borders.copy(), np.empty(int(counted.offsets[-1]), np.int32))
    list_occurrences(trie, ids, found, True)
    return found


def code_points(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The code points of all texts, int32, and their boundaries (texts + 1,), int64."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.int32)
    return points, np.cumsum([0, *map(len, texts)], dtype=np.int64)


def composer(model: Model) -> NgramComposer:
    """The composer of a model with a row for each n-gram of its vocabulary, in the table "ngrams".

    Raises:
        FormatError: the table is missing or has the wrong shape or type.
    """
    rows, shape = model.tables.get(NGRAMS), (len(model.vocabulary), model.vectors.dim)
    if rows is None or rows.shape != shape or rows.dtype != np.float32:
        raise FormatError(f"the {model.name} model is broken: expected a float32 table {NGRAMS!r} of shape {shape}")
    return NgramComposer(model.vocabulary.words, rows)
