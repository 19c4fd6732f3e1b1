"""A trie of sequences of tokens in flat arrays, which compiled code walks token by token.

Edges are in an open-addressing hash table with multiplicative hashing (Knuth 1998, 6.4). The prefixes of a sequence
have nodes whether or not they are sequences of their own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import allocating_entry_point, inline
from embeddings.kernels.random_numbers import GAMMA

NONE = -1
ROOT = -2  # the node before the first token
EMPTY = np.uint64(2**64 - 1)
NO_IDS, NO_EDGES = np.empty(0, np.int32), np.empty(0, np.uint64)
TOKEN_BITS = 32  # the low bits of an edge are its token, the high bits its node


class TokenTrie(NamedTuple):
    """A trie of sequences of tokens.

    first: (tokens,) the node that a token leads to from the root, or NONE.
    edges, ends: (slots,) the hash table of all other edges, node << 32 | token, and of the nodes they lead to.
    values: (nodes,) the value of the sequence that ends at a node, or NONE.
    shift: 64 minus the bits of a slot number.
    longest: tokens of the longest sequence.
    """

    first: NDArray[np.int32]
    edges: NDArray[np.uint64]
    ends: NDArray[np.int32]
    values: NDArray[np.int32]
    shift: int
    longest: int


@inline
def child(trie: TokenTrie, node: np.int64, token: np.int32) -> np.int64:
    """The node that a token leads to from a node or the root, or NONE."""
    if node == ROOT:
        return np.int64(trie.first[token] if np.uint32(token) < trie.first.shape[0] else NONE)
    edge = np.uint64(node) << np.uint64(TOKEN_BITS) | np.uint64(np.uint32(token))
    last = trie.edges.shape[0] - 1
    slot = np.int64((edge * GAMMA) >> np.uint64(trie.shift))
    while trie.edges[slot] != edge:
        if trie.edges[slot] == EMPTY:
            return np.int64(NONE)
        slot = (slot + 1) & last
    return np.int64(trie.ends[slot])


@inline
def find_sequences(trie: TokenTrie, ids: np.ndarray, position: int, end: int, found: np.ndarray) -> int:
    """Find all sequences that start at `ids[position]` and end before `ids[end]`; returns their number.

    `found[n - 1]` becomes the value of the sequence of n tokens, or NONE; `found` is (trie.longest,).
    """
    for n in range(trie.longest):
        found[n] = NONE
    count, node = 0, np.int64(ROOT)
    for n in range(min(trie.longest, end - position)):
        node = child(trie, node, ids[position + n])
        if node < 0:
            break
        value = trie.values[node]
        if value >= 0:
            found[n] = value
            count += 1
    return count


@allocating_entry_point
def insert_edges(edges: np.ndarray, ends: np.ndarray, trie: TokenTrie) -> None:
    """Insert edges and their end nodes into the hash table."""
    last = trie.edges.shape[0] - 1
    for i in range(edges.shape[0]):
        slot = np.int64((edges[i] * GAMMA) >> np.uint64(trie.shift))
        while trie.edges[slot] != EMPTY:
            slot = (slot + 1) & last
        trie.edges[slot] = edges[i]
        trie.ends[slot] = ends[i]


def build_trie(sequences: NDArray[np.int32], values: NDArray[np.int32], tokens: int) -> TokenTrie:
    """The trie of sequences.

    Arguments:
        sequences: (sequences, longest) token ids below `tokens`, -1 after the last.
        values: (sequences,) the value of each sequence; several sequences may share one.
    """
    count, longest = sequences.shape
    nodes = np.zeros(count, np.int64)  # of each sequence's prefix; the root has no number
    ends, edges_by_length, targets_by_length, node_count = np.full(count, NONE, np.int64), [], [], 0
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
            edges_by_length.append(unique)
            targets_by_length.append(target)
        ends[is_longer] = nodes[is_longer]
        node_count += len(unique)
    value_of_node = np.full(node_count, NONE, np.int32)
    value_of_node[ends] = values
    return new_trie(
        first,
        np.concatenate([NO_EDGES, *edges_by_length]),
        np.concatenate([NO_IDS, *targets_by_length]),
        value_of_node,
        longest,
    )


def new_trie(
    first: NDArray[np.int32], edges: NDArray[np.uint64], ends: NDArray[np.int32], values: NDArray[np.int32],
    longest: int,
) -> TokenTrie:  # fmt: skip
    """The trie with these edges, in any order; see `TokenTrie`."""
    bits = max(1, (2 * len(edges)).bit_length())  # a load factor of at most one half
    trie = TokenTrie(first, np.full(1 << bits, EMPTY), np.full(1 << bits, NONE, np.int32), values, 64 - bits, longest)
    insert_edges(edges, ends, trie)
    return trie
