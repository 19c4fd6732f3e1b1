"""Groups of words."""

import numpy as np
import pytest

import embeddings as em
from embeddings.explorer.word_map import cluster


@pytest.fixture
def vectors():
    rows = [[1, 0], [0.9, 0.1], [0.95, 0.05], [0, 1], [0.1, 0.9]]
    return em.Vectors(["a", "b", "c", "x", "y"], np.array(rows, np.float32))


def test_clusters_are_those_of_the_vectors_and_repeat(vectors):
    groups = cluster(vectors.unit_rows, vectors.words, 2, seed=1)
    assert groups.numbers.tolist() == [0, 0, 0, 1, 1]
    assert [sorted(name.split(", ")) for name in groups.names] == [["a", "b", "c"], ["x", "y"]]
    again = cluster(vectors.unit_rows, vectors.words, 2, seed=1)
    assert again.names == groups.names


@pytest.mark.parametrize("rows", [np.ones((6, 2)), np.zeros((3, 2)), np.eye(3)])
def test_more_clusters_than_vectors(rows):
    groups = cluster(rows.astype(np.float32), [str(row) for row in range(len(rows))], 5, seed=1)
    assert set(groups.numbers.tolist()) == set(range(len(groups.names)))
