"""Plain facts beside obvious twins."""

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.eval import evaluate
from embeddings.eval.vector_statistics import occurrences_of
from embeddings.vectors.vectors import Vectors


def found(matrix):
    words = [f"w{i}" for i in range(len(matrix))]
    return {result.measure: result for result in evaluate(Vectors(words, matrix), facts=True)}


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    return (rng.standard_normal((400, 8)) * np.arange(1, 9) + 0.7).astype(np.float32)


def test_lengths_and_directions(matrix):
    facts = {name: result.value for name, result in found(matrix).items()}
    lengths = np.linalg.norm(matrix, axis=1)
    units = matrix / lengths[:, None]
    assert facts["mean length"] == pytest.approx(lengths.mean())
    assert facts["spread of lengths"] == pytest.approx(lengths.std() / lengths.mean())
    assert facts["zero vectors"] == 0
    cosines = units.astype(float) @ units.T
    assert facts["mean cosine"] == pytest.approx(cosines[np.triu_indices(400, 1)].mean(), abs=1e-6)
    eigenvalues = np.linalg.eigvalsh(np.cov(matrix.astype(float).T, bias=True))
    assert facts["effective dimensions"] == pytest.approx(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())
    scaled = matrix.astype(float) / lengths.mean()
    axes = np.linalg.svd(scaled)[2]
    sums = [np.exp(sign * scaled @ axis).sum() for axis in axes for sign in (1, -1)]
    assert facts["isotropy"] == pytest.approx(min(sums) / max(sums), rel=1e-6)


def test_hubs(matrix):
    from scipy.stats import skew

    facts = found(matrix)
    units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2)
    often = np.bincount(np.argsort(-cosines, axis=1)[:, :10].ravel(), minlength=400)
    assert facts["hubness"].value == pytest.approx(skew(often), abs=0.01)
    assert facts["neighbour most often"].value == pytest.approx(often.max(), abs=1)
    assert facts["words that are no neighbours"].value == pytest.approx((often == 0).mean(), abs=0.01)


def test_each_word_has_as_many_neighbours_where_all_are_equal_too(matrix):
    assert occurrences_of(np.ones((40, 2), np.float32)).sum() == 400
    assert occurrences_of(matrix).sum() == 4000


def test_blocks_change_nothing(matrix, monkeypatch):
    whole = {name: result.value for name, result in found(matrix).items()}
    monkeypatch.setattr("embeddings.eval.vector_statistics.CACHED", 8 * 8 * 7)  # 400 rows are no multiple of 7
    parts = found(matrix)
    assert {name: result.value for name, result in parts.items()} == pytest.approx(whole)


def test_lengths_that_overflow_an_exponent():
    rng = np.random.default_rng(1)
    matrix = 1e-3 * rng.standard_normal((5000, 3)).astype(np.float32)
    matrix[:3] = np.diag([9e3, 8e3, 7e3])  # some ten thousand times the mean length
    facts = found(matrix)
    scaled = matrix.astype(float) / np.linalg.norm(matrix.astype(float), axis=1).mean()
    tops = [np.logaddexp.reduce(sign * scaled @ axis) for axis in np.linalg.svd(scaled)[2] for sign in (1, -1)]
    assert facts["isotropy"].value == pytest.approx(np.exp(min(tops) - max(tops)), rel=1e-6)
    apart = found(np.array([[1, 1e-7], [1, -1e-7], [1e4, 0]] + [[1e-9, 0]] * 3000))
    assert 0 <= apart["isotropy"].value < 1e-100


def test_zero_vectors_are_no_hubs(matrix):
    """Beside many that are opposite, a zero vector is a neighbour of everything, and has the first words as its own."""
    some = np.insert(matrix, np.repeat(np.arange(0, 400, 8), 2), 0, axis=0)
    facts, without = found(some), found(matrix)
    for name in ("hubness", "words that are no neighbours", "neighbour most often"):
        assert facts[name].value == without[name].value
        assert (facts[name].seen, facts[name].total) == (400, 500)
        assert "zero vectors left out" in facts[name].protocol
    assert facts["zero vectors"].value == 0.2
    assert facts["mean cosine"].value == pytest.approx(without["mean cosine"].value)
    assert "hubness" not in found(np.vstack([np.eye(10), np.zeros((30, 10))]))


def test_hubs_are_of_the_first_words_alone(matrix, monkeypatch):
    monkeypatch.setattr("embeddings.eval.vector_statistics.HUB_WORDS", 100)
    assert found(matrix)["hubness"].seen == 100
    assert found(matrix)["hubness"].value == found(matrix[:100])["hubness"].value
    assert found(matrix)["mean length"].seen == 400


def test_scale_changes_only_lengths(matrix):
    plain, small = found(matrix), found(matrix * np.float32(2**-60))
    for name, result in plain.items():
        assert small[name].value == pytest.approx(result.value * (2**-60 if name == "mean length" else 1), rel=1e-4)


def test_what_is_odd_has_fewer():
    assert set(found(np.zeros((3, 2)))) == {"mean length", "spread of lengths", "zero vectors"}
    assert found(np.zeros((3, 2)))["zero vectors"].value == 1
    alike = found(np.ones((30, 4)))
    assert (alike["mean cosine"].value, "effective dimensions" in alike) == (pytest.approx(1), False)
    assert 0 <= alike["words that are no neighbours"].value < 1
    assert set(found(np.ones((1, 2)))) == {"mean length", "spread of lengths", "zero vectors"}
    with pytest.raises(SettingError, match="the vector of 'w1' holds NaN or infinity"):
        found(np.array([[1, 2], [np.nan, 1]]))
