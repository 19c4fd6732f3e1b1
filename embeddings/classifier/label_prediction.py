"""The most probable labels of texts: means of rows, scores, and the tree of hierarchical softmax.

fastText adds `OFFSET` to every probability, and in a tree to every factor of it, so that its logarithm is finite.
"""

from collections.abc import Callable
from threading import Lock

import numpy as np

from embeddings.classifier.feature_extraction import Features, Scratch, new_scratch, sum_features
from embeddings.compilation.jit import entry_point, inline
from embeddings.indexes.result_heap import clear, insert, sort
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows
from embeddings.kernels.row_sums import score_dense_rows, score_quantised_rows
from embeddings.support.threads import run_slices

OFFSET = 1e-5


@entry_point
def rank_labels(probabilities: np.ndarray, threshold: float, offset: float, ids: np.ndarray, best: np.ndarray) -> None:
    """The labels of highest probability, best first.

    Arguments:
        probabilities: (texts, labels); those below `threshold` are skipped, and `offset` is added to others.
        ids, best: int64 and float64 (texts, k), the labels and their probabilities; -1 and 0 if there are fewer than k.
    """
    for i in range(ids.shape[0]):
        clear(ids[i], best[i])
        for label in range(probabilities.shape[1]):
            if probabilities[i, label] >= threshold:
                insert(ids[i], best[i], label, probabilities[i, label] + offset)
        finish_ranking(ids[i], best[i])


def rank_in_tree(
    hidden: np.ndarray, output: np.ndarray, children: np.ndarray, threshold: float, ids: np.ndarray, best: np.ndarray
) -> None:
    """The most probable labels by the tree of hierarchical softmax; see `rank_leaves` for the arguments."""
    labels = len(children) + 1
    # A search by probability visits a node for each label it finds: for many of them one pass over the tree is
    # faster.
    if 2 * ids.shape[1] > labels:
        products = np.empty((len(hidden), 2 * labels - 1))
        multiply_along_tree(hidden, output, children, OFFSET, products)
        rank_labels(products[:, :labels], threshold + OFFSET, 0.0, ids, best)
    else:
        rank_leaves(
            hidden, output, children, threshold, np.empty(labels + 1, np.int64), np.empty(labels + 1), ids, best
        )


@entry_point
def rank_leaves(
    hidden: np.ndarray, output: np.ndarray, children: np.ndarray, threshold: float, nodes: np.ndarray,
    products: np.ndarray, ids: np.ndarray, best: np.ndarray,
) -> None:  # fmt: skip
    """The most probable labels by a tree whose inner node i has the row `output[i]`; visits only nodes that can matter.

    The most probable node comes next, so that for a few labels few nodes are visited.

    Arguments:
        hidden: float32 (texts, dim).
        children: int64 (labels - 1, 2), the children of each inner node; node `labels + i` is the inner node i.
        nodes, products: scratch, int64 and float64 (labels + 1,).
    """
    labels = children.shape[0] + 1
    for i in range(ids.shape[0]):
        clear(ids[i], best[i])
        nodes[0], products[0], waiting = 2 * labels - 2, 1.0, 1
        while waiting > 0:
            node, product = nodes[0], products[0]
            waiting -= 1
            sink(nodes, products, waiting)
            if product < threshold + OFFSET or product < best[i, 0]:  # and so are all others
                break
            if node < labels:
                insert(ids[i], best[i], node, product)
                continue
            share = node_probability(hidden[i], output[node - labels])
            for side in range(2):
                part = product * ((share if side == 1 else 1.0 - share) + OFFSET)
                rise(nodes, products, waiting, children[node - labels, side], part)
                waiting += 1
        finish_ranking(ids[i], best[i])


