"""Random vectors, and the same as gensim's KeyedVectors."""

import numpy as np
import pytest
from clustered_vectors import clusters as clusters
from clustered_vectors import shifted_vectors as shifted_vectors
from optional_libraries import import_gensim

from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="session")
def random():
    rng = np.random.default_rng(3)
    return Vectors([f"w{i}" for i in range(500)], rng.standard_normal((500, 20)).astype(np.float32))


@pytest.fixture(scope="session")
def counted_vectors():
    rng = np.random.default_rng(3)
    return Vectors([f"w{i}" for i in range(300)], rng.standard_normal((300, 10)), counts=range(300, 0, -1))


def as_keyed_vectors(vectors):
    import_gensim()
    from gensim.models import KeyedVectors

    keyed_vectors = KeyedVectors(vectors.dim)
    keyed_vectors.add_vectors(vectors.words, vectors.matrix)
    return keyed_vectors


@pytest.fixture(scope="session")
def keyed_vectors(random):
    return as_keyed_vectors(random)


@pytest.fixture(scope="session")
def counted_keyed_vectors(counted_vectors):
    return as_keyed_vectors(counted_vectors)
