"""Statistics of vectors against their definitions."""

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.eval import evaluate
from embeddings.eval.tasks.vector_statistics import neighbour_counts
from embeddings.vectors.vectors import Vectors


def statistics(matrix):
    words = [f"w{i}" for i in range(len(matrix))]
    return {result.measure: result for result in evaluate(Vectors(words, matrix), stats=True)}


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    return (rng.standard_normal((400, 8)) * np.arange(1, 9) + 0.7).astype(np.float32)


def test_norms_and_directions(matrix):
    values = {name: result.value for name, result in statistics(matrix).items()}
    norms = np.linalg.norm(matrix, axis=1)
    units = matrix / norms[:, None]
    assert values["mean norm"] == pytest.approx(norms.mean())
    assert values["relative standard deviation of norms"] == pytest.approx(norms.std() / norms.mean())
    assert values["zero vectors"] == 0
    cosines = units.astype(float) @ units.T
    assert values["mean cosine"] == pytest.approx(cosines[np.triu_indices(400, 1)].mean(), abs=1e-6)
    eigenvalues = np.linalg.eigvalsh(np.cov(matrix.astype(float).T, bias=True))
    assert values["effective dimensions"] == pytest.approx(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())
    scaled = matrix.astype(float) / norms.mean()
    axes = np.linalg.svd(scaled)[2]
    sums = [np.exp(sign * scaled @ axis).sum() for axis in axes for sign in (1, -1)]
    assert values["isotropy"] == pytest.approx(min(sums) / max(sums), rel=1e-6)


def test_hubs(matrix):
    from scipy.stats import skew

    values = statistics(matrix)
    units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2)
    often = np.bincount(np.argsort(-cosines, axis=1)[:, :10].ravel(), minlength=400)
    assert values["hubness"].value == pytest.approx(skew(often), abs=0.01)
    assert values["largest hub"].value == pytest.approx(often.max(), abs=1)
    assert values["anti-hubs"].value == pytest.approx((often == 0).mean(), abs=0.01)


def test_equal_words_have_all_their_neighbours(matrix):
    assert neighbour_counts(np.ones((40, 2), np.float32)).sum() == 400
    assert neighbour_counts(matrix).sum() == 4000


def test_block_size_does_not_change_the_result(matrix, monkeypatch):
    whole = {name: result.value for name, result in statistics(matrix).items()}
    monkeypatch.setattr(
        "embeddings.eval.tasks.vector_statistics.CACHE_BYTES", 8 * 8 * 7
    )  # 400 rows are no multiple of 7
    parts = statistics(matrix)
    assert {name: result.value for name, result in parts.items()} == pytest.approx(whole)


def test_norms_that_overflow_an_exponent():
    rng = np.random.default_rng(1)
    matrix = 1e-3 * rng.standard_normal((5000, 3)).astype(np.float32)
    matrix[:3] = np.diag([9e3, 8e3, 7e3])  # some ten thousand times the mean length
    values = statistics(matrix)
    scaled = matrix.astype(float) / np.linalg.norm(matrix.astype(float), axis=1).mean()
    tops = [np.logaddexp.reduce(sign * scaled @ axis) for axis in np.linalg.svd(scaled)[2] for sign in (1, -1)]
    assert values["isotropy"].value == pytest.approx(np.exp(min(tops) - max(tops)), rel=1e-6)
    apart = statistics(np.array([[1, 1e-7], [1, -1e-7], [1e4, 0]] + [[1e-9, 0]] * 3000))
    assert 0 <= apart["isotropy"].value < 1e-100


def test_zero_vectors_are_not_hubs(matrix):
    """A zero vector would be a neighbour of everything where many vectors are opposite."""
    some = np.insert(matrix, np.repeat(np.arange(0, 400, 8), 2), 0, axis=0)
    values, without = statistics(some), statistics(matrix)
    for name in ("hubness", "anti-hubs", "largest hub"):
        assert values[name].value == without[name].value
        assert (values[name].covered, values[name].total) == (400, 500)
        assert "without zero vectors" in values[name].protocol
    assert values["zero vectors"].value == 0.2
    assert values["mean cosine"].value == pytest.approx(without["mean cosine"].value)
    assert "hubness" not in statistics(np.vstack([np.eye(10), np.zeros((30, 10))]))


def test_degenerate_vectors_have_fewer_statistics():
    assert set(statistics(np.zeros((3, 2)))) == {"mean norm", "relative standard deviation of norms", "zero vectors"}
    assert statistics(np.zeros((3, 2)))["zero vectors"].value == 1
    alike = statistics(np.ones((30, 4)))
    assert (alike["mean cosine"].value, "effective dimensions" in alike) == (pytest.approx(1), False)
    assert 0 <= alike["anti-hubs"].value < 1
    assert set(statistics(np.ones((1, 2)))) == {"mean norm", "relative standard deviation of norms", "zero vectors"}
    with pytest.raises(SettingError, match="the vector of 'w1' holds NaN or infinity"):
        statistics(np.array([[1, 2], [np.nan, 1]]))


def test_hubs_are_among_frequent_words_only(matrix, monkeypatch):
    monkeypatch.setattr("embeddings.eval.tasks.vector_statistics.HUB_WORDS", 100)
    assert statistics(matrix)["hubness"].covered == 100
    assert statistics(matrix)["hubness"].value == statistics(matrix[:100])["hubness"].value
    assert statistics(matrix)["mean norm"].covered == 400
