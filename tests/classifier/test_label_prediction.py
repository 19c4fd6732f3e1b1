"""The most probable leaves of a tree, compared with the probabilities of all leaves."""

import numpy as np
import pytest

import embeddings as em
from embeddings.classifier.label_prediction import build_tree, multiply_along_tree, rank_in_tree

LABELS, DIM, TEXTS = 203, 7, 20


@pytest.fixture(scope="module")
def tree():
    """Texts, rows of inner nodes, children, and the exact probabilities of labels."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((TEXTS, DIM)).astype(np.float32)
    output = rng.standard_normal((LABELS, DIM)).astype(np.float32)
    counts = np.concatenate([np.sort(rng.integers(1, 99, LABELS))[::-1], np.zeros(LABELS - 1, np.int64)])
    children, products = np.empty((LABELS - 1, 2), np.int64), np.empty((TEXTS, 2 * LABELS - 1))
    build_tree(counts, children)
    multiply_along_tree(hidden, output, children, 0.0, products)
    return hidden, output, children, products[:, :LABELS]


@pytest.mark.parametrize("k", [1, 2, 10, 101, 102, LABELS])
@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.3])
def test_the_most_probable_leaves_are_found(tree, k, threshold):
    hidden, output, children, expected = tree
    ids, best = np.empty((TEXTS, k), np.int64), np.empty((TEXTS, k))
    rank_in_tree(hidden, output, children, threshold, ids, best)
    order = np.argsort(-expected, axis=1)[:, :k]
    top = np.take_along_axis(expected, order, axis=1)
    sure = top > threshold + 1e-3 if threshold else top > 1e-4
    assert (ids[sure] >= 0).all()
    np.testing.assert_allclose(best[sure], top[sure], atol=2e-4)  # each factor of a path is larger by 0.00001
    assert (ids[top < threshold - 1e-3] == -1).all()
    assert (np.diff(best, axis=1) <= 0).all()
    found = ids >= 0
    np.testing.assert_allclose(best[found], np.take_along_axis(expected, np.maximum(ids, 0), axis=1)[found], atol=2e-4)


@pytest.mark.parametrize("objective", ["softmax", "hierarchical-softmax", "one-vs-all"])
def test_no_probability_exceeds_one(objective):
    """fastText adds 1e-5, and prints 1.00001."""
    lines = ["__label__a good", "__label__b bad"] * 50
    settings = {"dim": 8, "epochs": 300, "learning_rate": 1.0, "min_count": 1}
    classifier = em.train("classifier", lines, objective=objective, threads=1, **settings).classifier
    assert 0.99 < classifier.predict_proba(["good"]).max() <= 1
    assert "1.00001" not in str(classifier.predict(["good"], k=2))
