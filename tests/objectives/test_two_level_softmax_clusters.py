"""Clusters of words by frequency."""

import numpy as np

from embeddings.objectives.two_level_softmax import cluster_starts


def test_clusters_of_frequent_words_are_small():
    counts = (1e6 / np.arange(1, 10_001)).astype(np.int64)
    sizes = np.diff(cluster_starts(counts))
    assert sizes.sum() == 10_000
    assert 80 <= len(sizes) <= 100
    assert sizes[0] <= 3
    assert 100 < sizes.max() < 400
    assert cluster_starts(np.array([3])).tolist() == [0, 1]
