"""Intervals beside obvious twins and scipy: Wilson, the bootstrap's correlations, and where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_resamples import interval, times_drawn

from embeddings.eval import evaluate
from embeddings.eval.confidence_intervals import (
    bootstrap,
    mean_bootstrap,
    mean_interval,
    pearson_weighted,
    ranks_weighted,
    weights,
    wilson,
)
from embeddings.eval.word_pairs import read_pairs
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
    spearman = pearson_weighted(ranks_weighted(x, w), ranks_weighted(y, w), w)
    pearson = pearson_weighted(x, y, w)
    for row, times in enumerate(w.astype(int)):
        left, right = np.repeat(x, times), np.repeat(y, times)
        if len(set(left)) == 1 or len(set(right)) == 1:
            assert np.isnan(spearman[row])
            assert np.isnan(pearson[row])
        else:
            assert spearman[row] == pytest.approx(spearmanr(left, right).statistic, abs=1e-9)
            assert pearson[row] == pytest.approx(pearsonr(left, right).statistic, abs=1e-9)


def test_resamples_are_a_thousand_of_all_items_and_the_same_each_time(monkeypatch):
    drawn = np.concatenate(list(weights(50)))
    assert drawn.shape == (1000, 50)
    assert np.array_equal(drawn, times_drawn(50))
    assert (drawn.sum(axis=1) == 50).all()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(50), abs=0.15)
    monkeypatch.setattr("embeddings.support.cosine.BLOCK_BYTES", 10_000)
    monkeypatch.setattr("embeddings.eval.confidence_intervals.KEPT", 10)
    assert len(list(weights(50))) > 1
    assert np.array_equal(np.concatenate(list(weights(50))), drawn)


def test_means_of_many_values_have_the_normal_interval(monkeypatch):
    values = np.random.default_rng(8).uniform(0, 1, 3000)
    drawn = mean_bootstrap(values)
    assert drawn == pytest.approx(interval([times @ values / 3000 for times in times_drawn(3000)]))
    monkeypatch.setattr("embeddings.eval.confidence_intervals.KEPT", 2999)
    assert mean_bootstrap(values) == mean_interval(values) == pytest.approx(drawn, abs=0.001)
    assert mean_bootstrap(np.zeros(4000)) == (0, 0)


@pytest.mark.parametrize("ranked", [True, False])
def test_intervals_hold_the_truth_as_often_as_they_say(ranked):
    rng, held = np.random.default_rng(0), 0
    truth = (6 / np.pi) * np.arcsin(0.6 / 2) if ranked else 0.6  # Spearman's of two normals that correlate by 0.6
    for _ in range(60):
        x = rng.standard_normal(120)
        low, high = bootstrap(x, 0.6 * x + 0.8 * rng.standard_normal(120), ranked=ranked)
        held += low <= truth <= high
    assert 52 <= held < 60


def test_scale_and_shift_change_nothing():
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 40))
    for ranked in (True, False):
        assert bootstrap(1e-6 * x + 5, y * 1e5, ranked=ranked) == pytest.approx(
            bootstrap(x, y, ranked=ranked), abs=1e-6
        )


def test_few_or_mostly_constant_items_have_none():
    assert bootstrap(np.arange(9.0), np.arange(9.0), ranked=True) == (None, None)
    assert bootstrap(np.arange(10.0), np.arange(10.0), ranked=True) == pytest.approx((1, 1))


def test_every_value_of_an_evaluation_has_one(tmp_path):
    rng = np.random.default_rng(5)
    vectors = Vectors([f"w{i}" for i in range(60)], rng.standard_normal((60, 5)))
    (tmp_path / "pairs").write_text("".join(f"w{i} w{i + 1} {rng.uniform(0, 9)}\n" for i in range(40)))
    (tmp_path / "questions").write_text(": s\nw1 w2 w3 w4\nw1 w2 w3 w5\n: t\nw1 w2 w3 none\n")
    found = evaluate(vectors, similarity=tmp_path / "pairs", analogy=tmp_path / "questions", restrict=None)
    assert [result.measure for result in found[:2]] == ["spearman", "pearson"]
    assert all(result.low < result.value < result.high for result in found[:2])
    pairs = read_pairs(tmp_path / "pairs")
    cosines = np.array([vectors.similarity(*pair) for pair in pairs.pairs])
    for result, ranked in zip(found, (True, False), strict=False):
        expected = bootstrap(cosines, np.array(pairs.ratings), ranked=ranked)
        assert (result.low, result.high) == pytest.approx(expected, abs=1e-9)
    for result in found[2:]:
        assert (result.low is None) == (result.high is None) == (result.value is None)
        assert result.value is None or result.low <= result.value <= result.high
    assert evaluate(vectors, similarity=tmp_path / "pairs") == found[:2]
