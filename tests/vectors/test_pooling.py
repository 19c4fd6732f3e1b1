"""Common components of vectors."""

import numpy as np
import pytest

import embeddings as em
from embeddings.vectors.pooling import common_components, remove_components


def test_components_are_at_most_those_the_texts_span():
    rng = np.random.default_rng(1)
    row = rng.standard_normal(5)
    for rows in (np.outer(rng.standard_normal(3), row), np.outer(rng.standard_normal(30), row)):
        components = common_components(rows, 4)
        assert components.shape == (1, 5)
        np.testing.assert_allclose(remove_components(components, rows), 0, atol=1e-12)
    for rows in (np.zeros((3, 5)), np.zeros((9, 5)), np.zeros((0, 5))):
        assert common_components(rows, 2).shape == (0, 5)


@pytest.mark.parametrize("pool", ["min", "max", "power-mean"])
def test_no_component_is_a_negative_zero(pool):
    vectors = em.Vectors(["a"], np.array([[0.0, -1.0]]))
    assert not np.signbit(em.embed(vectors, ["unknown", ""], pool=pool)).any()
    assert np.signbit(em.embed(vectors, ["a"], pool=pool)).reshape(-1, 2).all(axis=0).tolist() == [False, True]
