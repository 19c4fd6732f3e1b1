"""Whether texts with the same label cluster together: V-measure (Rosenberg and Hirschberg 2007)."""

from dataclasses import dataclass

import numpy as np

from embeddings.eval.datasets.labelled_texts import LabelledTextSet
from embeddings.eval.measures.categorisation import kmeans
from embeddings.eval.measures.text_vectors import TextVectors
from embeddings.eval.statistics.confidence_intervals import MIN_ITEMS, NO_INTERVAL, bootstrap_weights, percentiles
from embeddings.eval.statistics.item_scores import ItemScores
from embeddings.eval.statistics.paired_tests import TEXTS, Comparison, bootstrap_test
from embeddings.eval.statistics.results import Key, Result
from embeddings.support.cosine import normalize

PROTOCOL = (
    "V-measure, the harmonic mean of homogeneity and completeness; k-means of unit text vectors ({pooling}), as many "
    "clusters as labels, the best of 10 starts, seed 1; a text without a known word is zeros and counts; interval: "
    "bootstrap over texts, for fixed clusters"
)


def score_clustering(vectors: TextVectors, test: LabelledTextSet, *, name: str) -> list[ItemScores]:
    """The V-measure of k-means clusters, and word coverage."""
    embedded = vectors.embedder().embed(test.texts)
    names, label = np.unique(test.labels, return_inverse=True)
    reason, cluster = None, np.zeros_like(label)
    if embedded.covered.any():
        cluster = kmeans(normalize(embedded.matrix), len(names))
    else:
        reason = "no text has a known word"
    scores = ClusterScores(
        vectors=name,
        key=Key(test.name, "v-measure"),
        label=label,
        cluster=cluster,
        covered=embedded.covered,
        protocol=PROTOCOL.format(pooling=vectors.description),
        reason=reason,
    )
    return [scores, embedded.coverage(name, test.name)]


@dataclass(frozen=True, kw_only=True)
class ClusterScores(ItemScores):
    """The label and the cluster of each item, both int64 (items,)."""

    label: np.ndarray
    cluster: np.ndarray
    covered: np.ndarray

    def values(self, weights: np.ndarray) -> np.ndarray:
        """The V-measure in each resample (resamples,), from how often each item is drawn, (resamples, items)."""
        from scipy.sparse import csr_array

        size = int(self.cluster.max()) + 1
        cells, cell = np.unique(self.label * size + self.cluster, return_inverse=True)
        items = len(cell)
        indicator = csr_array((np.ones(items), (cell, np.arange(items))), (len(cells), items))
        counts = (indicator @ weights.T).T
        by_label = group_columns(counts, cells // size)
        by_cluster = group_columns(counts, cells % size)
        total = weights.sum(axis=1)
        joint, labels, clusters = (entropy(part, total) for part in (counts, by_label, by_cluster))
        mutual = labels + clusters - joint
        both = labels + clusters  # 2 h c / (h + c) with h = mutual / labels and c = mutual / clusters
        return np.asarray(np.divide(2 * mutual, both, out=np.ones_like(both), where=both > 0))

    def resampled(self) -> np.ndarray:
        """The value in each resample of the items, (resamples,)."""
        return np.concatenate([self.values(block) for block in bootstrap_weights(len(self.label))])

    @property
    def value(self) -> float:
        """The V-measure."""
        return float(np.clip(self.values(np.ones((1, len(self.label))))[0], 0, 1))

    def result(self) -> Result:
        """The value with its bootstrap interval."""
        covered, total = int(self.covered.sum()), len(self.label)
        if self.reason:
            return self.to_result(None, NO_INTERVAL, covered, total)
        interval = percentiles(self.resampled()) if total >= MIN_ITEMS else NO_INTERVAL
        return self.to_result(self.value, interval, covered, total)

    def compare(self, other: ItemScores) -> Comparison | None:
        """A paired test on all items; None where either has no value."""
        if not isinstance(other, ClusterScores) or self.reason or other.reason:
            return None
        items = len(self.label)
        interval, p = bootstrap_test(self.resampled() - other.resampled(), items)
        return self.pair(other, items).comparison((self.value, other.value), interval, items=items, p=p, test=TEXTS)


def group_columns(counts: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The sums of the columns of each group, (resamples, groups)."""
    return np.stack([counts[:, group == one].sum(axis=1) for one in np.unique(group)], axis=1)


def entropy(counts: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The entropy in nats of each row of counts (resamples, cells) with these totals (resamples,)."""
    shares = counts / total[:, None]
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))
