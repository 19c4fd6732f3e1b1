"""Phrases as a trie of word ids, stored in arrays for the compiled join."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.phrases.phrase import Phrase
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.jit import allocating_entry_point, inline
from embeddings.support.arrow_arrays import find_words

Array = Any
Int = Any

NONE = -1


class PhraseTrie(NamedTuple):
    """A trie of P phrases over V words."""

    in_phrase: NDArray[np.uint8]  # (V + 1,) whether a word, or V for an unknown word, is in any phrase
    keys: NDArray[np.int64]  # edges as a hash table, from node << 32 | word; the root is 0
    children: NDArray[np.int32]  # to a node
    ends: NDArray[np.int32]  # (nodes,) the phrase that ends at a node, or NONE
    steps: NDArray[np.int32]  # (P,) the pass that joins each phrase
    starts: NDArray[np.int64]  # of each phrase in `words`
    words: NDArray[np.int32]  # of all phrases


def build(vocabulary: Vocabulary, phrases: Sequence[Phrase]) -> tuple[PhraseTrie, list[Phrase]]:
    """Build the trie of the phrases whose words are all in the vocabulary; returns these phrases too."""
    ids = find_words([word for phrase in phrases for word in phrase.words], vocabulary.column, NONE)
    lengths = np.array([len(phrase.words) for phrase in phrases], np.int64)
    is_known = np.ones(len(phrases), bool)
    is_known[np.repeat(np.arange(len(phrases)), lengths)[ids < 0]] = False
    words = ids[np.repeat(is_known, lengths)]
    starts = np.concatenate([[0], np.cumsum(lengths[is_known])]).astype(np.int64)
    known_phrases = [phrase for phrase, keep in zip(phrases, is_known.tolist(), strict=True) if keep]
    slots = 1 << max(2 * len(words), 1).bit_length()
    in_phrase = np.zeros(len(vocabulary) + 1, np.uint8)
    in_phrase[words] = 1
    trie = PhraseTrie(
        in_phrase,
        np.full(slots, NONE, np.int64),
        np.empty(slots, np.int32),
        np.full(len(words) + 1, NONE, np.int32),
        np.array([phrase.step for phrase in known_phrases], np.int32),
        starts,
        words,
    )
    insert_all(tuple(trie))
    return trie, known_phrases


@inline
def find_slot(keys: Array, node: Int, word: Int) -> Int:
    """Return the slot of the edge from a node by a word, or the free slot for it."""
    key = np.int64(node) << 32 | np.int64(word)
    last = keys.shape[0] - 1
    code = np.int64(node) * 0x5E3779B1 ^ np.int64(word) * 0x45EBCA6B  # both below 2 ** 31: no overflow
    slot = (code ^ code >> 17) & last
    while keys[slot] != NONE and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@inline
def child(trie: Any, node: Int, word: Int) -> Int:
    """Return the child of a node for a word, or NONE."""
    slot = find_slot(trie[1], node, word)
    return trie[2][slot] if trie[1][slot] != NONE else NONE


@allocating_entry_point
def insert_all(trie: Any) -> None:
    """Insert all phrases into an empty trie."""
    _, keys, children, ends, _, starts, words = trie
    nodes = 1
    for phrase in range(starts.shape[0] - 1):
        node = np.int64(0)
        for place in range(starts[phrase], starts[phrase + 1]):
            slot = find_slot(keys, node, words[place])
            if keys[slot] == NONE:
                keys[slot] = node << 32 | np.int64(words[place])
                children[slot] = nodes
                nodes += 1
            node = np.int64(children[slot])
        ends[node] = phrase
