"""Spearman with ties, coverage, and the cases without a value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.eval import evaluate
from embeddings.eval.similarity import ranks, spearman
from embeddings.vectors.vectors import Vectors

few = st.lists(st.integers(-3, 3), min_size=2, max_size=12)


def naive_ranks(values):
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


@given(few)
def test_ranks_are_means_over_ties(values):
    assert ranks(np.array(values)).tolist() == naive_ranks(values)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=15))
def test_spearman_equals_scipy(pairs):
    from scipy.stats import spearmanr

    x, y = np.array(pairs, float).T
    value, reason = spearman(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert value is None
        assert reason == ("all cosines are alike" if len(set(x)) == 1 else "all ratings are alike")
    else:
        assert value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
        assert reason is None


@pytest.fixture
def vectors():
    return Vectors(["king", "KING", "Queen", "a", "b"], np.array([[1, 0], [0, 1], [1, 1], [-1, 0], [0, 0.0]]))


def judged(tmp_path, vectors, text):
    (tmp_path / "set").write_text(text)
    return evaluate(vectors, similarity=tmp_path / "set", name="v")[0]


def test_coverage_and_case(tmp_path, vectors):
    result = judged(tmp_path, vectors, "KING queen 3\nking A 1\nnothing a 2\nking KING 9\n")
    assert (result.vectors, result.set, result.measure) == ("v", "set", "spearman")
    assert (result.seen, result.total) == (3, 4)
    assert result.value == pytest.approx(1.0)  # KING is the first form, "king": cosines .7, -1, 1
    assert (result.section, result.restrict, result.reason) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x y 1\n", "a correlation needs two pairs, and 0 have vectors"),
        ("king a 1\nx y 2\n", "a correlation needs two pairs, and 1 has vectors"),
        ("king a 1\nking queen 1\n", "all ratings are alike"),
        ("king a 1\nking a 2\n", "all cosines are alike"),
        ("b a 1\nb king 2\n", "all cosines are alike"),
    ],
)
def test_no_value_has_a_reason(tmp_path, vectors, text, reason):
    result = judged(tmp_path, vectors, text)
    assert (result.value, result.reason) == (None, reason)
