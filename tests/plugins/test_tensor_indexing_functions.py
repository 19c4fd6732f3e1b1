"""Each function against its formula; gradients against central differences."""

import naive
import numpy as np
import pytest
from composition_data import expected_vector, random_parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.errors import SettingError
from embeddings.plugins.tensor_indexing.functions import (
    FUNCTIONS,
    compose_rows,
    tensor_indexing,
    tensor_indexing_gradient,
)

shapes = st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(1, 5), st.integers(0, 2**32 - 1))


def rows(seed, n, dim):
    return np.random.default_rng(seed).normal(size=(3, n, dim))


def to_tables(parameters, elementwise, literal):
    """The parameters of a naive function as the tables hold them."""
    halves = (parameters["m"], parameters["u"]), (parameters["n"], parameters["v"])
    left, right = (np.ascontiguousarray(np.concatenate([a[None], b.transpose(1, 0, 2)])) for a, b in halves)
    return {"left": left, "right": right, "identity": np.array([elementwise, literal])}


def test_functions_with_few_parameters():
    x, y = np.array([[1.0, 2.0]]), np.array([[3.0, -5.0]])
    weights = {"weights": np.array([2.0, 0.5])}
    assert FUNCTIONS["additive"]({}, x, y).tolist() == [[4, -3]]
    assert FUNCTIONS["multiplicative"]({}, x, y).tolist() == [[3, -10]]
    assert FUNCTIONS["weighted-additive"](weights, x, y).tolist() == [[3.5, 1.5]]


@given(shapes, st.sampled_from([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.3, -2.0)]))
@settings(deadline=None, max_examples=40)
def test_tensor_indexing_equals_its_formula(shape, identity):
    dim, rank, n, seed = shape
    x, y, _ = rows(seed, n, dim)
    parameters = random_parameters(np.random.default_rng(seed), dim, rank)
    predicted = tensor_indexing(to_tables(parameters, *identity), x, y)
    expected = [
        expected_vector(a, b, **parameters, elementwise=identity[0], literal=identity[1])
        for a, b in zip(x, y, strict=True)
    ]
    np.testing.assert_allclose(predicted, expected, rtol=1e-10, atol=1e-10)


@given(shapes, st.sampled_from([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]))
@settings(deadline=None, max_examples=25)
def test_gradient_of_tensor_indexing(shape, identity):
    dim, rank, n, seed = shape
    x, y, z = rows(seed, n, dim)
    tables = to_tables(random_parameters(np.random.default_rng(seed), dim, rank), *identity)
    error, gradient = tensor_indexing_gradient(tables, x, y, z)
    np.testing.assert_allclose(error, tensor_indexing(tables, x, y) - z, atol=1e-12)
    assert set(gradient) == {"left", "right"}

    def loss():
        return ((tensor_indexing(tables, x, y) - z) ** 2).sum() / (2 * n)

    for name, slope in gradient.items():
        expected = naive.numerical_gradient(loss, tables[name])
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)


def test_blocks_do_not_change_the_result(monkeypatch):
    x, y, _ = rows(3, 50, 4).astype(np.float32)
    tables = to_tables(random_parameters(np.random.default_rng(3), 4, 2), 1, 0)
    whole = compose_rows("tensor-indexing", tables, x, y)
    monkeypatch.setattr("embeddings.support.cosine.BLOCK_BYTES", 700)
    np.testing.assert_array_equal(compose_rows("tensor-indexing", tables, x, y), whole)
    assert whole.dtype == np.float32


def test_overflow_is_refused():
    huge = np.full((1, 2), 1e30, np.float32)
    with pytest.raises(SettingError, match=r"multiplicative.*overflow"):
        compose_rows("multiplicative", {}, huge, huge)
