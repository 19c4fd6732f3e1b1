"""Hierarchical softmax over a Huffman tree (Morin and Bengio 2005; Mikolov et al. 2013b)."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.block import LAST, Block
from embeddings.kernels.gradient_steps import apply_input_steps, compute_steps, learn_single
from embeddings.kernels.integers import larger
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import address, prefetch
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import OutputSlot
from embeddings.models.table import Arrays, Table
from embeddings.objectives.objective import Objective

GATHERED = 8  # rows written at a time
PATH_DISTANCE = 3  # words between the prefetch of a path and its use
PATH_BYTES = 128  # of a path that are prefetched
PREFETCHED_NODES = 2  # on each side, left and right


class HuffmanTree(NamedTuple):
    """A binary tree with words as leaves.

    nodes: (inner nodes * slots, padded dim), from the root on in order of falling frequency.
    paths: int32, the inner nodes from which a word branches left, from the root on, then those from which it branches
        right; after the last word `GATHERED` zeros.
    starts: (vocabulary + 1,) where the path of each word starts in `paths`.
    lefts: (vocabulary,) how many nodes of its path a word branches left from.
    """

    nodes: np.ndarray
    paths: np.ndarray
    starts: np.ndarray
    lefts: np.ndarray


@implements(HuffmanTree)
@inline
def learn_path(
    operand: HuffmanTree, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """Equation 3 of Mikolov et al. (2013b): a logistic step at each node o of the word's path.

        g = rate * (y - sigmoid(x · o))    o += g * x    x += sum of g * o, of o before the step

    The label y of a left branch is 1, as in word2vec, that of a right one 0.

    Nodes with label 1 come first: they are the positives of the step. The inputs learn one after another, as in
    word2vec: in one step for all, the vectors of rare words come out worse, as nodes far from the root are near zero
    and first have to learn from one context what they teach the next.
    """
    width, word = operand.nodes.shape[1], block.words[i]
    start = operand.starts[word]
    n = operand.starts[word + 1] - start
    if buffers.output_cache.uses.shape[0] == 0:
        for j in range(0, n, GATHERED):  # the CPU would mispredict the end of a loop over single nodes
            for k in range(j, j + GATHERED):
                node = np.int64(operand.paths[start + k]) * slot.per_word + slot.number
                buffers.targets[k] = address(operand.nodes, node)
    else:
        for j in range(n):
            node = np.int64(operand.paths[start + j]) * slot.per_word + slot.number
            buffers.targets[j] = row_address(operand.nodes, buffers.output_cache, node)
    prefetch_path(operand, block, i, slot)
    for k in range(m):
        buffers.inputs[0], buffers.input_gradient_rows[0] = buffers.inputs[k], buffers.input_gradient_rows[k]
        if frozen:
            compute_steps(buffers, 1, operand.lefts[word], n, width, rate, 1)
            apply_input_steps(buffers, n, width)
        else:
            learn_single(buffers, operand.lefts[word], n, width, rate)


@inline
def prefetch_path(operand: HuffmanTree, block: Block, i: int, slot: OutputSlot) -> None:
    """Prefetch the nodes on the path of the word after word i of the block that are farthest from the root.

    Also prefetch the path of a later word.
    """
    if i + PATH_DISTANCE < block.cursor[LAST] and operand.nodes.shape[0] > 0:
        later, word = block.words[i + PATH_DISTANCE], block.words[i + 1]
        prefetch(address(operand.paths, operand.starts[later]), PATH_BYTES)
        size, begin = operand.nodes.shape[1] * operand.nodes.itemsize, operand.starts[word]
        for end in (begin + operand.lefts[word], operand.starts[word + 1]):
            for j in range(end - PREFETCHED_NODES, end):
                node = np.int64(operand.paths[larger(j, begin)])
                prefetch(address(operand.nodes, node * slot.per_word + slot.number), size)


class Huffman(NamedTuple):
    """The shape of a tree of n words, whose inner nodes are numbered from the root on.

    parents: int64 (2 n - 1,) the parent of each word and then of each inner node; -1 for the root.
    is_left: bool (2 n - 1,) whether it is a left child, with the lower count: code 0 in word2vec.
    """

    parents: np.ndarray
    is_left: np.ndarray


def huffman_tree(counts: np.ndarray) -> Huffman:
    """The Huffman tree of words with falling counts, as word2vec builds it.

    The two nodes of least count are joined until one is left. Of equal counts, inner nodes come before words, older
    inner nodes before newer ones, and later words before earlier ones.
    """
    n, count = len(counts), counts.tolist()
    parents, is_left = np.full(2 * n - 1, -1, np.int64), np.zeros(2 * n - 1, bool)
    sums: list[int] = []  # of inner nodes in the order they are made, which never falls
    word, oldest = n - 1, 0
    for made in range(n - 1):
        total = 0
        for is_first in (True, False):
            if word >= 0 and (oldest == made or count[word] < sums[oldest]):
                child, word, total = word, word - 1, total + count[word]
            else:
                child, oldest, total = 2 * n - 2 - oldest, oldest + 1, total + sums[oldest]
            parents[child], is_left[child] = n - 2 - made, is_first
        sums.append(total)
    return Huffman(parents, is_left)


def paths_from_root(tree: Huffman) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`HuffmanTree.paths`, `starts` and `lefts`: all words climb to the root together."""
    n = (len(tree.parents) + 1) // 2
    lengths, lefts = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for words, nodes in climb(tree):
        lengths[words] += 1
        lefts[words] += tree.is_left[nodes]
    starts = np.append(0, np.cumsum(lengths))
    paths = np.zeros(starts[-1], np.int64)
    ends = {True: starts[:-1] + lefts, False: starts[1:].copy()}  # paths are filled from their ends
    for words, nodes in climb(tree):
        for side, end in ends.items():
            is_here = tree.is_left[nodes] == side
            end[words[is_here]] -= 1
            paths[end[words[is_here]]] = tree.parents[nodes[is_here]]
    return paths, starts, lefts


