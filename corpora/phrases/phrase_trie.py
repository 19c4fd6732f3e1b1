"""Phrases as the tables that joining looks them up in: a tree of words, each phrase a path from its root."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.phrases.phrase_list import PhraseList
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.jit import kernel, piece
from embeddings.support.arrow_arrays import strings

Array = Any
Int = Any

NONE = -1


class Grammar(NamedTuple):
    """What joining needs to know of P phrases over V words.

    inside: (V + 1,) whether a word, or V for no word, stands in any phrase. keys, children: the tree as a hash table
    from node << 32 | word to a node; the root is 0. ends: (nodes,) the phrase that ends in a node, or NONE. steps:
    (P,) the pass that joins it. starts, words: where each begins in the words of all.
    """

    inside: NDArray[np.uint8]
    keys: NDArray[np.int64]
    children: NDArray[np.int32]
    ends: NDArray[np.int32]
    steps: NDArray[np.int32]
    starts: NDArray[np.int64]
    words: NDArray[np.int32]


def grammar(vocabulary: Vocabulary, listed: PhraseList) -> tuple[Grammar, PhraseList]:
    """The tables, and the phrases in them: those with all their words in the vocabulary."""
    import pyarrow
    import pyarrow.compute

    flat = strings([word for phrase in listed for word in phrase.words])
    places = pyarrow.compute.index_in(flat, value_set=strings(vocabulary.column))
    ids = pyarrow.compute.fill_null(places, NONE).to_numpy(zero_copy_only=False).astype(np.int32)
    lengths = np.array([len(phrase.words) for phrase in listed], np.int64)
    known = np.ones(len(listed), bool)
    known[np.repeat(np.arange(len(listed)), lengths)[ids < 0]] = False
    words = ids[np.repeat(known, lengths)]
    starts = np.concatenate([[0], np.cumsum(lengths[known])]).astype(np.int64)
    kept = PhraseList(phrase for phrase, there in zip(listed, known.tolist(), strict=True) if there)
    slots = 1 << max(2 * len(words), 1).bit_length()
    inside = np.zeros(len(vocabulary) + 1, np.uint8)
    inside[words] = 1
    made = Grammar(
        inside,
        np.full(slots, NONE, np.int64),
        np.empty(slots, np.int32),
        np.full(len(words) + 1, NONE, np.int32),
        np.array([phrase.step for phrase in kept], np.int32),
        starts,
        words,
    )
    plant(tuple(made))
    return made, kept


@piece
def slot_of(keys: Array, node: Int, word: Int) -> Int:
    """Where the word below the node stands in the table, or the free place for it."""
    key = np.int64(node) << 32 | np.int64(word)
    last = keys.shape[0] - 1
    code = np.int64(node) * 0x5E3779B1 ^ np.int64(word) * 0x45EBCA6B  # of two numbers below 2 ** 31: no overflow
    slot = (code ^ code >> 17) & last
    while keys[slot] != NONE and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


@piece
def child(grammar: Any, node: Int, word: Int) -> Int:
    """The node of the word below a node, or NONE."""
    slot = slot_of(grammar[1], node, word)
    return grammar[2][slot] if grammar[1][slot] != NONE else NONE


@kernel
def plant(grammar: Any) -> None:
    """Enter all phrases in the tree."""
    _, keys, children, ends, _, starts, words = grammar
    nodes = 1
    for phrase in range(starts.shape[0] - 1):
        node = np.int64(0)
        for place in range(starts[phrase], starts[phrase + 1]):
            slot = slot_of(keys, node, words[place])
            if keys[slot] == NONE:
                keys[slot] = node << 32 | np.int64(words[place])
                children[slot] = nodes
                nodes += 1
            node = np.int64(children[slot])
        ends[node] = phrase
