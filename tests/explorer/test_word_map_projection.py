"""Points of the map: principal components against numpy, t-SNE that repeats, and its cache."""

import numpy as np
import pytest

from embeddings.errors import EmbeddingsError
from embeddings.explorer import word_map
from embeddings.support import cache_folder


@pytest.fixture
def units():
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.standard_normal((3, 6)), 12, axis=0) + 0.05 * rng.standard_normal((36, 6))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(cache_folder.VARIABLE, str(tmp_path))
    return tmp_path / "maps"


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
def test_any_vectors_have_points(rows, cache):
    points = word_map.project(rows.astype(np.float32), "pca", 1, lambda points, done: None)
    assert points.shape == (len(rows), 2)
    assert np.isfinite(points).all()


def test_groups_stay_together_and_the_map_repeats(units, cache, monkeypatch):
    pytest.importorskip("openTSNE")
    progress = []
    points = word_map.project(units, "tsne", 1, lambda points, done: progress.append(done))
    centres = points.reshape(3, 12, 2).mean(axis=1)
    nearest = np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1)
    assert nearest.tolist() == np.repeat(range(3), 12).tolist()
    assert progress[0] == 0
    assert progress == sorted(progress)
    assert progress[-1] == 1
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes()[:-4])  # damaged: computed again, to the same
    assert np.array_equal(word_map.project(units, "tsne", 1, lambda points, done: None), points)
    monkeypatch.setattr(word_map, "tsne", lambda *_: pytest.fail("not from the cache"))
    assert np.array_equal(word_map.project(units, "tsne", 1, lambda points, done: None), points)


def test_the_cache_holds_a_bounded_number_of_maps(units, cache, monkeypatch):
    monkeypatch.setattr(word_map, "tsne", lambda components, seed, report: components[:, :2])
    monkeypatch.setattr(word_map, "MAX_CACHED", 3)
    for seed in range(5):
        word_map.project(units, "tsne", seed, lambda points, done: None)
    assert len(list(cache.iterdir())) == 3


@pytest.mark.parametrize("header", [b"", b"(((((((((", b"{'descr': \0"])
def test_a_damaged_map_in_the_cache_is_made_again(units, cache, monkeypatch, header):
    monkeypatch.setattr(word_map, "tsne", lambda components, seed, report: components[:, :2])
    expected = word_map.project(units, "tsne", 1, lambda points, done: None)
    (path,) = cache.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:10] + header + content[10 + len(header) :] if header else b"")
    np.testing.assert_array_equal(word_map.project(units, "tsne", 1, lambda points, done: None), expected)
    assert path.read_bytes() == content


def test_a_missing_library_is_named_with_its_extra(units, cache, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openTSNE", None)
    with pytest.raises(EmbeddingsError, match=r"embeddings-toolkit\[explore\]"):
        word_map.project(units, "tsne", 1, lambda points, done: None)
