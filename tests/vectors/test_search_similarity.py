"""Similarities of given words, compared with gensim where it has the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.vectors.vectors import Vectors

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
    weights = [row % 5 - 1.5 for row in rows]
    for options in ({}, {"weights": weights}):
        mean = counted_keyed_vectors.get_mean_vector(words, **options)
        assert counted_vectors.get_mean_vector(words, **options) == pytest.approx(mean, abs=1e-6)
    mean = counted_keyed_vectors.get_mean_vector(words, pre_normalize=False)
    assert counted_vectors.get_mean_vector(words, normalize=False) == pytest.approx(mean, abs=1e-6)


def test_mean_vector_by_hand():
    vectors = Vectors(["a", "b"], np.array([[2, 0], [0, 1.0]]))
    assert vectors.get_mean_vector(["a", "b"], [3, -1]).tolist() == [0.75, -0.25]
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
