"""Ridge regression on products against scikit-learn on explicit products; nearest tensors of a rank."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from embeddings.plugins.tensor_indexing import fitting
from embeddings.plugins.tensor_indexing.functions import PhraseVectors, tensor_indexing


def part(seed, n=60, dim=4):
    return PhraseVectors(*np.random.default_rng(seed).normal(size=(3, n, dim)).astype(np.float32))


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


def test_recovers_a_known_tensor():
    rng = np.random.default_rng(3)
    known = rng.normal(size=(4, 16))
    train, dev = (
        PhraseVectors(p.x, p.y, (pairs(p.x, p.y) @ known.T).astype(np.float32)) for p in (part(4, 400), part(5))
    )
    products, penalty = fitting.solve_products(train, dev, rng)
    assert penalty == fitting.PENALTIES[-1]
    np.testing.assert_allclose(tensor(products), known, atol=0.05)


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


def test_full_rank_equals_the_products():
    products, _ = fitting.solve_products(part(0), part(1), np.random.default_rng(0))
    x, y, _ = part(2)
    none = np.zeros((1, 4, 4))
    left, right = (np.vstack([none, half]) for half in fitting.low_rank(products, 4))
    indexed = tensor_indexing({"left": left, "right": right, "identity": np.zeros(2)}, x, y)
    np.testing.assert_allclose(indexed, pairs(x, y) @ tensor(products).T, atol=1e-6)


def test_zero_rows_give_zeros():
    nothing = PhraseVectors(*np.zeros((3, 5, 4), np.float32))
    products, _ = fitting.solve_products(nothing, nothing, np.random.default_rng(0))
    assert not tensor(products).any()
    words = part(0)._replace(x=np.zeros((60, 4), np.float32))
    products, _ = fitting.solve_products(words, words, np.random.default_rng(0))
    assert np.isfinite(tensor(products)).all()
