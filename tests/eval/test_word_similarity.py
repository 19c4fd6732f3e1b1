"""Similarity sets by name and layouts of files; Spearman with ties, coverage, and the cases without a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optional_libraries import needs_gensim

from embeddings.eval import evaluate
from embeddings.eval.tasks.word_similarity import correlation, read_word_pairs
from embeddings.vectors.vectors import Vectors


def test_shipped_sets():
    wordsim = read_word_pairs("wordsim353")
    assert (wordsim.name, len(wordsim.pairs), wordsim.pairs[2], wordsim.ratings[2]) == (
        "wordsim353",
        353,
        ("tiger", "tiger"),
        10.0,
    )


@needs_gensim
@pytest.mark.golden
def test_simlex_comes_from_gensim():
    simlex = read_word_pairs("simlex999")
    assert (simlex.name, len(simlex.pairs), simlex.pairs[0]) == ("simlex999", 999, ("old", "new"))


@pytest.mark.parametrize(
    "text",
    [
        "king\tqueen\t8.5\nnew york\tcity\t-1\n",
        '# a comment\nWord 1,Word 2,Human (mean)\nking,queen,8.5\n\n"new york",city,-1\n',
        "\ufeffking\tqueen\t8.5\r\nnew york\tcity\t-1\r\n",
        "w1\tw2\tscore\nking \t queen\t8.5\nnew york\tcity\t-1",
    ],
)
def test_layouts_of_pairs(tmp_path, text):
    (tmp_path / "mine.txt").write_text(text, encoding="utf-8", newline="")
    found = read_word_pairs(tmp_path / "mine.txt")
    assert (found.name, found.pairs, found.ratings) == (
        "mine",
        [("king", "queen"), ("new york", "city")],
        [8.5, -1.0],
    )


PUBLISHED = {
    "SimLex-999": (
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD(SimLex)\n"
        "old\tnew\tA\t1.58\t2.72\t2.81\t2\t7.25\t1\t0.41\nsmart\tintelligent\tA\t9.2\t1.75\t2.46\t1\t7.11\t1\t0.67\n"
    ),
    "RW": ("old\tnew\t1.58\t2\t1\t1\t3\t0\t2\t1\t2\t1\t3\nsmart\tintelligent\t9.2\t9\t10\t9\t8\t10\t9\t9\t9\t9\t10\n"),
    "MEN": "old new 1.580000\nsmart intelligent 9.200000\n",
    "SimVerb-3500": "old\tnew\tV\t1.58\tANTONYMS\nsmart\tintelligent\tV\t9.2\tSYNONYMS\n",
    "WordSim-353 combined": "Word 1,Word 2,Human (mean)\nold,new,1.58\nsmart,intelligent,9.2\n",
    "WordSim-353 with single ratings": (
        "Word 1,Word 2,Human (mean),1,2,3\nold,new,1.58,1,2,1.5\nsmart,intelligent,9.2,9,9,9.5\n"
    ),
    "blanks": "old   new 1.58\nsmart intelligent   9.2\n",
    "RG-65": "old;new;1.58\nsmart;intelligent;9.2\n",
    "MTurk-771": "old,new,1.58\nsmart,intelligent,9.2\n",
    "heading of three unknown columns": "first\tsecond\tvalue\nold\tnew\t1.58\nsmart\tintelligent\t9.2\n",
    "rows numbered by pandas": ",word1,word2,rating\n0,old,new,1.58\n1,smart,intelligent,9.2\n",
    "words after other columns": "id\tPOS\tterm_1\tterm_2\tmean\n7\tA\told\tnew\t1.58\n8\tA\tsmart\tintelligent\t9.2\n",
    "rating before the words": "score,w1,w2\n1.58,old,new\n9.2,smart,intelligent\n",
    "unknown heading before the words": "value,word1,word2\n1.58,old,new\n9.2,smart,intelligent\n",
    "heading between spaces": "a b POS score\nold new A 1.58\nsmart intelligent A 9.2\n",
}


@pytest.mark.parametrize("layout", PUBLISHED)
def test_published_layouts(tmp_path, layout):
    (tmp_path / "set").write_text(PUBLISHED[layout])
    found = read_word_pairs(tmp_path / "set")
    assert found.pairs == [("old", "new"), ("smart", "intelligent")]
    assert found.ratings == [1.58, 9.2]


def test_words_without_a_vector_but_zeros_are_not_covered(tmp_path):
    """They would have a cosine of 0 with every word."""
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\t1\nb\tc\t2\na\tzero\t3\n")
    vectors = Vectors(["a", "b", "c", "zero"], [[1, 0], [1, 1], [0, 1], [0, 0]])
    assert {(one.covered, one.total) for one in evaluate(vectors, similarity=path)} == {(2, 3)}


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
