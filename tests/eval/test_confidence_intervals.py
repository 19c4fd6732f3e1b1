"""Intervals against scipy and naive implementations, and cases without one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_bootstrap import resample_counts

from embeddings.eval import evaluate
from embeddings.eval.statistics.confidence_intervals import (
    bootstrap_weights,
    correlation_interval,
    weighted_pearson,
    weighted_ranks,
    wilson,
)
from embeddings.eval.tasks.word_similarity import read_word_pairs
from embeddings.vectors.vectors import Vectors


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 500), st.data())
def test_wilson_equals_scipy(total, data):
    from scipy.stats import binomtest

    hits = data.draw(st.integers(0, total))
    expected = binomtest(hits, total).proportion_ci(0.95, method="wilson")
    assert wilson(hits, total) == pytest.approx((expected.low, expected.high), abs=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=3, max_size=12), st.integers(0, 99))
def test_resamples_equal_scipy_on_repeated_items(pairs, seed):
    from scipy.stats import pearsonr, spearmanr

    x, y = np.array(pairs, float).T
    w = np.random.default_rng(seed).multinomial(len(x), np.full(len(x), 1 / len(x)), size=4).astype(float)
    spearman = weighted_pearson(weighted_ranks(x, w), weighted_ranks(y, w), w)
    pearson = weighted_pearson(x, y, w)
    for row, times in enumerate(w.astype(int)):
        left, right = np.repeat(x, times), np.repeat(y, times)
        if len(set(left)) == 1 or len(set(right)) == 1:
            assert np.isnan(spearman[row])
            assert np.isnan(pearson[row])
        else:
            assert spearman[row] == pytest.approx(spearmanr(left, right).statistic, abs=1e-9)
            assert pearson[row] == pytest.approx(pearsonr(left, right).statistic, abs=1e-9)


def test_resamples_are_deterministic_draws_with_replacement(monkeypatch):
    drawn = np.concatenate(list(bootstrap_weights(50)))
    assert drawn.shape == (1000, 50)
    assert np.array_equal(drawn, resample_counts(50))
    assert (drawn.sum(axis=1) == 50).all()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(50), abs=0.15)
    monkeypatch.setattr("embeddings.support.cosine.BLOCK_BYTES", 10_000)
    monkeypatch.setattr("embeddings.eval.statistics.confidence_intervals.MAX_CACHED", 10)
    assert len(list(bootstrap_weights(50))) > 1
    assert np.array_equal(np.concatenate(list(bootstrap_weights(50))), drawn)


@pytest.mark.parametrize("ranked", [True, False])
def test_intervals_have_their_nominal_coverage(ranked):
    rng, held = np.random.default_rng(0), 0
    truth = (6 / np.pi) * np.arcsin(0.6 / 2) if ranked else 0.6  # Spearman's of two normals that correlate by 0.6
    for _ in range(60):
        x = rng.standard_normal(120)
        low, high = correlation_interval(x, 0.6 * x + 0.8 * rng.standard_normal(120), ranked=ranked)
        held += low <= truth <= high
    assert 52 <= held < 60


def test_few_items_have_no_interval():
    assert correlation_interval(np.arange(9.0), np.arange(9.0), ranked=True) == (None, None)
    assert correlation_interval(np.arange(10.0), np.arange(10.0), ranked=True) == pytest.approx((1, 1))


def test_every_value_of_an_evaluation_has_an_interval(tmp_path):
    rng = np.random.default_rng(5)
    vectors = Vectors([f"w{i}" for i in range(60)], rng.standard_normal((60, 5)))
    (tmp_path / "pairs").write_text("".join(f"w{i} w{i + 1} {rng.uniform(0, 9)}\n" for i in range(40)))
    (tmp_path / "questions").write_text(": s\nw1 w2 w3 w4\nw1 w2 w3 w5\n: t\nw1 w2 w3 none\n")
    found = evaluate(vectors, similarity=tmp_path / "pairs", analogy=tmp_path / "questions", restrict=None)
    assert [result.measure for result in found[:2]] == ["spearman", "pearson"]
    assert all(result.low < result.value < result.high for result in found[:2])
    pairs = read_word_pairs(tmp_path / "pairs")
    cosines = np.array([vectors.similarity(*pair) for pair in pairs.pairs])
    for result, ranked in zip(found, (True, False), strict=False):
        expected = correlation_interval(cosines, np.array(pairs.ratings), ranked=ranked)
        assert (result.low, result.high) == pytest.approx(expected, abs=1e-9)
    for result in found[2:]:
        assert (result.low is None) == (result.high is None) == (result.value is None)
        assert result.value is None or result.low <= result.value <= result.high
    assert evaluate(vectors, similarity=tmp_path / "pairs") == found[:2]
