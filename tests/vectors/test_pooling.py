"""Common components of vectors."""

import numpy as np

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
