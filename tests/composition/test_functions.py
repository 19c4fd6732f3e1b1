"""Every function against its formula, number by number; gradients against central differences."""

import numpy as np
import pytest
from composition.planted import formula, parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.errors import SettingError
from embeddings.plugins.tensor_indexing.functions import FUNCTIONS, FullTensor, TensorIndexing, composed

shapes = st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(1, 5), st.integers(0, 2**32 - 1))


def rows(seed, n, dim):
    return np.random.default_rng(seed).normal(size=(3, n, dim))


def stacked(known, elementwise, literal):
    """The parameters of a naive function as the tables hold them."""
    halves = (known["m"], known["u"]), (known["n"], known["v"])
    left, right = (np.ascontiguousarray(np.concatenate([a[None], b.transpose(1, 0, 2)])) for a, b in halves)
    return {"left": left, "right": right, "identity": np.array([elementwise, literal])}


def test_simple_ones():
    x, y = np.array([[1.0, 2.0]]), np.array([[3.0, -5.0]])
    weights = {"weights": np.array([2.0, 0.5])}
    assert FUNCTIONS["additive"].predict({}, x, y).tolist() == [[4, -3]]
    assert FUNCTIONS["multiplicative"].predict({}, x, y).tolist() == [[3, -10]]
    assert FUNCTIONS["weighted-additive"].predict(weights, x, y).tolist() == [[3.5, 1.5]]


@given(shapes, st.sampled_from([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.3, -2.0)]))
@settings(deadline=None, max_examples=40)
def test_tensor_indexing_is_its_formula(shape, identity):
    dim, rank, n, seed = shape
    x, y, _ = rows(seed, n, dim)
    known = parameters(np.random.default_rng(seed), dim, rank)
    found = TensorIndexing().predict(stacked(known, *identity), x, y)
    wanted = [formula(a, b, **known, elementwise=identity[0], literal=identity[1]) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@given(shapes)
@settings(deadline=None, max_examples=20)
def test_full_tensor_is_its_formula(shape):
    dim, _, n, seed = shape
    rng = np.random.default_rng(seed)
    x, y, _ = rows(seed, n, dim)
    m, k, tensor = rng.normal(size=(dim, dim)), rng.normal(size=(dim, dim)), rng.normal(size=(dim, dim, dim))
    found = FullTensor().predict({"left": m[None], "right": k[None], "tensor": tensor.reshape(dim, -1)}, x, y)
    wanted = [[a @ tensor[i] @ b + m[i] @ a + k[i] @ b for i in range(dim)] for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


def slopes(function, made, name, x, y, z, step=1e-5):
    """Central differences of half the mean squared length of the error, by each number of a parameter."""
    slope = np.zeros(made[name].size)
    flat = made[name].reshape(-1)
    for place, value in enumerate(flat.tolist()):
        losses = []
        for moved in (value + step, value - step):
            flat[place] = moved
            losses.append(((function.predict(made, x, y) - z) ** 2).sum() / (2 * len(x)))
        flat[place] = value
        slope[place] = (losses[0] - losses[1]) / (2 * step)
    return slope.reshape(made[name].shape)


@given(shapes, st.sampled_from([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]))
@settings(deadline=None, max_examples=25)
def test_gradient_of_tensor_indexing(shape, identity):
    dim, rank, n, seed = shape
    x, y, z = rows(seed, n, dim)
    made = stacked(parameters(np.random.default_rng(seed), dim, rank), *identity)
    check_gradient(TensorIndexing(), made, ("left", "right"), x, y, z)


@given(shapes)
@settings(deadline=None, max_examples=10)
def test_gradient_of_the_full_tensor(shape):
    dim, _, n, seed = shape
    rng = np.random.default_rng(seed)
    x, y, z = rows(seed, n, dim)
    made = {name: rng.normal(size=(1, dim, dim)) for name in ("left", "right")}
    made["tensor"] = rng.normal(size=(dim, dim * dim))
    check_gradient(FullTensor(), made, ("left", "right", "tensor"), x, y, z)


def check_gradient(function, made, names, x, y, z):
    error, gradient = function.gradient(made, x, y, z)
    np.testing.assert_allclose(error, function.predict(made, x, y) - z, atol=1e-12)
    assert set(gradient) == set(names)
    for name in names:
        np.testing.assert_allclose(gradient[name], slopes(function, made, name, x, y, z), rtol=1e-6, atol=1e-7)


def test_composed_in_blocks_is_the_same(monkeypatch):
    x, y, _ = rows(3, 50, 4).astype(np.float32)
    made = stacked(parameters(np.random.default_rng(3), 4, 2), 1, 0)
    whole = composed("tensor-indexing", made, x, y)
    monkeypatch.setattr("embeddings.support.cosine.BLOCK_BYTES", 700)
    np.testing.assert_array_equal(composed("tensor-indexing", made, x, y), whole)
    assert whole.dtype == np.float32


def test_overflow_is_told():
    huge = np.full((1, 2), 1e30, np.float32)
    with pytest.raises(SettingError, match="composed by multiplicative overflows"):
        composed("multiplicative", {}, huge, huge)