@inline
def rise(nodes: np.ndarray, products: np.ndarray, slot: int, node: int, product: float) -> None:
    """Put a node into the free slot at the end of a heap, whose first product is the largest: it rises to its place."""
    while slot > 0 and products[(slot - 1) // 2] < product:
        parent = (slot - 1) // 2
        nodes[slot], products[slot] = nodes[parent], products[parent]
        slot = parent
    nodes[slot], products[slot] = node, product


@inline
def sink(nodes: np.ndarray, products: np.ndarray, size: int) -> None:
    """Put the last node of a heap, in slot `size`, in place of the first one, from where it sinks to its place."""
    node, product, slot, child = nodes[size], products[size], 0, 1
    while child < size:
        if child + 1 < size and products[child + 1] > products[child]:
            child += 1
        if products[child] <= product:
            break
        nodes[slot], products[slot] = nodes[child], products[child]
        slot, child = child, 2 * child + 1
    nodes[slot], products[slot] = node, product


@entry_point
def multiply_along_tree(
    hidden: np.ndarray, output: np.ndarray, children: np.ndarray, offset: float, products: np.ndarray
) -> None:
    """The product of the factors, plus `offset`, on the path to each node of a tree; (texts, 2 * labels - 1)."""
    labels = children.shape[0] + 1
    for i in range(hidden.shape[0]):
        products[i, 2 * labels - 2] = 1.0
        for inner in range(labels - 2, -1, -1):
            share, product = node_probability(hidden[i], output[inner]), products[i, labels + inner]
            products[i, children[inner, 0]] = product * (1.0 - share + offset)
            products[i, children[inner, 1]] = product * (share + offset)


@entry_point
def build_tree(counts: np.ndarray, children: np.ndarray) -> None:
    """Build fastText's Huffman tree of labels in descending order of counts.

    Arguments:
        counts: int64 (2 * labels - 1,), those of labels first; the others are set to those of inner nodes.
        children: int64 (labels - 1, 2), set to the children of each inner node.
    """
    labels = children.shape[0] + 1
    leaf, node = labels - 1, labels
    for inner in range(labels, 2 * labels - 1):
        total = 0
        for side in range(2):
            if leaf >= 0 and (node >= inner or counts[leaf] < counts[node]):
                child = leaf
                leaf -= 1
            else:
                child = node
                node += 1
            children[inner - labels, side] = child
            total += counts[child]
        counts[inner] = total


@inline
def node_probability(hidden: np.ndarray, row: np.ndarray) -> float:
    """The probability of the right child of an inner node, rounded as in fastText."""
    # In float32 and in this order, as in fastText, whose probabilities are to be met.
    score = np.float32(0)
    for d in range(hidden.shape[0]):
        score += hidden[d] * row[d]
    return np.float64(np.float32(1.0 / np.float64(np.float32(1) + np.exp(-score))))


@inline
def finish_ranking(ids: np.ndarray, best: np.ndarray) -> None:
    """Sort a result; where there is no label, the probability is 0."""
    sort(ids, best)
    for i in range(ids.shape[0]):
        if ids[i] < 0:
            best[i] = 0.0


MAX_SCORE_BYTES = 1 << 26  # of the scores of all rows
WORD_BYTES = 6  # of a word and the space after it, about
WORTH = 1  # uses of each row, on average, from which on the scores of all rows take less time than they save


class TextMeans:
    """The means of the rows of texts; can be used by several threads at a time.

    Arguments:
        features: how texts become rows.
        rows: the rows.
        dim: their number of components.
        gives_scores: whether the rows are scores of labels.
    """

    def __init__(self, features: Features, rows: Rows, dim: int, *, gives_scores: bool = False) -> None:
        self.gives_scores = gives_scores
        self._features, self._rows, self._dim = features, rows, dim
        self._unused_scratch: list[Scratch] = []

    def __call__(self, text: bytes, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The means of texts `text[starts[i]:starts[i + 1]]`, float32 (texts, dim), and their numbers of rows."""
        sums = np.zeros((len(starts) - 1, self._dim), np.float32)
        counts = np.empty(len(sums), np.int64)
        try:
            # Pop of a list is atomic, so that threads need no lock around the whole computation.
            scratch = self._unused_scratch.pop()
        except IndexError:  # other threads use all of it
            scratch = new_scratch(self._features, self._dim)
        sum_features(self._features, self._rows, np.frombuffer(text, np.uint8), starts, scratch, sums, counts)
        self._unused_scratch.append(scratch)
        # A product with the reciprocal in float32, as fastText computes it.
        sums *= (1 / np.maximum(counts, 1)).astype(np.float32)[:, None]
        return sums, counts


class RowScores:
    """Computes the scores of all rows as soon as so much text is classified that this saves time.

    The score of a label for a text is the mean of its scores for the rows of the text. If labels are few, these scores
    take less memory than the rows, and a prediction mostly waits for memory.
    """

    def __init__(self) -> None:
        self._bytes_read, self._lock = 0, Lock()
        self._means: TextMeans | None = None

    def __reduce__(self) -> tuple[type["RowScores"], tuple[()]]:
        """A copy, also by pickle, starts without scores."""
        return RowScores, ()

    def after(
        self, size: int, features: Features, rows: Rows, output: np.ndarray, threads: int | None
    ) -> TextMeans | None:
        """The scores of labels for texts, if they are worth it for a text of `size` bytes after the previous ones."""
        labels, dim = output.shape
        n_rows = len(rows.table)
        if 2 * labels > dim or 4 * labels * n_rows > MAX_SCORE_BYTES:
            return None
        # Other threads wait for the scores of all rows, which would otherwise be computed several times.
        with self._lock:
            self._bytes_read += size
            if self._means is None and self._bytes_read // WORD_BYTES * features.word_ngrams >= WORTH * n_rows:
                kernel: Callable[..., None] = score_dense_rows
                scores, factors = np.empty((n_rows, labels), np.float32), np.ascontiguousarray(output)
                if isinstance(rows, QuantisedRows):  # the scores of each centroid of each part, (labels, 256 * parts)
                    kernel, parts = score_quantised_rows, []
                    for first in range(0, dim, rows.part_size):
                        vectors = output[:, first : first + rows.part_size]
                        values = rows.centroids[CENTROIDS * first : CENTROIDS * (first + vectors.shape[1])]
                        parts.append(vectors @ values.reshape(CENTROIDS, -1).T)
                    factors = np.ascontiguousarray(np.concatenate(parts, axis=1), np.float32)
                run_slices(n_rows, lambda part: kernel(rows, factors, part.start, part.stop, scores), threads)
                # Otherwise each text is checked, so that the error comes where a text meets a broken row.
                if np.isfinite(scores).all():
                    self._means = TextMeans(features, DenseRows(scores), labels, gives_scores=True)
            return self._means
