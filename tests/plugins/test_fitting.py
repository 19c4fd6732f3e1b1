"""Fitting composition functions: least squares against other solvers, and known functions."""

import dataclasses

import numpy as np
import pytest
from composition_data import expected_vector, synthetic_phrases

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, SettingError
from embeddings.plugins.tensor_indexing import functions
from embeddings.plugins.tensor_indexing.fitting import check_enough, fit
from embeddings.plugins.tensor_indexing.functions import PhraseVectors
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, to_examples


def part(seed, n=60, dim=4):
    return PhraseVectors(*np.random.default_rng(seed).normal(size=(3, n, dim)))


def test_weights_equal_least_squares():
    train = part(0)
    expected = np.linalg.lstsq(np.stack([train.x.ravel(), train.y.ravel()], 1), train.z.ravel(), rcond=None)[0]
    np.testing.assert_allclose(functions.solve_weights(train), expected)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 300.0])
def test_matrices_equal_ridge_regression(scale):
    from sklearn.linear_model import Ridge

    train, dev = (PhraseVectors(*(scale * rows for rows in part(seed))) for seed in (0, 1))
    found, penalty = functions.solve_matrices(train, dev)
    a, b = functions.solve_weights(train)
    known = np.hstack(train[:2])
    size = np.mean(known**2)
    errors = {}
    for tried in functions.PENALTIES:
        ridge = Ridge(alpha=tried * size * len(known), fit_intercept=False).fit(
            known, train.z - a * train.x - b * train.y
        )
        made = a * dev.x + b * dev.y + ridge.predict(np.hstack(dev[:2]))
        errors[tried] = ((made - dev.z) ** 2).sum(), ridge.coef_
    assert penalty == min(errors, key=lambda tried: errors[tried][0])
    both = np.hstack([found["left"][0] - a * np.eye(4), found["right"][0] - b * np.eye(4)])
    np.testing.assert_allclose(both, errors[penalty][1], rtol=1e-6, atol=1e-9)


def test_equal_words_can_be_fitted():
    ones = PhraseVectors(*np.ones((3, 20, 4)))
    found, _ = functions.solve_matrices(ones, ones)
    assert np.isfinite(found["left"]).all()
    np.testing.assert_allclose(functions.solve_weights(PhraseVectors(*np.zeros((3, 5, 2)))), 0)


@pytest.mark.parametrize("identity", ["elementwise", "literal", "none"])
def test_known_functions_are_recovered(identity):
    more = {"elementwise": {"elementwise": 1.0}, "literal": {"literal": 1.0}, "none": {}}[identity]
    vectors, triples, known = synthetic_phrases(**more)
    how = em.TensorIndexing(
        rank=2, identity=identity, penalty=0.0, min_phrases=50, fit_batch=16, fit_learning_rate=0.01
    )
    made = how.fit(vectors, triples, threads=1)
    x, y = vectors["w3"].astype(float), vectors["w7"].astype(float)
    for type in ("red", "blue"):
        expected = expected_vector(x, y, **known[type], **more)
        found = made.compose("w3", "w7", type=type, function="tensor-indexing")
        assert np.linalg.norm(found - expected) < 0.01 * np.linalg.norm(expected), type
        for function in ("additive", "weighted-additive", "multiplicative", "full-additive"):
            rival = made.compose("w3", "w7", type=type, function=function)
            assert np.linalg.norm(rival - expected) > 0.05 * np.linalg.norm(expected), function


def test_the_scale_of_vectors_does_not_matter():
    vectors, triples, _ = synthetic_phrases()
    larger = em.Vectors(vectors.words, vectors.matrix * np.float32(4))
    how = em.TensorIndexing(rank=2, min_phrases=50, fit_epochs=20)
    a, b = (how.fit(one, triples, threads=1).compose("w1", "w2") for one in (vectors, larger))
    np.testing.assert_allclose(4 * a, b, rtol=1e-3, atol=1e-3)


def test_small_types_are_noted_and_composed_like_any():
    vectors, triples, _ = synthetic_phrases()
    few = [dataclasses.replace(triple, type="green") if place < 7 else triple for place, triple in enumerate(triples)]
    made = em.TensorIndexing(min_phrases=50, fit_epochs=1).fit(vectors, few)
    (note,) = made.record["notes"]
    assert all(fact in note for fact in ("green", "7 phrases", "min_phrases is 50"))
    assert set(made.record["phrases"]) == {"red", "blue", ANY}
    with pytest.raises(SettingError, match=r"type.*blue, red, any.*green"):
        made.compose("w1", "w2", type="green")


def test_fitting_is_deterministic():
    vectors, triples, _ = synthetic_phrases(words=16)
    examples = to_examples(Vocabulary(vectors.words, np.zeros(len(vectors))), triples)
    how = em.TensorIndexing(min_phrases=50, fit_epochs=3)
    (a, record), (b, same_record) = (fit(vectors, examples, how, seed=5) for _ in range(2))
    np.testing.assert_array_equal(a["red/tensor-indexing/left"], b["red/tensor-indexing/left"])
    assert record == same_record
    assert check_enough(examples, how, 5)[1] == [ANY, "blue", "red"]


@pytest.mark.parametrize(("settings", "weights"), [({}, [1, 0]), ({"identity": "literal"}, [0, 1])])
def test_tensor_indexing_is_the_published_formula_in_two_readings(settings, weights):
    more = dict(zip(("elementwise", "literal"), weights, strict=True))
    vectors, triples, _ = synthetic_phrases(**more)
    model = em.TensorIndexing(rank=2, min_phrases=50, fit_epochs=3, **settings).fit(vectors, triples, threads=1)
    parameters = {name: model.tables[f"red/tensor-indexing/{name}"] for name in ("left", "right", "identity")}
    np.testing.assert_allclose(parameters["identity"], weights, atol=1e-6)  # W_i = U_i'V_i + I
    x, y = vectors["w1"].astype(np.float64), vectors["w2"].astype(np.float64)
    u, v = (parameters[side][1:].transpose(1, 0, 2) for side in ("left", "right"))
    m, n = parameters["left"][0], parameters["right"][0]
    expected = expected_vector(x, y, m=m, n=n, u=u, v=v, **more)
    composed = model.compose("w1", "w2", type="red", function="tensor-indexing")
    np.testing.assert_allclose(composed, expected, rtol=1e-4, atol=1e-4)
    mixture = model.compose("w1", "w2", type="red", function="tensor-additive")
    assert model.tables["red/tensor-additive/identity"].tolist() == [0, 0]
    np.testing.assert_array_equal(model.compose("w1", "w2", type="red"), mixture)
    assert np.abs(mixture - composed).max() > 0.01


def test_too_few_phrases_are_refused():
    vectors, triples, _ = synthetic_phrases()
    lost = [dataclasses.replace(triple, first="unheard") for triple in triples[:5]]
    for min_phrases, phrases, number in (
        (0, triples[:1], "1"),
        (0, triples[:4], "4"),
        (100, [*triples[5:25], *lost], "20"),
    ):
        with pytest.raises(CorpusError, match=rf"min_phrases={min_phrases} and held_out=0\.1.*got {number}\b"):
            em.TensorIndexing(min_phrases=min_phrases).fit(vectors, phrases)
