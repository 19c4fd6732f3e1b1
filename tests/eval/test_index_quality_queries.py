"""Vectors to search and queries for them."""

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.eval.index_quality import parse_random_name, random_query_set, sample_query_set
from embeddings.vectors.vectors import Vectors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: random_query_set(1, 5, queries=1, seed=1), "2x1.*1x5"),
        (lambda: random_query_set(10**9, 10**4, queries=1, seed=1), "268435456.*1000000000x10000"),
        (lambda: random_query_set(10, 5, queries=0, seed=1), "queries.*1.*1000000.*, got 0"),
        (lambda: sample_query_set(Vectors(["a"], np.ones((1, 2))), "v", queries=1, seed=1), "v.*two words, got 1"),
    ],
)
def test_invalid_query_sets(make, message):
    with pytest.raises(SettingError, match=message):
        make()


def test_random_query_sets():
    assert parse_random_name("random:10000x128") == (10000, 128)
    assert [parse_random_name(name) for name in ("random", "random:5", "random:-1x2", "random:5x5.bin")] == [None] * 4
    query_set = random_query_set(50, 3, queries=4, seed=1)
    assert query_set.name == "random:50x3"
    assert query_set.queries.shape == (4, 3)
    assert np.array_equal(query_set.queries, random_query_set(50, 3, queries=4, seed=1).queries)
    assert not np.array_equal(query_set.queries, random_query_set(50, 3, queries=4, seed=2).queries)


def test_queries_are_a_sample_of_the_words():
    vectors = Vectors(list("abcdefgh"), np.random.default_rng(1).standard_normal((8, 3)))
    query_set = sample_query_set(vectors, "v", queries=5, seed=1)
    assert len(set(query_set.query_rows)) == 5
    assert np.array_equal(query_set.queries, vectors.unit_rows[query_set.query_rows])
    assert sorted(sample_query_set(vectors, "v", queries=50, seed=1).query_rows) == list(range(8))
