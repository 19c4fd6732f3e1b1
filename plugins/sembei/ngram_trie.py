"""A trie of n-grams in flat arrays: all that start at a place of a text, found in one walk.

An edge from a node by a token is found in an open-addressing table by one multiplication (Knuth 1998, 6.4). The
nodes of an n-gram's prefixes are there whether or not these are n-grams of the vocabulary themselves.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.kernels.jit import kernel, piece
from embeddings.kernels.random_numbers import GAMMA

NONE = -1
EMPTY = np.uint64(2**64 - 1)
TOKEN = 32  # bits of an edge's token; its node stands above them


class NgramTable(NamedTuple):
    """N-grams by their tokens, for `walk`.

    `first` (tokens,) is the node that a token leads to from the root, or -1. `edges` and `ends` (slots,) are the
    other edges, node << 32 | token, and the nodes they lead to. `words` (nodes,) is the place in the vocabulary of
    the n-gram that ends there, or -1. `shift` is what is left of 64 bits beside a slot's number, and `longest` the
    tokens of the longest n-gram.
    """

    first: NDArray[np.int32]
    edges: NDArray[np.uint64]
    ends: NDArray[np.int32]
    words: NDArray[np.int32]
    shift: int
    longest: int


class Parts(NamedTuple):
    """The n-grams within each of some texts: those of text i are `words[offsets[i]:offsets[i + 1]]`, repeats too."""

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]

    @classmethod
    def none(cls) -> "Parts":
        """Of no text."""
        return cls(np.zeros(1, np.int64), np.empty(0, np.int32))


@piece
def walk(table: NgramTable, ids: np.ndarray, position: int, end: int, found: np.ndarray) -> int:
    """Find all n-grams that start at `ids[position]` and end before `ids[end]`; gives how many there are.

    found[n - 1] becomes the place in the vocabulary of the one of n tokens, -1 where there is none; `found` has
    room for `table.longest`. Ids that are no token of the table are in no n-gram.
    """
    for n in range(table.longest):
        found[n] = NONE
    count, node = 0, np.int64(NONE)
    for n in range(min(table.longest, end - position)):
        token = ids[position + n]
        if n == 0:
            node = np.int64(table.first[token] if np.uint32(token) < table.first.shape[0] else NONE)
        else:
            node = follow(table, node, token)
        if node < 0:
            break
        word = table.words[node]
        if word >= 0:
            found[n] = word
            count += 1
    return count


@piece
def follow(table: NgramTable, node: np.int64, token: np.int32) -> np.int64:
    """The node that a token leads to, or -1."""
    edge = np.uint64(node) << np.uint64(TOKEN) | np.uint64(np.uint32(token))
    last = table.edges.shape[0] - 1
    slot = np.int64((edge * GAMMA) >> np.uint64(table.shift))
    while table.edges[slot] != edge:
        if table.edges[slot] == EMPTY:
            return np.int64(NONE)
        slot = (slot + 1) & last
    return np.int64(table.ends[slot])


@kernel
def place(edges: np.ndarray, ends: np.ndarray, table: NgramTable) -> None:
    """Enter edges and the nodes they lead to in the slots of a table, which are free."""
    last = table.edges.shape[0] - 1
    for i in range(edges.shape[0]):
        slot = np.int64((edges[i] * GAMMA) >> np.uint64(table.shift))
        while table.edges[slot] != EMPTY:
            slot = (slot + 1) & last
        table.edges[slot] = edges[i]
        table.ends[slot] = ends[i]


@kernel
def walk_all(table: NgramTable, ids: np.ndarray, found: np.ndarray) -> int:
    """`walk` from each place of one line of text to its end; `found` is (tokens, longest). Gives how many there are."""
    count = 0
    for i in range(ids.shape[0]):
        count += walk(table, ids, i, ids.shape[0], found[i])
    return count


@kernel
def list_parts(table: NgramTable, ids: np.ndarray, parts: Parts, write: bool) -> None:
    """Turn `parts.offsets`, the borders of texts in `ids`, into those of their n-grams, and write these if asked to."""
    found, count, begin = np.empty(table.longest, np.int32), 0, 0
    for text in range(parts.offsets.shape[0] - 1):
        end = parts.offsets[text + 1]
        for i in range(begin, end):
            walk(table, ids, i, end, found)
            for word in found:
                if word >= 0:
                    if write:
                        parts.words[count] = word
                    count += 1
        parts.offsets[text + 1] = count
        begin = end


def ngrams_within(table: NgramTable, ids: NDArray[np.int32], borders: NDArray[np.int64]) -> Parts:
    """All n-grams within each of some texts, whose tokens are `ids` and whose borders (texts + 1,) are in these."""
    counted = Parts(borders.copy(), np.empty(0, np.int32))
    list_parts(table, ids, counted, False)
    parts = Parts(borders.copy(), np.empty(int(counted.offsets[-1]), np.int32))
    list_parts(table, ids, parts, True)
    return parts


def ngram_table(sequences: NDArray[np.int32], words: NDArray[np.int32], tokens: int) -> NgramTable:
    """The table of n-grams given as rows of token ids below `tokens`, -1 behind the last; `words` are their places.

    Several rows may have the same place.
    """
    count, longest = sequences.shape
    nodes = np.zeros(count, np.int64)  # of each n-gram's prefix; no node is below the root's
    ends, edges, goals, node_count = np.full(count, NONE, np.int64), [], [], 0
    first = np.full(tokens, NONE, np.int32)
    for n in range(longest):
        long = sequences[:, n] >= 0
        keys = nodes[long].astype(np.uint64) << np.uint64(TOKEN) | sequences[long, n].astype(np.uint64)
        unique, place_of = np.unique(keys, return_inverse=True)
        nodes[long] = node_count + place_of
        goal = np.arange(node_count, node_count + len(unique), dtype=np.int32)
        if n == 0:
            first[unique.astype(np.int64)] = goal
        else:
            edges.append(unique)
            goals.append(goal)
        ends[long] = nodes[long]
        node_count += len(unique)
    at_node = np.full(node_count, NONE, np.int32)
    at_node[ends] = words
    size = sum(map(len, edges))
    bits = max(1, (2 * size).bit_length())  # at most half of the slots are taken
    slots = np.full(1 << bits, EMPTY), np.full(1 << bits, NONE, np.int32)
    table = NgramTable(first, *slots, at_node, 64 - bits, longest)
    if size:
        place(np.concatenate(edges), np.concatenate(goals), table)
    return table
