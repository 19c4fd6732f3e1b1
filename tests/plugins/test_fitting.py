"""Fitting composition functions: least squares against other solvers, blending, gradient descent, known functions."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from composition_data import expected_vector, synthetic_phrases
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.plugins.tensor_indexing import fitting, functions
from embeddings.plugins.tensor_indexing.fitting import SHARES, additive_scale, best_share, blend
from embeddings.plugins.tensor_indexing.functions import PhraseVectors, tensor_indexing
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY


def part(seed, n=60, dim=4):
    return PhraseVectors(*np.random.default_rng(seed).normal(size=(3, n, dim)))


def test_weights_equal_least_squares():
    train = part(0)
    expected = np.linalg.lstsq(np.stack([train.x.ravel(), train.y.ravel()], 1), train.z.ravel(), rcond=None)[0]
    np.testing.assert_allclose(functions.solve_weights(train), expected)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 300.0])
def test_matrices_equal_ridge_regression(scale):
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
    made = em.TensorIndexing(min_phrases=50, fit_epochs=1).fit(vectors, few, threads=1)
    (note,) = made.record["notes"]
    assert all(fact in note for fact in ("green", "7 phrases", "min_phrases is 50"))
    assert set(made.record["phrases"]) == {"red", "blue", ANY}
    with pytest.raises(SettingError, match=r"type.*blue, red, any.*green"):
        made.compose("w1", "w2", type="green")


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


def random_parameters(seed, rank=2, dim=4):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(1 + rank, dim, dim)) for name in ("left", "right")} | {
        "identity": rng.normal(size=2)
    }


@given(st.floats(0, 1), st.floats(-3, 3), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_blend_interpolates(share, scale, seed, rank):
    x, y, _ = part(seed)
    parameters = random_parameters(seed, rank)
    expected = (1 - share) * tensor_indexing(parameters, x, y) + share * scale * (x + y)
    np.testing.assert_allclose(tensor_indexing(blend(parameters, share, scale), x, y), expected, atol=1e-10)


def test_scale_equals_least_squares():
    some = part(1)
    expected = np.linalg.lstsq((some.x + some.y).reshape(-1, 1), some.z.ravel(), rcond=None)[0]
    assert additive_scale(some) == pytest.approx(expected[0])
    assert additive_scale(PhraseVectors(*np.zeros((3, 2, 2)))) == 0


def errors_and_rank(parameters, part, share, scale, phrases):
    """Squared errors, and mean reciprocal rank, phrase by phrase."""
    composed = tensor_indexing(blend(parameters, share, scale), part.x, part.y)
    ranks = []
    for one, true in zip(composed, part.z, strict=True):
        cosines = [one @ other / np.linalg.norm(other) for other in phrases]
        ranks.append(1 + sum(cosine > one @ true / np.linalg.norm(true) + 1e-9 for cosine in cosines))
    return ((composed - part.z) ** 2).sum(axis=1), np.mean(1 / np.array(ranks))


@pytest.mark.parametrize("is_allowed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_best_share_has_the_best_rank_among_allowed_errors(seed, is_allowed):
    """The targets are mostly additive; shares are allowed if full additive composition errs clearly more."""
    rng = np.random.default_rng(seed)
    train, dev = (
        p._replace(z=p.x + p.y + rng.normal(scale=1.0, size=p.x.shape)) for p in (part(seed), part(seed + 50))
    )
    parameters, linear = random_parameters(seed), random_parameters(seed + 9, rank=0)
    parameters["left"][0] = parameters["right"][0] = linear["left"][0] = linear["right"][0] = np.eye(4)
    parameters["left"][1:] *= 0.3
    linear["identity"] = np.zeros(2)
    linear["left"] = linear["left"] + rng.normal(scale=3 if is_allowed else 0.3, size=(4, 4))
    parameters["identity"] = parameters["identity"] * 0.1
    scale = additive_scale(train)
    phrases = np.concatenate([dev.z, train.z])
    by_share = {share: errors_and_rank(parameters, dev, share, scale, phrases) for share in SHARES}
    linear_errors = errors_and_rank(linear, dev, 0, 0, phrases)[0]
    allowed = {}
    for share, (errors, rank) in by_share.items():
        losses = errors - linear_errors
        if losses.mean() < -losses.std() / np.sqrt(len(losses)):
            allowed[share] = rank
    assert bool(allowed) == is_allowed
    if not allowed:
        allowed = {share: -errors.sum() for share, (errors, _) in by_share.items()}
    assert best_share(parameters, linear, scale, dev, train) == max(allowed, key=allowed.get)


def test_share_is_recorded_and_can_be_set():
    vectors, triples, _ = synthetic_phrases()
    how = {"min_phrases": 50, "fit_epochs": 2, "rank": 1}
    chosen = em.TensorIndexing(**how).fit(vectors, triples, threads=1)
    assert set(chosen.record["additive_share"]) == {"any", "red", "blue"}
    none, half, all_ = (
        em.TensorIndexing(**how, additive_share=share).fit(vectors, triples, threads=1) for share in (0, 0.5, 1)
    )
    assert half.record["additive_share"]["red"] == 0.5
    a, b, c = (model.compose("w1", "w2", type="red") for model in (none, half, all_))
    np.testing.assert_allclose(b, (a + c) / 2, atol=1e-5)
    both = vectors["w1"] + vectors["w2"]
    assert c @ both / np.linalg.norm(c) / np.linalg.norm(both) == pytest.approx(1, abs=1e-5)
    with pytest.raises(SettingError, match=r"additive_share.*1\.5"):
        em.TensorIndexing(additive_share=1.5)


class Counting(fitting.Adam):
    """Adds one at every step, whatever the learning rate."""

    def step(self, parameters, gradient, rate):
        parameters["steps"] += 1


def test_early_stopping_restores_the_best(monkeypatch):
    """The function improves for three epochs, then gets worse; its parameter counts updates."""
    monkeypatch.setattr(fitting, "Adam", Counting)
    monkeypatch.setattr(fitting, "tensor_indexing", lambda parameters, x, y: x * 0 + abs(3.0 - parameters["steps"][0]))
    monkeypatch.setattr(
        fitting, "tensor_indexing_gradient", lambda parameters, x, y, z: (z * 0, {"steps": np.array([-1.0])})
    )
    target = PhraseVectors(*np.zeros((3, 1, 1)))
    how = SimpleNamespace(fit_learning_rate=0.1, fit_epochs=100, fit_batch=8, penalty=0, patience=4)
    start, reports = {"steps": np.zeros(1)}, []
    one = target._replace(z=target.z + 1e-3)
    best, epochs = fitting.descend(
        start,
        one,
        one,
        how,
        np.random.default_rng(0),
        lambda number, epoch: reports.append((number, epoch)),
    )
    assert best["steps"] == [3]
    assert start["steps"] == [0]
    assert [epoch.learning_rate for epoch in epochs] == [0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.025, 0.0125]
    assert min(epochs, key=lambda epoch: epoch.dev) is epochs[3]
    assert [number for number, _ in reports] == [1, 2, 3, 4, 5, 6, 7]
    assert epochs[0].train is None


def test_overflow_restores_the_best():
    train, dev = part(0), part(1)
    start = {name: np.ones((2, 4, 4), np.float32) for name in ("left", "right")} | {"identity": np.zeros(2, np.float32)}
    how = SimpleNamespace(fit_learning_rate=1e20, fit_epochs=50, fit_batch=8, penalty=0, patience=3)
    best, epochs = fitting.descend(start, train, dev, how, np.random.default_rng(0))
    assert len(epochs) == 4
    np.testing.assert_array_equal(best["left"], start["left"])


def test_penalty_keeps_parameters_near_the_start():
    train = part(0)
    start = {name: np.full((2, 4, 4), 0.5) for name in ("left", "right")} | {"identity": np.zeros(2)}
    how = SimpleNamespace(fit_learning_rate=0.01, fit_epochs=300, fit_batch=60, penalty=1e5, patience=300)
    best, _ = fitting.descend(start, train, train, how, np.random.default_rng(0))
    np.testing.assert_allclose(best["left"], 0.5, atol=0.011)
    free, _ = fitting.descend(
        start, train, train, SimpleNamespace(**{**vars(how), "penalty": 0}), np.random.default_rng(0)
    )
    assert abs(free["left"] - 0.5).max() > 0.1


def pairs(x, y):
    """All products of a component of x and one of y, phrase by phrase."""
    return np.array([np.outer(a, b).ravel() for a, b in zip(x, y, strict=True)], np.float64)


def tensor(products):
    """Every W_i, (dim, dim * dim)."""
    return np.stack([products.matrix(i).ravel() for i in range(products.x.shape[1])])


def sklearn_solution(train, penalty):
    """The solution of scikit-learn, (dim, dim * dim); the penalty in units of the mean squared length of products."""
    features = pairs(train.x, train.y)
    size = (features**2).sum(axis=1).mean()
    return Ridge(alpha=penalty * size, fit_intercept=False, solver="svd").fit(features, train.z).coef_


@pytest.mark.parametrize("scales", [(1, 1, 1), (1e-3, 50, 1), (1, 1, 300)])
def test_equals_ridge_regression_with_the_best_penalty_on_dev(scales):
    train, dev = (
        PhraseVectors(*(scale * rows for scale, rows in zip(scales, part(seed), strict=True))) for seed in (0, 1)
    )
    products, penalty = fitting.solve_products(train, dev, np.random.default_rng(0))
    tensors = [sklearn_solution(train, tried) for tried in fitting.PENALTIES]
    errors = [np.square(pairs(dev.x, dev.y) @ one.T - dev.z).sum() for one in tensors]
    rises = [place for place in range(1, len(errors)) if errors[place] >= errors[place - 1]]
    best = rises[0] - 1 if rises else len(errors) - 1
    assert penalty == fitting.PENALTIES[best]
    np.testing.assert_allclose(tensor(products), tensors[best], rtol=2e-3, atol=2e-4 * abs(tensors[best]).max())


def test_many_phrases_are_sampled(monkeypatch):
    train, dev = part(0, 50), part(1)
    some = np.random.default_rng(7).permutation(50)[:20]
    expected, _ = fitting.solve_products(PhraseVectors(*(rows[some] for rows in train)), dev, np.random.default_rng(0))
    monkeypatch.setattr(fitting, "MAX_PHRASES", 20)
    products, _ = fitting.solve_products(train, dev, np.random.default_rng(7))
    np.testing.assert_array_equal(products.weights, expected.weights)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_low_rank_is_the_nearest_tensor(rank):
    products, _ = fitting.solve_products(part(0), part(1), np.random.default_rng(0))
    left, right = fitting.low_rank(products, rank)
    assert left.shape == right.shape == (rank, 4, 4)
    for i in range(4):
        approximation, exact = left[:, i].T @ right[:, i], tensor(products)[i].reshape(4, 4)
        values = np.linalg.svd(exact, compute_uv=False)
        assert np.linalg.matrix_rank(approximation, tol=1e-9) == rank
        assert np.square(approximation - exact).sum() == pytest.approx(
            np.square(values[rank:]).sum(), rel=1e-6, abs=1e-12
        )


def test_zero_rows_give_zeros():
    nothing = PhraseVectors(*np.zeros((3, 5, 4), np.float32))
    products, _ = fitting.solve_products(nothing, nothing, np.random.default_rng(0))
    assert not tensor(products).any()
    words = part(0)._replace(x=np.zeros((60, 4), np.float32))
    products, _ = fitting.solve_products(words, words, np.random.default_rng(0))
    assert np.isfinite(tensor(products)).all()
