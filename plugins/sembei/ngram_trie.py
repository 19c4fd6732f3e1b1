"""A trie of n-grams in flat arrays: finds all n-grams that start at a text position in one walk.

Edges are in an open-addressing hash table with multiplicative hashing (Knuth 1998, 6.4). The prefixes of an n-gram have
nodes whether or not they are n-grams of the vocabulary.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import allocating_entry_point, inline
from embeddings.kernels.random_numbers import GAMMA

NONE = -1
EMPTY = np.uint64(2**64 - 1)
TOKEN_BITS = 32  # the low bits of an edge are its token, the high bits its node


class NgramTrie(NamedTuple):
    """N-grams by their tokens.

    first: (tokens,) the node that a token leads to from the root, or -1.
    edges, ends: (slots,) the hash table of all other edges, node << 32 | token, and of the nodes they lead to.
    words: (nodes,) the vocabulary index of the n-gram that ends at a node, or -1.
    shift: 64 minus the bits of a slot number.
    longest: tokens of the longest n-gram.
    """

    first: NDArray[np.int32]
    edges: NDArray[np.uint64]
    ends: NDArray[np.int32]
    words: NDArray[np.int32]
    shift: int
    longest: int


class NgramOccurrences(NamedTuple):
    """The n-grams within each text: the n-grams of text i are `words[offsets[i]:offsets[i + 1]]`, with repetitions."""

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]


@inline
def find_ngrams(trie: NgramTrie, ids: np.ndarray, position: int, end: int, ngrams: np.ndarray) -> int:
    """Find all n-grams that start at `ids[position]` and end before `ids[end]`; returns how many there are.

    `ngrams[n - 1]` becomes the vocabulary index of the one of n tokens, or -1; `ngrams` is (trie.longest,).
    """
    for n in range(trie.longest):
        ngrams[n] = NONE
    count, node = 0, np.int64(NONE)
    for n in range(min(trie.longest, end - position)):
        token = ids[position + n]
        if n == 0:
            node = np.int64(trie.first[token] if np.uint32(token) < trie.first.shape[0] else NONE)
        else:
            node = next_node(trie, node, token)
        if node < 0:
            break
        word = trie.words[node]
        if word >= 0:
            ngrams[n] = word
            count += 1
    return count


@inline
def next_node(trie: NgramTrie, node: np.int64, token: np.int32) -> np.int64:
    """The node that a token leads to, or -1."""
    edge = np.uint64(node) << np.uint64(TOKEN_BITS) | np.uint64(np.uint32(token))
    last = trie.edges.shape[0] - 1
    slot = np.int64((edge * GAMMA) >> np.uint64(trie.shift))
    while trie.edges[slot] != edge:
        if trie.edges[slot] == EMPTY:
            return np.int64(NONE)
        slot = (slot + 1) & last
    return np.int64(trie.ends[slot])


@allocating_entry_point
def insert_edges(edges: np.ndarray, ends: np.ndarray, trie: NgramTrie) -> None:
    """Insert edges and the nodes they lead to into the hash table."""
    last = trie.edges.shape[0] - 1
    for i in range(edges.shape[0]):
        slot = np.int64((edges[i] * GAMMA) >> np.uint64(trie.shift))
        while trie.edges[slot] != EMPTY:
            slot = (slot + 1) & last
        trie.edges[slot] = edges[i]
        trie.ends[slot] = ends[i]


@allocating_entry_point
def list_occurrences(trie: NgramTrie, ids: np.ndarray, occurrences: NgramOccurrences, write: bool) -> None:
    """Turn `offsets`, text boundaries in `ids`, into boundaries of their n-grams; if `write`, also list the n-grams."""
    ngrams, count, begin = np.empty(trie.longest, np.int32), 0, 0
    for text in range(occurrences.offsets.shape[0] - 1):
        end = occurrences.offsets[text + 1]
        for i in range(begin, end):
            find_ngrams(trie, ids, i, end, ngrams)
            for word in ngrams:
                if word >= 0:
                    if write:
                        occurrences.words[count] = word
                    count += 1
        occurrences.offsets[text + 1] = count
        begin = end


def ngrams_within(trie: NgramTrie, ids: NDArray[np.int32], borders: NDArray[np.int64]) -> NgramOccurrences:
    """All n-grams within each text of tokens `ids`, whose boundaries in `ids` are `borders` (texts + 1,)."""
    counted = NgramOccurrences(borders.copy(), np.empty(0, np.int32))
    list_occurrences(trie, ids, counted, False)
    occurrences = NgramOccurrences(borders.copy(), np.empty(int(counted.offsets[-1]), np.int32))
    list_occurrences(trie, ids, occurrences, True)
    return occurrences


def build_trie(sequences: NDArray[np.int32], words: NDArray[np.int32], tokens: int) -> NgramTrie:
    """The trie of n-grams.

    Arguments:
        sequences: (n-grams, longest) token ids below `tokens`, -1 after the last.
        words: (n-grams,) their vocabulary indices; several n-grams may have the same.
    """
    count, longest = sequences.shape
    nodes = np.zeros(count, np.int64)  # of each n-gram's prefix; the root has no number
    ends, edges, targets, node_count = np.full(count, NONE, np.int64), [], [], 0
    first = np.full(tokens, NONE, np.int32)
    for n in range(longest):
        is_longer = sequences[:, n] >= 0
        keys = nodes[is_longer].astype(np.uint64) << np.uint64(TOKEN_BITS) | sequences[is_longer, n].astype(np.uint64)
        unique, inverse = np.unique(keys, return_inverse=True)
        nodes[is_longer] = node_count + inverse
        target = np.arange(node_count, node_count + len(unique), dtype=np.int32)
        if n == 0:
            first[unique.astype(np.int64)] = target
        else:
            edges.append(unique)
            targets.append(target)
        ends[is_longer] = nodes[is_longer]
        node_count += len(unique)
    word_of_node = np.full(node_count, NONE, np.int32)
    word_of_node[ends] = words
    size = sum(map(len, edges))
    bits = max(1, (2 * size).bit_length())  # a load factor of at most one half
    slots = np.full(1 << bits, EMPTY), np.full(1 << bits, NONE, np.int32)
    trie = NgramTrie(first, *slots, word_of_node, 64 - bits, longest)
    if size:
        insert_edges(np.concatenate(edges), np.concatenate(targets), trie)
    return trie
