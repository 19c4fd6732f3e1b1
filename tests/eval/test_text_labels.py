"""Clustering and probes of text vectors."""

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


def test_probe_equals_scikit_learn(vectors, tmp_path):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    (train, learned), (test, asked) = labelled(tmp_path / "a.csv", 200), labelled(tmp_path / "b.csv", 80, seed=2)
    results = by_measure(em.evaluate(vectors, probe=f"{train},{test}"))
    rows = em.embed(vectors, [one for one, _ in learned + asked]).astype(float)
    labels, actual = [label for _, label in learned], [label for _, label in asked]
    theirs = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(rows[:200], labels)
    predicted, common = theirs.predict(rows[200:]), ["a"] * 80
    for method, guess in (("logistic regression", predicted), ("most frequent label", common)):
        assert results["accuracy", method].value == pytest.approx(accuracy_score(actual, guess))
        macro = f1_score(actual, guess, average="macro", zero_division=0)
        assert results["macro-f1", method].value == pytest.approx(macro)
    assert results["accuracy", "logistic regression"].low > results["accuracy", "most frequent label"].value
