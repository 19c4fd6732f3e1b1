"""Two-level hierarchical softmax (Goodman 2001) over clusters of words of similar frequency (Mikolov et al. 2011)."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.kernels.block import Block
from embeddings.kernels.gradient_steps import apply_objective_steps
from embeddings.kernels.loss_tally import count_step, tally_loss
from embeddings.kernels.row_operations import address, score
from embeddings.kernels.softmax import softmax_steps
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.table import Arrays, Table
from embeddings.objectives.objective import Objective, log_softmax, log_softmax_items, log_softmax_of_rows


class FrequencyClusters(NamedTuple):
    """Vectors of clusters (clusters * slots, padded dim) and output vectors of words (vocabulary * slots, padded dim).

    starts: (clusters + 1,) the first word of each cluster.
    cluster_of: (vocabulary,) the cluster of each word.
    """

    clusters: np.ndarray
    output: np.ndarray
    starts: np.ndarray
    cluster_of: np.ndarray


@implements(FrequencyClusters)
@inline
def learn_cluster(
    operand: FrequencyClusters, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slots: int, slot: int,
    first: int, frozen: bool,
) -> None:  # fmt: skip
    """P(word) = P(cluster) P(word in its cluster) (Goodman 2001): a softmax over clusters, and one over these words.

    g = rate * (y - softmax(x · o))    o += g * x    x += sum of g * o, of o before the step
    """
    word, width, clusters = block.words[i], operand.output.shape[1], operand.starts.shape[0] - 1
    cluster = operand.cluster_of[word]
    start, stop = operand.starts[cluster], operand.starts[cluster + 1]
    n = clusters + stop - start
    for j in range(clusters):
        buffers.targets[j] = address(operand.clusters, j * slots + slot)
    for j in range(stop - start):
        buffers.targets[clusters + j] = address(operand.output, (start + j) * slots + slot)
    score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
    loss = softmax_steps(buffers.scores, m, n, 0, clusters, cluster, rate)
    loss += softmax_steps(buffers.scores, m, n, clusters, n, clusters + word - start, rate)
    if count_step(buffers.tally):
        tally_loss(buffers.tally, loss, m)
    apply_objective_steps(buffers, m, n, width, frozen)


def cluster_starts(counts: np.ndarray) -> np.ndarray:
    """The first word of each of about sqrt(n) clusters, and n; int64 (clusters + 1,).

    Each cluster has the same share of the sum of sqrt(count), so that clusters of frequent words are small.
    """
    n = len(counts)
    shares = np.cumsum(np.sqrt(counts.astype(np.float64)))
    clusters = int(np.ceil(np.sqrt(n)))
    cluster_of = np.ceil(shares / shares[-1] * clusters).astype(np.int64)
    return np.append(np.unique(cluster_of, return_index=True)[1], n).astype(np.int64)


class FrequencyClustersObjective(Objective):
    """The probability of a word is that of its cluster times that of the word in its cluster."""

    cached_table = None

    @cached_property
    def starts(self) -> np.ndarray:
        """The first word of each cluster, and the number of words."""
        return cluster_starts(self.vocabulary.counts)

    @property
    def max_targets(self) -> int:
        """The largest number of target rows in a step: all clusters, and the words of the largest."""
        return len(self.starts) - 1 + int(np.diff(self.starts).max())

    def tables(self) -> dict[str, Table]:
        """The vectors of clusters and the output vectors of words."""
        return {"clusters": self.table(len(self.starts) - 1), **super().tables()}

    def operand(self, arrays: Arrays) -> FrequencyClusters:
        """The operand of one thread."""
        sizes = np.diff(self.starts)
        output = arrays[self.output_name]
        return FrequencyClusters(arrays["clusters"], output, self.starts, np.arange(len(sizes)).repeat(sizes))

    def log_probabilities(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int = 0) -> np.ndarray:
        """The sum of the logarithms of both probabilities."""
        of_clusters = log_softmax(self.scores(hidden, tables, "clusters", slot))
        scores = self.scores(hidden, tables, "output", slot)
        for cluster, (start, stop) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            scores[:, start:stop] = log_softmax(scores[:, start:stop]) + of_clusters[:, cluster : cluster + 1]
        return scores

    def word_log_probabilities(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """See `Objective`: the words of other clusters are not scored."""
        clusters = np.searchsorted(self.starts, words, side="right") - 1
        logarithms = log_softmax_items(
            lambda part: self.scores(hidden[part], tables, "clusters", slot), len(self.starts) - 1, rows, clusters
        )
        output = self.slot_rows(tables["output"], slot)
        for cluster in np.unique(clusters):
            examples, bounds = np.flatnonzero(clusters == cluster), self.starts[cluster : cluster + 2]
            logarithms[examples] += log_softmax_of_rows(
                hidden, output[slice(*bounds)], rows[examples], words[examples] - bounds[0]
            )
        return logarithms
