"""Vectors that several tests of indexes search."""

import numpy as np
import pytest

from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="session")
def clusters():
    """50 clusters of 10 vectors."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((50, 20)).repeat(10, axis=0) + 0.3 * rng.standard_normal((500, 20))
    return Vectors([f"w{i}" for i in range(500)], rows)


@pytest.fixture(scope="session")
def shifted_vectors():
    """Vectors whose mean is far from zero."""
    rng = np.random.default_rng(4)
    return Vectors([f"w{i}" for i in range(500)], 1 + rng.standard_normal((500, 12)))
