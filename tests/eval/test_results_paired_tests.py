"""Paired tests against naive implementations, and cases with too few items."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_bootstrap import interval, resample_counts, resampled_question_means, two_sided_p

from embeddings.eval import Suite, compare_scores
from embeddings.eval.statistics.confidence_intervals import wilson
from embeddings.eval.statistics.results import BinaryScores, CorrelationScores, Key, bootstrap_test
from embeddings.eval.tasks.analogies import AnalogyScores
from embeddings.vectors.vectors import Vectors

KEY = Key("set", "accuracy")


def compare_correlations(first, second, scores, others, ratings, *, ranked=True):
    key = Key("set", "spearman" if ranked else "pearson")
    sides = [
        CorrelationScores(
            vectors=name,
            key=key,
            protocol="",
            covered=np.ones(len(side), bool),
            scores=side,
            ratings=ratings,
            value=0.0,
        )
        for name, side in ((first, scores), (second, others))
    ]
    return sides[0].compare(sides[1])


@pytest.mark.parametrize("ranked", [True, False])
def test_correlations_equal_the_naive_bootstrap(ranked):
    from scipy.stats import pearsonr, spearmanr

    correlation = spearmanr if ranked else pearsonr
    rng = np.random.default_rng(1)
    ratings = rng.integers(0, 5, 30).astype(float)
    scores, others = ratings + rng.standard_normal(30), ratings + 4 * rng.integers(-1, 2, 30)
    drawn = []
    for times in resample_counts(30):
        a, b, r = (np.repeat(side, times) for side in (scores, others, ratings))
        drawn.append(correlation(a, r).statistic - correlation(b, r).statistic)
    found = compare_correlations("a", "b", scores, others, ratings, ranked=ranked)
    values = correlation(scores, ratings).statistic, correlation(others, ratings).statistic
    assert (found.value_first, found.value_second) == pytest.approx(values)
    assert found.difference == pytest.approx(values[0] - values[1])
    assert (found.low, found.high) == pytest.approx(interval(drawn))
    assert found.p == pytest.approx(two_sided_p(drawn))
    assert (found.items, found.test) == (30, "paired bootstrap over pairs")
    turned = compare_correlations("b", "a", others, scores, ratings, ranked=ranked)
    assert (turned.first, turned.second) == ("b", "a")
    assert (turned.difference, turned.low, turned.high) == pytest.approx((-found.difference, -found.high, -found.low))
    assert turned.p == found.p


def test_p_at_its_extremes_and_between():
    def p_of(resampled):
        return bootstrap_test(resampled, 1000)[1]

    assert p_of(np.ones(1000)) == 2 / 1001
    assert p_of(-np.ones(1000)) == 2 / 1001
    assert p_of(np.zeros(1000)) == 1
    assert p_of(np.repeat([1.0, -1.0], 500)) == 1
    assert p_of(np.repeat([1.0, -1.0], [750, 250])) == pytest.approx(2 * 251 / 1001)
    assert p_of(np.repeat([1.0, 0.0], [990, 10])) == pytest.approx(2 * 11 / 1001)
    assert p_of(np.append(np.ones(400), np.full(600, np.nan))) is None


def compare_shares(correct, other):
    """The test of two models that get these items right."""
    everything = np.ones(len(correct), bool)
    first, second = (
        BinaryScores(vectors=name, key=KEY, protocol="", covered=everything, correct=side, members=everything)
        for name, side in (("a", correct), ("b", other))
    )
    return first.compare(second)


def test_two_by_two_table_worked_by_hand():
    """30 items: both right 10, the first alone 8, the second alone 2, none 10."""
    right = np.repeat([True, True, False, False], [10, 8, 2, 10])
    other = np.repeat([True, False, True, False], [10, 8, 2, 10])
    found = compare_shares(right, other)
    assert found.p == pytest.approx(2 * (1 + 10 + 45) / 1024)  # 0, 1 or 2 of 10, and as much on the other side
    assert (found.value_first, found.value_second, found.items) == (18 / 30, 12 / 30, 30)
    assert found.difference == pytest.approx(0.2)
    # 8.5 and 2.5 of 32: (6 -+ 1.96 sqrt(11 - 36/32)) / 32
    assert (found.low, found.high) == pytest.approx((-0.0049716, 0.3799716), abs=1e-6)
    turned = compare_shares(other, right)
    assert (turned.low, turned.high, turned.p) == pytest.approx((-found.high, -found.low, found.p))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_mcnemar_equals_a_sum_of_binomial_terms(pairs):
    from math import comb

    right, other = np.array(pairs).T
    gained, lost = sum(r and not o for r, o in pairs), sum(o and not r for r, o in pairs)
    n, most = gained + lost, max(gained, lost)
    p = min(1, 2 * sum(comb(n, k) for k in range(most, n + 1)) / 2**n)
    found = compare_shares(right, other)
    assert found.p == pytest.approx(p)
    assert -1 <= found.low <= found.high <= 1


FEW, ENOUGH = 9, 10


def test_few_pairs_have_no_interval():
    rng = np.random.default_rng(2)
    for count in (3, FEW, ENOUGH):
        ratings = np.arange(float(count))
        found = compare_correlations("a", "b", ratings, rng.standard_normal(count), ratings)
        assert found.difference > 0
        assert (found.p is None) == (found.low is None) == (found.high is None) == (count < ENOUGH)


def test_few_words_have_no_interval(tmp_path):
    rng = np.random.default_rng(3)
    for count in (FEW, ENOUGH):
        (tmp_path / "names").write_text("".join(f"w{i}\t{'xy'[i % 2]}\n" for i in range(count)))
        suite = Suite.read(categories=tmp_path / "names")
        scores = [
            suite.score(Vectors([f"w{i}" for i in range(count)], rng.standard_normal((count, 4))), name)
            for name in "ab"
        ]
        found = {one.measure: one for one in compare_scores(scores) if one.section is None}
        for measure in ("micro-f1", "macro-f1"):
            assert (found[measure].p is None) == (found[measure].low is None) == (count < ENOUGH)


@pytest.fixture(scope="module")
def questions():
    """All ordered questions of 12 pairs, and of 6 others; what two models say: one knows some pairs, one some words."""
    groups = [range(12), range(12, 18)]
    pairs = np.array([(a, b) for group in groups for a in group for b in group if a != b])
    rng = np.random.default_rng(4)
    ease, other = rng.uniform(0, 1, 18), rng.uniform(0, 1, 18)
    right = rng.uniform(0, 1, len(pairs)) < ease[pairs[:, 0]] * ease[pairs[:, 1]]
    return pairs, right, rng.uniform(0, 1, len(pairs)) < other[pairs[:, 0]] * other[pairs[:, 1]]


def answered(questions, which=1, **more):
    pairs, members = questions[0], np.ones(len(questions[0]), bool)
    return AnalogyScores(
        **{"vectors": "v", "key": KEY, "protocol": "", "covered": members, "members": members, **more},
        correct=questions[which],
        pairs=pairs,
    )


def test_questions_equal_the_naive_bootstrap(questions):
    pairs, right, other = questions
    result = answered(questions).result()
    assert (result.low, result.high) == pytest.approx(interval(resampled_question_means(right.astype(float), pairs)))
    assert result.low < result.value < result.high
    drawn = resampled_question_means(right.astype(float) - other, pairs)
    found = answered(questions).compare(answered(questions, 2))
    assert (found.low, found.high) == pytest.approx(interval(drawn))
    assert found.p == pytest.approx(two_sided_p(drawn))
    assert found.test == "paired bootstrap over word pairs"
    assert (found.value_first, found.value_second) == (right.mean(), other.mean())


def test_sections_and_comparisons_use_their_own_pairs(questions):
    """A section is judged by its own pairs, and two models by the questions that both can answer."""
    pairs, right, other = questions
    small = (pairs >= 12).all(axis=1)
    assert answered(questions, members=small).result().low is None  # six pairs
    large = answered(questions, members=~small).result()
    drawn = resampled_question_means(right[~small].astype(float), pairs[~small])
    assert (large.low, large.high) == pytest.approx(interval(drawn))
    seen = np.random.default_rng(5).random(len(pairs)) < 0.7
    found = answered(questions).compare(answered(questions, 2, covered=seen))
    drawn = resampled_question_means(right[seen].astype(float) - other[seen], pairs[seen])
    assert (found.low, found.high, found.items) == pytest.approx((*interval(drawn), seen.sum()))


def test_all_or_no_correct_questions_have_the_interval_of_one_item_per_pair(questions):
    pairs = questions[0]
    none = answered((pairs, np.zeros(len(pairs), bool))).result()
    assert (none.value, none.low, none.high) == (0, *wilson(0, 18))
    alone = answered((pairs[:1], np.ones(1, bool))).result()
    assert (alone.value, alone.low, alone.high) == (1, *wilson(1, 1))


def test_pairs_of_questions_ignore_case(tmp_path):
    lines = [": s", "a b c d", "A B e f", "c D a b", ": t", "c d e f"]
    (tmp_path / "q").write_text("\n".join(lines) + "\n")
    assert Suite.read(analogy=tmp_path / "q").sets("analogy")[0].pairs().tolist() == [[0, 1], [0, 2], [1, 0], [1, 2]]
    (tmp_path / "bats.txt").write_text("a\tb/x\nc\td\n")
    assert Suite.read(analogy=tmp_path / "bats.txt").sets("analogy")[0].pairs().tolist() == [[0, 1], [1, 0]]


def test_few_clusters_have_no_interval():
    for count in (FEW, ENOUGH):
        clusters, counted = np.arange(count + 50).repeat(3), np.arange(3 * count + 150) < 3 * count
        fields = {"key": KEY, "protocol": "", "covered": counted, "members": counted, "clusters": clusters}
        right, wrong = (BinaryScores(vectors="a", correct=correct, **fields) for correct in (counted, ~counted))
        found = right.compare(wrong)  # other clusters hold no item that counts
        assert found.difference == 1
        assert (found.p is None) == (found.low is None) == (count < ENOUGH)
