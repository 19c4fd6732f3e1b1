"""Segmentation-free embedding (Oshikiri 2017): frequent n-grams of raw text learn from the n-grams beside them."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST
from embeddings.kernels.bundle import Bundle, learn, new_bundle
from embeddings.kernels.compile import hot, piece
from embeddings.kernels.lattice import LatticeBlock, groups, meeting
from embeddings.kernels.rows import address, prefetch, share, total
from embeddings.kernels.trie import Parts


class Tables(NamedTuple):
    """Vectors of n-grams, and of those they predict to their right and to their left; each (n-grams, padded dim)."""

    words: np.ndarray
    right: np.ndarray
    left: np.ndarray


class SummedTables(NamedTuple):
    """The same, where the vector of an n-gram is the sum of the rows `words` of all n-grams within it, its parts."""

    words: np.ndarray
    right: np.ndarray
    left: np.ndarray
    parts: Parts


@hot
def learn_block(block: LatticeBlock, tables: Tables, bundle: Bundle, rate: float) -> None:
    """Where n-grams meet, those that end go in to predict those that start from their right table; and the mirror."""
    for i in range(block.place[FIRST], block.place[LAST]):
        ask_ahead(block, tables, i + 1)
        m, p = meeting(block, bundle, i)
        if m > 0 and p > 0:
            lefts, rights = bundle.context[:m], bundle.context[m : m + p]
            predict(tables, tables.right, bundle, lefts, rights, block.noise[i], rate)
            predict(tables, tables.left, bundle, rights, lefts, block.noise[i], rate)


@hot
def learn_summed(block: LatticeBlock, tables: SummedTables, bundle: Bundle, rate: float) -> None:
    """The same with sums going in, whose gradients each of their parts is given (SCNE, Kim, Fukui and Shimodaira)."""
    for i in range(block.place[FIRST], block.place[LAST]):
        ask_ahead(block, tables, i + 1)
        m, p = meeting(block, bundle, i)
        if m > 0 and p > 0:
            lefts, rights = bundle.context[:m], bundle.context[m : m + p]
            predict_summed(tables, tables.right, bundle, lefts, rights, block.noise[i], rate)
            predict_summed(tables, tables.left, bundle, rights, lefts, block.noise[i], rate)


@piece
def predict(
    tables: Tables, output: np.ndarray, bundle: Bundle, inputs: np.ndarray, positives: np.ndarray,
    noise: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """All inputs predict all positives."""
    for i in range(inputs.shape[0]):
        bundle.read[i] = bundle.moved[i] = address(tables.words, inputs[i])
    n = score_against(output, bundle, positives, noise)
    learn(bundle, inputs.shape[0], positives.shape[0], n, output.shape[1], rate)


@piece
def predict_summed(
    tables: SummedTables, output: np.ndarray, bundle: Bundle, inputs: np.ndarray, positives: np.ndarray,
    noise: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """All inputs predict all positives, as sums of their parts."""
    m, half, width = inputs.shape[0], bundle.rows.shape[0] // 2, output.shape[1]
    rows = bundle.context[2 * half :]
    bundle.rows[:] = 0
    for i in range(m):
        bundle.read[i], bundle.moved[i] = address(bundle.rows, i), address(bundle.rows, half + i)
        total(bundle.factor, bundle.read[i], rows, parts_of(tables, inputs[i], rows), width)
    n = score_against(output, bundle, positives, noise)
    learn(bundle, m, positives.shape[0], n, width, rate)
    for i in range(m):
        share(bundle.factor, bundle.moved[i], rows, parts_of(tables, inputs[i], rows), width)


@piece
def parts_of(tables: SummedTables, word: int, rows: np.ndarray) -> int:
    """Write the addresses of the rows of an n-gram's parts; gives how many there are."""
    first = tables.parts.offsets[word]
    count = tables.parts.offsets[word + 1] - first
    for k in range(count):
        rows[k] = address(tables.words, tables.parts.words[first + k])
    return int(count)


@piece
def score_against(output: np.ndarray, bundle: Bundle, positives: np.ndarray, noise: np.ndarray) -> int:
    """Put the positives and the noise words they share in a bundle; gives how many rows these are.

    So many noise words are drawn that each stands for one or two positives, but not for itself.
    """
    p = positives.shape[0]
    count = groups(p) * (noise.shape[0] // groups(bundle.read.shape[0]))
    for j in range(p):
        bundle.targets[j], bundle.weights[j] = address(output, positives[j]), 1
    for j in range(count):
        others = 0
        for q in range(p):
            others += positives[q] != noise[j]
        bundle.targets[p + j], bundle.weights[p + j] = address(output, noise[j]), others / groups(p)
    return int(p + count)


@piece
def ask_ahead(block: LatticeBlock, tables: Tables | SummedTables, i: int) -> None:
    """Fetch into the cache what place i needs, if there is one."""
    if i >= block.place[LAST]:
        return
    size = tables.words.shape[1] * tables.words.itemsize
    for n in range(block.starts.shape[1]):
        right, left = block.starts[i, n], block.lefts[i - n - 1, n]
        if right >= 0:
            prefetch(address(tables.words, right), size)
            prefetch(address(tables.right, right), size)
        if left >= 0:
            prefetch(address(tables.left, left), size)
    for j in range(block.noise.shape[1] // groups(block.starts.shape[1])):
        prefetch(address(tables.right, block.noise[i, j]), size)
        prefetch(address(tables.left, block.noise[i, j]), size)


def scratch(longest: int, negatives: int, width: int, *, summed: bool = False, dtype: type = np.float32) -> Bundle:
    """A thread's bundle for n-grams of up to `longest` tokens."""
    targets = longest + groups(longest) * negatives
    if not summed:
        return new_bundle(longest, targets, width, contexts=2 * longest, dtype=dtype)
    parts = longest * (longest + 1) // 2
    return new_bundle(longest, targets, width, contexts=2 * longest + parts, rows=2 * longest, dtype=dtype)
