"""Pruned and quantised classifiers, compared with a naive classifier that leaves the same rows out."""

from dataclasses import replace

import numpy as np
import pytest
from supervised_models import LOSSES, TEXTS, WORDS, naive_probabilities, supervised_model

import embeddings as em
from embeddings.classifier.classifier import prune
from embeddings.errors import SettingError
from embeddings.kernels.matrix_rows import DenseRows


def naive_pruned(model, cutoff):
    """The model with the rows of largest norm only."""
    norms = np.linalg.norm(model.inputs, axis=1)
    norms[0] = np.inf  # </s>
    rows = sorted(np.argsort(-norms)[:cutoff])
    size, settings = len(WORDS), dict(model.settings)
    words, buckets = [row for row in rows if row < size], [row - size for row in rows if row >= size]
    settings |= {"words": [WORDS[row] for row in words], "used": {b: i for i, b in enumerate(buckets)}}
    settings |= {} if buckets else {"max_n": 0, "word_ngrams": 1, "used": {}}
    return model._replace(inputs=model.inputs[rows], settings=settings)


@pytest.mark.parametrize("cutoff", [1, 2, 10, 25, 38])
def test_the_rows_of_largest_norm_are_kept(load, cutoff):
    model = supervised_model()
    pruned = prune(load(model.data), cutoff)
    expected = naive_pruned(model, cutoff)
    assert np.array_equal(pruned.inputs.table, expected.inputs)
    np.testing.assert_allclose(
        pruned.predict_proba(TEXTS), [naive_probabilities(expected, text) for text in TEXTS], rtol=1e-4, atol=1e-6
    )
    assert len(pruned.word_counts) == pruned.features.words


def test_only_n_grams_without_a_trace(load):
    """If no row of an n-gram is kept, there are no n-grams."""
    model = supervised_model()
    inputs = model.inputs.copy()
    inputs[len(WORDS) :] *= 1e-3
    model = model._replace(inputs=inputs, data=model.data.replace(model.inputs.tobytes(), inputs.tobytes()))
    pruned = prune(load(model.data), 5)
    assert pruned.features.words == 5
    expected = [naive_probabilities(naive_pruned(model, 5), text) for text in TEXTS]
    np.testing.assert_allclose(pruned.predict_proba(TEXTS), expected, rtol=1e-4, atol=1e-6)


def test_pruning_twice_is_pruning_once(load):
    classifier = load(supervised_model().data)
    twice, once = prune(prune(classifier, 25), 12), prune(classifier, 12)
    assert np.array_equal(twice.inputs.table, once.inputs.table)
    assert np.array_equal(twice.bucket_rows, once.bucket_rows)
    assert twice.features.text.tobytes() == once.features.text.tobytes()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "settings", [{}, {"cutoff": 20}, {"cutoff": 20, "qnorm": True, "qout": True, "dsub": 3}, {"cutoff": 1}], ids=str
)
def test_quantised_classifiers_are_written_and_read(load, tmp_path, loss, settings):
    quantised = load(supervised_model(loss).data).quantize(**settings)
    quantised.export(tmp_path / "q.ftz")
    loaded = em.load_classifier(tmp_path / "q.ftz")
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), quantised.predict_proba(TEXTS))
    assert loaded.predict(TEXTS).labels.tolist() == quantised.predict(TEXTS).labels.tolist()
    loaded.export(tmp_path / "again.ftz")
    assert (tmp_path / "again.ftz").read_bytes() == (tmp_path / "q.ftz").read_bytes()


def test_ngrams_that_did_not_occur_in_training_are_left_out(load, tmp_path):
    pruned = prune(load(supervised_model().data), 25)
    trained = replace(pruned, features=pruned.features._replace(counts_missing=True))
    assert np.abs(trained.predict_proba(TEXTS) - pruned.predict_proba(TEXTS)).max() > 0.01
    quantised = trained.quantize(dsub=5)
    np.testing.assert_array_equal(quantised.predict_proba(TEXTS), pruned.predict_proba(TEXTS))
    quantised.export(tmp_path / "q.ftz")
    loaded = em.load_classifier(tmp_path / "q.ftz")
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), pruned.predict_proba(TEXTS))


def test_few_rows_are_quantised_exactly(load):
    classifier = load(supervised_model().data)
    assert np.array_equal(classifier.quantize(dsub=5).predict_proba(TEXTS), classifier.predict_proba(TEXTS))


def test_arguments_out_of_range(load):
    classifier = load(supervised_model().data)
    for arguments in ({"cutoff": 0}, {"dsub": 0}, {"dsub": 6}):
        with pytest.raises(SettingError):
            classifier.quantize(**arguments)
    with pytest.raises(SettingError, match="already"):
        classifier.quantize().quantize()
    broken = replace(classifier, inputs=DenseRows(np.full_like(classifier.inputs.table, np.nan)))
    for arguments in ({}, {"cutoff": 5}):
        with pytest.raises(SettingError, match="NaN"):
            broken.quantize(**arguments)
