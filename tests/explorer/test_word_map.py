"""Points of the map: principal components against numpy, t-SNE that repeats; groups of words."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError
from embeddings.explorer import word_map


@pytest.fixture
def units():
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.standard_normal((3, 6)), 12, axis=0) + 0.05 * rng.standard_normal((36, 6))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_principal_components_are_those_of_the_singular_value_decomposition(units):
    centred = units - units.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    expected = left[:, :3] * values[:3]
    components = word_map.principal_components(units, 3)
    signs = np.sign((components * expected).sum(axis=0))
    assert np.allclose(components, expected * signs, atol=1e-4)


def test_points_fill_the_unit_square(units):
    points = word_map.project(units, "pca", 1, lambda points, done: None)
    assert points.shape == (36, 2)
    assert np.isclose([points.min(), points.max()], [0, 1]).all()
    assert np.allclose((points.min(axis=0) + points.max(axis=0)) / 2, 0.5, atol=1e-6)


@pytest.mark.parametrize("rows", [np.ones((5, 3)), np.ones((20, 3)), np.ones((1, 1)), np.zeros((2, 4)), np.eye(4)])
def test_any_vectors_have_points(rows):
    points = word_map.project(rows.astype(np.float32), "pca", 1, lambda points, done: None)
    assert points.shape == (len(rows), 2)
    assert np.isfinite(points).all()


def test_groups_stay_together_and_the_map_repeats(units):
    pytest.importorskip("openTSNE")
    progress = []
    points = word_map.project(units, "tsne", 1, lambda points, done: progress.append(done))
    centres = points.reshape(3, 12, 2).mean(axis=1)
    nearest = np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1)
    assert nearest.tolist() == np.repeat(range(3), 12).tolist()
    assert progress[0] == 0
    assert progress == sorted(progress)
    assert progress[-1] == 1
    assert np.array_equal(word_map.project(units, "tsne", 1, lambda points, done: None), points)


def test_a_missing_library_is_named_with_its_extra(units, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openTSNE", None)
    with pytest.raises(EmbeddingsError, match=r"embeddings-toolkit\[explore\]"):
        word_map.project(units, "tsne", 1, lambda points, done: None)


@pytest.fixture
def vectors():
    rows = [[1, 0], [0.9, 0.1], [0.95, 0.05], [0, 1], [0.1, 0.9]]
    return em.Vectors(["a", "b", "c", "x", "y"], np.array(rows, np.float32))


def test_clusters_are_those_of_the_vectors_and_repeat(vectors):
    groups = word_map.cluster(vectors.unit_rows, vectors.words, 2, seed=1)
    assert groups.numbers.tolist() == [0, 0, 0, 1, 1]
    assert [sorted(name.split(", ")) for name in groups.names] == [["a", "b", "c"], ["x", "y"]]
    again = word_map.cluster(vectors.unit_rows, vectors.words, 2, seed=1)
    assert again.names == groups.names


@pytest.mark.parametrize("rows", [np.ones((6, 2)), np.zeros((3, 2)), np.eye(3)])
def test_more_clusters_than_vectors(rows):
    groups = word_map.cluster(rows.astype(np.float32), [str(row) for row in range(len(rows))], 5, seed=1)
    assert set(groups.numbers.tolist()) == set(range(len(groups.names)))


def test_an_error_ends_the_map_and_is_shown(vectors, monkeypatch):
    def fail(*args):
        raise RuntimeError

    monkeypatch.setattr(word_map, "project", fail)
    state = word_map.WordMap(vectors, words=5, projection="pca", groups=2, seed=1)
    state.compute()
    assert "RuntimeError" in state.error