def climb(tree: Huffman) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The words that are not yet at the root and the nodes where they are, one step after another."""
    n = (len(tree.parents) + 1) // 2
    words = nodes = np.arange(n)
    while (is_below := tree.parents[nodes] >= 0).any():
        words, nodes = words[is_below], nodes[is_below]
        yield words, nodes
        nodes = n + tree.parents[nodes]


class HuffmanObjective(Objective):
    """Hierarchical softmax over a Huffman tree: the probability of a word is that of the branches to it."""

    cached_table = "nodes"

    @cached_property
    def tree(self) -> Huffman:
        """The tree of the vocabulary."""
        return huffman_tree(self.vocabulary.counts)

    @cached_property
    def paths(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`HuffmanTree.paths`, `starts` and `lefts`."""
        return paths_from_root(self.tree)

    @property
    def max_targets(self) -> int:
        """The largest number of target rows in a step: the length of the longest path, in whole parts of `GATHERED`."""
        return -(-int(np.diff(self.paths[1]).max()) // GATHERED) * GATHERED

    def tables(self) -> dict[str, Table]:
        """The inner nodes, one fewer than words."""
        return {"nodes": self.table(len(self.vocabulary) - 1)}

    def operand(self, arrays: Arrays) -> HuffmanTree:
        """The operand of one thread."""
        paths, starts, lefts = self.paths
        return HuffmanTree(arrays["nodes"], np.append(paths, [0] * GATHERED).astype(np.int32), starts, lefts)

    def log_probabilities(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int = 0) -> np.ndarray:
        """The sum of the logarithms of the probabilities of the branches to each word."""
        n = len(self.vocabulary)
        scores = self.scores(hidden, tables, "nodes", slot)
        logarithms = np.zeros((len(hidden), 2 * n - 1))
        for nodes in self.levels:
            above, signs = self.tree.parents[nodes], np.where(self.tree.is_left[nodes], -1, 1)
            logarithms[:, nodes] = logarithms[:, n + above] - np.logaddexp(0, signs * scores[:, above])
        return logarithms[:, :n]

    def word_log_probabilities(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """See `Objective`: only the nodes on the path of each word are scored, for all its examples at once."""
        nodes, logarithms = self.slot_rows(tables["nodes"], slot), np.empty(len(words))
        paths, starts, lefts = self.paths
        order = np.argsort(words, kind="stable")
        distinct, first = np.unique(words[order], return_index=True)
        parts = np.split(order, first[1:])  # without words there is one part
        for word, examples in zip(distinct, parts, strict=False):
            scores = hidden[rows[examples]] @ nodes[paths[starts[word] : starts[word + 1]]].T
            scores[:, : lefts[word]] *= -1
            logarithms[examples] = -np.logaddexp(0, scores).sum(axis=1)
        return logarithms

    @cached_property
    def levels(self) -> list[np.ndarray]:
        """The words and inner nodes at each distance from the root, from 1 on."""
        n = len(self.vocabulary)
        parents = self.tree.parents
        depths = np.zeros(2 * n - 1, np.int64)
        for node in [*range(n + 1, 2 * n - 1), *range(n)]:  # parents come first
            depths[node] = depths[n + parents[node]] + 1 if parents[node] >= 0 else 0
        return [np.flatnonzero(depths == depth) for depth in range(1, int(depths.max()) + 1)]
