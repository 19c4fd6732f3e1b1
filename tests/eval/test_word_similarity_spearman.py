"""Spearman with ties, coverage, and the cases without a value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.eval import evaluate
from embeddings.eval.tasks.word_similarity import correlation
from embeddings.vectors.vectors import Vectors


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=15))
def test_spearman_equals_scipy(pairs):
    from scipy.stats import spearmanr

    x, y = np.array(pairs, float).T
    value, reason = correlation(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert value is None
        assert reason == ("all cosines are equal" if len(set(x)) == 1 else "all ratings are equal")
    else:
        assert value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
        assert reason is None


@pytest.fixture
def vectors():
    return Vectors(["king", "KING", "Queen", "a", "b"], np.array([[1, 0], [0, 1], [1, 1], [-1, 0], [0, 0.0]]))


def similarity(tmp_path, vectors, text):
    (tmp_path / "set").write_text(text)
    return evaluate(vectors, similarity=tmp_path / "set", name="v")[0]


def test_coverage_and_case(tmp_path, vectors):
    result = similarity(tmp_path, vectors, "KING queen 3\nking A 1\nnothing a 2\nking KING 9\n")
    assert (result.vectors, result.set, result.measure) == ("v", "set", "spearman")
    assert (result.covered, result.total) == (3, 4)
    assert result.value == pytest.approx(1.0)  # KING is the first form, "king": cosines .7, -1, 1
    assert (result.section, result.restrict, result.reason) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x y 1\n", "a correlation requires two pairs with vectors, got 0"),
        ("king a 1\nx y 2\n", "a correlation requires two pairs with vectors, got 1"),
        ("king a 1\nking queen 1\n", "all ratings are equal"),
        ("king a 1\nking a 2\n", "all cosines are equal"),
        ("b a 1\nb king 2\n", "a correlation requires two pairs with vectors, got 0"),
    ],
)
def test_no_value_has_a_reason(tmp_path, vectors, text, reason):
    result = similarity(tmp_path, vectors, text)
    assert (result.value, result.reason) == (None, reason)
