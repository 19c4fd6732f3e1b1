"""Clustering of text vectors."""

import numpy as np
import pytest
from text_sets import by_measure, labelled

import embeddings as em


def test_clustering_equals_scikit_learn(vectors, tmp_path):
    from sklearn.metrics import v_measure_score

    from embeddings.eval.statistics.results import Key
    from embeddings.eval.tasks.text_labels import ClusterScores

    path, _ = labelled(tmp_path / "texts.csv")
    result = by_measure(em.evaluate(vectors, clustering=path))["v-measure", None]
    assert 0.05 < result.low < result.value < result.high < 1
    rng = np.random.default_rng(1)
    for labels, clusters in ((3, 4), (2, 2), (5, 1), (1, 3), (1, 1)):
        label, cluster = rng.integers(labels, size=50), rng.integers(clusters, size=50)
        scores = ClusterScores(
            vectors="v", key=Key("t", "v-measure"), protocol="", label=label, cluster=cluster, covered=np.ones(50, bool)
        )
        assert scores.value == pytest.approx(v_measure_score(label, cluster), abs=1e-9)
        weights = rng.multinomial(50, np.full(50, 0.02), size=3)
        repeated = [v_measure_score(label.repeat(row), cluster.repeat(row)) for row in weights]
        assert scores.score(weights.astype(float)) == pytest.approx(repeated, abs=1e-9)
