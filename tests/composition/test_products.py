"""Ridge regression on products against scikit-learn's on the products themselves; the nearest tensors of a rank."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from embeddings.plugins.tensor_indexing import cross_products
from embeddings.plugins.tensor_indexing.functions import FullTensor, TensorIndexing
from embeddings.plugins.tensor_indexing.linear_solvers import Part


def part(seed, n=60, dim=4):
    return Part(*np.random.default_rng(seed).normal(size=(3, n, dim)).astype(np.float32))


def pairs(x, y):
    """All products of a component of x and one of y, phrase by phrase."""
    return np.array([np.outer(a, b).ravel() for a, b in zip(x, y, strict=True)], np.float64)


def regressed(train, penalty):
    """What scikit-learn finds, (dim, dim * dim); the penalty in units of the mean squared length of the products."""
    known = pairs(train.x, train.y)
    size = (known**2).sum(axis=1).mean()
    return Ridge(alpha=penalty * size, fit_intercept=False, solver="svd").fit(known, train.z).coef_


@pytest.mark.parametrize("scales", [(1, 1, 1), (1e-3, 50, 1), (1, 1, 300)])
def test_it_is_ridge_regression_with_the_penalty_that_dev_likes(scales):
    train, dev = (Part(*(scale * rows for scale, rows in zip(scales, part(seed), strict=True))) for seed in (0, 1))
    found, penalty = cross_products.ridge(train, dev, np.random.default_rng(0))
    tensors = [regressed(train, tried) for tried in cross_products.PENALTIES]
    errors = [np.square(pairs(dev.x, dev.y) @ tensor.T - dev.z).sum() for tensor in tensors]
    rises = [place for place in range(1, len(errors)) if errors[place] >= errors[place - 1]]
    best = rises[0] - 1 if rises else len(errors) - 1
    assert penalty == cross_products.PENALTIES[best]
    np.testing.assert_allclose(
        cross_products.whole(found), tensors[best], rtol=2e-3, atol=2e-4 * abs(tensors[best]).max()
    )


def test_a_planted_tensor_is_found():
    rng = np.random.default_rng(3)
    tensor = rng.normal(size=(4, 16))
    train, dev = (Part(p.x, p.y, (pairs(p.x, p.y) @ tensor.T).astype(np.float32)) for p in (part(4, 400), part(5)))
    found, penalty = cross_products.ridge(train, dev, rng)
    assert penalty == cross_products.PENALTIES[-1]
    np.testing.assert_allclose(cross_products.whole(found), tensor, atol=0.05)


def test_of_many_phrases_a_random_part_is_used(monkeypatch):
    train, dev = part(0, 50), part(1)
    some = np.random.default_rng(7).permutation(50)[:20]
    wanted, _ = cross_products.ridge(Part(*(rows[some] for rows in train)), dev, np.random.default_rng(0))
    monkeypatch.setattr(cross_products, "MOST", 20)
    found, _ = cross_products.ridge(train, dev, np.random.default_rng(7))
    np.testing.assert_array_equal(found.weights, wanted.weights)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_nearest_of_a_rank(rank):
    found, _ = cross_products.ridge(part(0), part(1), np.random.default_rng(0))
    left, right = cross_products.low_rank(found, rank)
    assert left.shape == right.shape == (rank, 4, 4)
    for i in range(4):
        made, whole = left[:, i].T @ right[:, i], cross_products.whole(found)[i].reshape(4, 4)
        values = np.linalg.svd(whole, compute_uv=False)
        assert np.linalg.matrix_rank(made, tol=1e-9) == rank
        assert np.square(made - whole).sum() == pytest.approx(np.square(values[rank:]).sum(), rel=1e-6, abs=1e-12)


def test_at_full_rank_tensor_indexing_is_the_full_tensor():
    found, _ = cross_products.ridge(part(0), part(1), np.random.default_rng(0))
    x, y, _ = part(2)
    none = np.zeros((1, 4, 4))
    left, right = (np.vstack([none, half]) for half in cross_products.low_rank(found, 4))
    indexed = TensorIndexing().predict({"left": left, "right": right, "identity": np.zeros(2)}, x, y)
    full = FullTensor().predict({"left": none, "right": none, "tensor": cross_products.whole(found)}, x, y)
    np.testing.assert_allclose(indexed, full, atol=1e-6)


def test_rows_of_zeros_give_zeros():
    nothing = Part(*np.zeros((3, 5, 4), np.float32))
    found, _ = cross_products.ridge(nothing, nothing, np.random.default_rng(0))
    assert not cross_products.whole(found).any()
    words = part(0)._replace(x=np.zeros((60, 4), np.float32))
    found, _ = cross_products.ridge(words, words, np.random.default_rng(0))
    assert np.isfinite(cross_products.whole(found)).all()
