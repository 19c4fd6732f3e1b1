"""Points of the map: principal components against numpy, t-SNE that repeats."""

import numpy as np
import pytest

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
