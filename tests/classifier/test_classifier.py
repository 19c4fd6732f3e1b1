"""Predictions of a classifier: batches, threads and quantised rows."""

import pickle

import numpy as np
import pytest
from supervised_models import LABELS, TEXTS, WORDS, naive_probabilities, supervised_model

from embeddings.classifier.classifier import encode_texts


def test_quantised_rows_are_used_without_decoding_if_they_are_many(load, monkeypatch):
    model = supervised_model(quantised=True, pruned=11, dim=5)
    monkeypatch.setattr("embeddings.classifier.classifier.SMALL_BYTES", 0)
    classifier = load(model.data)
    expected = [naive_probabilities(model, text) for text in TEXTS]
    np.testing.assert_allclose(classifier.predict_proba(TEXTS), expected, rtol=1e-4, atol=1e-6)


def test_threads_and_batches_do_not_change_results(load, monkeypatch):
    classifier = load(supervised_model().data)
    texts = TEXTS * 40
    expected = classifier.predict_proba(texts)
    monkeypatch.setattr("embeddings.classifier.classifier.BLOCK_SCORES", 15)
    np.testing.assert_allclose(classifier.predict_proba(texts, threads=3), expected, rtol=1e-6)  # of a matrix product
    one, many = (classifier.predict(texts, k=3, threads=threads) for threads in (1, 3))
    assert (one.labels == many.labels).all()
    np.testing.assert_allclose(one.probabilities, many.probabilities, rtol=1e-6)


def test_cached_words_give_the_same_sums(load, monkeypatch):
    """The first use of a word computes the sum of its rows, later ones find it, and other words may take its slot."""
    monkeypatch.setattr("embeddings.classifier.feature_extraction.CACHE_BYTES", 800)
    rng, model = np.random.default_rng(0), supervised_model(quantised=True, pruned=11)
    syllables = ["na", "ïv", "the", "北", "x" * 13]
    words = ["".join(rng.choice(syllables, rng.integers(1, 4))) for _ in range(60)]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(100)]
    classifier = load(model.data)
    expected = [naive_probabilities(model, text) for text in texts]
    for _ in range(2):
        np.testing.assert_allclose(classifier.predict_proba(texts, threads=1), expected, rtol=1e-4, atol=1e-6)
    (scratch,) = classifier._means._unused_scratch
    assert len(scratch.keys) == 8


@pytest.mark.parametrize("kind", [{}, {"quantised": True}, {"quantised": True, "pruned": 11}, {"max_n": 0}])
def test_scores_of_rows_give_the_same_predictions(load, kind):
    """With few labels and much text, the scores of rows are computed once; with many labels they never are."""
    texts = [" ".join(rng.choice(WORDS, 9)) for rng in map(np.random.default_rng, range(100))]
    for loss, labels, dim, uses_scores in [
        ("softmax", 2, 5, True), ("one against all", 3, 7, True), ("softmax", 3, 5, False),
        ("hierarchical softmax", 2, 5, False),
    ]:  # fmt: skip
        model = supervised_model(loss, labels=LABELS[:labels], dim=dim, **kind)
        classifier = load(model.data)
        assert not classifier.choose_means(20).gives_scores
        before = classifier.rank(*encode_texts(texts), means=classifier._means)
        assert classifier.choose_means(10_000).gives_scores == uses_scores
        after = classifier.rank(*encode_texts(texts))
        assert np.array_equal(before[0], after[0])
        np.testing.assert_allclose(before[1], after[1], rtol=1e-5)
        expected = [naive_probabilities(model, text) for text in texts]
        np.testing.assert_allclose(classifier.predict_proba(texts), expected, rtol=1e-4, atol=1e-6)
        assert not pickle.loads(pickle.dumps(classifier)).choose_means(20).gives_scores
