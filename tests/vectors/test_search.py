"""Nearest words, analogies and similarities, compared with an obvious version and with gensim."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.vectors.vectors import Vectors


def brute_force(vectors, query, top, restrict=None, excluded=()):
    """Cosines one by one in float64 of the unit rows; sorted by score, then by row."""
    length = np.linalg.norm(query)
    query = query / length if length else query
    scores = []
    for row, word in enumerate(vectors.words[:restrict]):
        if word not in excluded:
            score = (vectors.unit_rows[row].astype(np.float64) * query).sum()
            scores.append((-min(1.0, max(-1.0, score)), row, word))
    return [(word, -score) for score, _, word in sorted(scores)[:top]]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_search_equals_brute_force_with_ties(data):
    size, dim = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 5))
    entries = data.draw(st.lists(st.integers(-2, 2), min_size=size * dim, max_size=size * dim))
    vectors = Vectors([f"w{i}" for i in range(size)], np.array(entries, np.float32).reshape(size, dim))
    top, restrict = data.draw(st.integers(1, 45)), data.draw(st.none() | st.integers(1, 45))
    words = data.draw(st.lists(st.sampled_from(vectors.words), min_size=1, max_size=3))
    query = sum(row / (np.linalg.norm(row) or 1) for row in vectors[words].astype(np.float64))
    expected = brute_force(vectors, query, top, restrict, words) if np.any(query) else []
    result = vectors.most_similar(words, top=top, restrict=restrict)
    assert result == vectors.most_similar_many([words], top=top, restrict=restrict)[0]
    assert [score for _, score in result] == pytest.approx([score for _, score in expected], abs=1e-12)
    assert not {word for word, _ in result} & set(words)
    for (word, score), (other, next_score) in pairwise(result):
        assert score > next_score or (score == next_score and vectors.index(word) < vectors.index(other))


def test_blocks_change_nothing(random, monkeypatch):
    queries = [*random.words[:50], ["w1", "w2"], random.matrix[4] * 3]
    whole = random.most_similar_many(queries, top=5)
    monkeypatch.setattr("embeddings.support.cosine.BLOCK_BYTES", 5000)
    assert random.most_similar_many(queries, top=5) == whole
    assert [random.most_similar(query, top=5) for query in queries] == whole
    assert random.most_similar_many([]) == []


def test_restrict_limits_candidates_not_queries(random):
    result = random.most_similar("w400", top=1000, restrict=10)
    assert sorted(word for word, _ in result) == [f"w{i}" for i in range(10)]
    assert len(random.most_similar("w3", top=1000)) == 499
    assert random.most_similar("w3", top=5, restrict=10**9) == random.most_similar("w3", top=5)


def test_exclude(random):
    first, second, third = (word for word, _ in random.most_similar("w3", top=3))
    assert [word for word, _ in random.most_similar("w3", top=1, exclude=[first, second, "unknown"])] == [third]


def test_weights(random):
    query = 0.5 * random.unit_rows[1].astype(float) - 2 * random.unit_rows[2] + 3 * random.matrix[9]
    expected = brute_force(random, query, 5, excluded=("w1", "w2"))
    result = random.most_similar([("w1", 0.5), (random.matrix[9], 3)], [("w2", 2)], top=5)
    assert [word for word, _ in result] == [word for word, _ in expected]
    assert [score for _, score in result] == pytest.approx([score for _, score in expected], abs=1e-6)
    assert random.most_similar(("w1", 2.0)) == random.most_similar("w1")
    assert random.most_similar(("w1", "w2")) == random.most_similar(["w1", "w2"])


def assert_same(result, expected):
    assert [word for word, _ in result] == [word for word, _ in expected]
    assert [score for _, score in result] == pytest.approx([score for _, score in expected], abs=1e-6)


@pytest.mark.golden
@pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning")
def test_same_results_as_gensim(random, keyed_vectors):
    array = random.matrix[9] * 2
    assert_same(random.most_similar("w1"), keyed_vectors.most_similar("w1"))
    assert_same(
        random.most_similar(["w1", "w2"], ["w3"], top=7), keyed_vectors.most_similar(["w1", "w2"], ["w3"], topn=7)
    )
    assert_same(random.most_similar(["w1", array], "w5"), keyed_vectors.most_similar(["w1", array], "w5"))
    assert_same(random.most_similar("w1", restrict=60), keyed_vectors.most_similar("w1", restrict_vocab=60))
    assert_same(random.most_similar([], ["w4"]), keyed_vectors.most_similar([], ["w4"]))
    weighted = [("w1", 0.5), ("w2", 2.0)]
    assert_same(random.most_similar(weighted, ["w3"]), keyed_vectors.most_similar(weighted, ["w3"]))
    assert_same(random.analogy("w1", "w2", "w3"), keyed_vectors.most_similar(["w2", "w3"], ["w1"]))
    cosmul = keyed_vectors.most_similar_cosmul(["w2", "w3"], ["w1"], topn=20)
    result = random.analogy("w1", "w2", "w3", method="3cosmul", top=20)
    assert [word for word, _ in result] == [word for word, _ in cosmul]
    assert [score for _, score in result] == pytest.approx([score for _, score in cosmul], rel=1e-5)


def test_cosmul_by_hand(random):
    units = random.unit_rows.astype(np.float64)
    a, b, c = ((1 + units @ units[i]) / 2 for i in (1, 2, 3))
    scores = b * c / (a + 1e-6)
    order = [i for i in np.argsort(-scores) if i not in (1, 2, 3)][:4]
    result = random.analogy("w1", "w2", "w3", method="3cosmul", top=4)
    assert [word for word, _ in result] == [f"w{i}" for i in order]
    assert [score for _, score in result] == pytest.approx(scores[order], rel=1e-6)
    restricted = random.analogy("w1", "w2", "w3", method="3cosmul", top=4, restrict=5)
    assert {word for word, _ in restricted} == {"w0", "w4"}


def test_a_vector_of_zeros_has_no_neighbours(caplog):
    vectors = Vectors(["z", "a", "b"], np.array([[0.0, 0], [1, 0], [1, 1]]))
    assert vectors.most_similar("z") == []
    assert "zeros" in caplog.text
    assert [bool(found) for found in vectors.most_similar_many(["a", "z"])] == [True, False]


some_rows = st.lists(st.integers(0, 299), min_size=2, max_size=6, unique=True)


@pytest.mark.golden
@settings(max_examples=40, deadline=None)
@given(some_rows)
def test_comparisons_equal_gensim(counted_vectors, counted_keyed_vectors, rows):
    words = [f"w{row}" for row in rows]
    a, b = words[:2]
    assert counted_vectors.similarity(a, b) == pytest.approx(float(counted_keyed_vectors.similarity(a, b)), abs=1e-6)
    assert counted_vectors.doesnt_match(words) == counted_keyed_vectors.doesnt_match(words) or len(words) == 2
    gaps = np.abs(counted_vectors.unit_rows @ counted_vectors.unit_rows[rows[0]] - counted_vectors.similarity(a, b))
    if (gaps < 1e-6).sum() == 1:  # unless float32, in which gensim compares, cannot tell another word from b
        assert counted_vectors.rank(a, b) == counted_keyed_vectors.rank(a, b)
        assert counted_vectors.closer_than(a, b) == counted_keyed_vectors.closer_than(a, b)
    assert counted_vectors.distances(a, words) == pytest.approx(counted_keyed_vectors.distances(a, words), abs=1e-5)
    assert counted_vectors.distances(a) == pytest.approx(counted_keyed_vectors.distances(a), abs=1e-5)
    assert counted_vectors.distances(counted_vectors[a]) == pytest.approx(counted_vectors.distances(a), abs=1e-7)
    assert counted_vectors.n_similarity(words[:1], words[1:]) == pytest.approx(
        float(counted_keyed_vectors.n_similarity(words[:1], words[1:])), abs=1e-5
    )
    mean = counted_keyed_vectors.get_mean_vector(words)
    assert counted_vectors.get_mean_vector(words) == pytest.approx(mean, abs=1e-6)
    mean = counted_keyed_vectors.get_mean_vector(words, pre_normalize=False)
    assert counted_vectors.get_mean_vector(words, normalize=False) == pytest.approx(mean, abs=1e-6)


def test_mean_vector_by_hand():
    vectors = Vectors(["a", "b"], np.array([[2, 0], [0, 1.0]]))
    assert vectors.get_mean_vector(["a", "b"]).tolist() == [0.5, 0.5]
    assert vectors.get_mean_vector(["a", "b"], normalize=False).tolist() == [1, 0.5]
    assert vectors.n_similarity(["a"], ["a", "b"]) == pytest.approx(2 / 5**0.5)


def test_ranks_are_positions_among_neighbours(counted_vectors):
    neighbours = [word for word, _ in counted_vectors.most_similar("w5", top=299)]
    assert [counted_vectors.rank("w5", word) for word in neighbours[::37]] == list(range(1, 300, 37))
    assert counted_vectors.closer_than("w5", neighbours[4]) == sorted(neighbours[:4], key=counted_vectors.index)
    assert counted_vectors.rank("w5", "w5") == 1


def test_equal_words_share_a_rank():
    rows = np.random.default_rng(1).standard_normal((4, 7))
    vectors = Vectors(list("abcdef"), rows[[0, 1, 2, 1, 1, 3]])
    assert len({vectors.rank("a", word) for word in "bde"}) == 1
    assert vectors.doesnt_match(["b", "d", "e"]) == "b"


def test_near_ties_are_decided_in_float64():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal(7) + 1e-6 * rng.standard_normal((200, 7))
    vectors = Vectors([f"w{i}" for i in range(200)], rows)
    query = vectors.matrix[0].astype(float) / np.linalg.norm(vectors.matrix[0].astype(float))
    cosines = np.minimum((vectors.unit_rows.astype(float) * query).sum(axis=1), 1)
    for b in (3, 70, 199):
        expected = [f"w{i}" for i in range(1, 200) if cosines[i] > cosines[b]]
        assert vectors.closer_than("w0", f"w{b}") == expected
