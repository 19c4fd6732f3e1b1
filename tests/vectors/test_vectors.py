"""Conversions, subsets, additions, and lists of words of any kind that has an order."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from optional_libraries import needs_gensim

import embeddings as em
from embeddings.errors import EmbeddingsError, FormatError, SettingError
from embeddings.vectors.vectors import Vectors


def test_to_and_from_numpy():
    matrix = np.arange(6.0).reshape(2, 3)
    vectors = Vectors.from_numpy(["a", "b"], matrix)
    copy = vectors.to_numpy()
    copy[0] = 9
    assert vectors.matrix.tolist() == matrix.tolist()
    with pytest.raises(SettingError, match=r"'b'.*NaN or infinity"):
        Vectors.from_numpy(["a", "b"], np.array([[1.0], [np.inf]]))


def test_subset(counted_vectors):
    first = counted_vectors.subset(3)
    assert (first.words, first.counts.tolist()) == (["w0", "w1", "w2"], [300, 299, 298])
    assert np.shares_memory(first.matrix, counted_vectors.matrix)
    selected = counted_vectors.subset(word for word in ["w7", "w2", "w7"])
    assert (selected.words, selected.counts.tolist()) == (["w7", "w2"], [293, 298])
    assert np.array_equal(selected.matrix, counted_vectors.matrix[[7, 2]])
    assert len(counted_vectors.subset(10**9)) == 300
    assert Vectors(["a"], np.ones((1, 1))).subset(["a"]).counts is None


def test_normalize():
    vectors = Vectors(["a", "b"], np.array([[3, 4], [0, 0]]), counts=[2, 1]).normalize()
    assert vectors.matrix.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
    assert vectors.counts.tolist() == [2, 1]


def test_add_vectors():
    vectors = Vectors(["a", "b"], np.eye(2), counts=[5, 3])
    more = vectors.add_vectors(["c", "a"], np.array([[2, 2], [7, 8]]))
    assert (more.words, more.counts) == (["a", "b", "c"], None)
    assert more.matrix.tolist() == [[1, 0], [0, 1], [2, 2]]
    assert vectors.add_vectors(["c", "a"], [[2, 2], [7, 8]], counts=[2, 9]).counts.tolist() == [5, 3, 2]
    assert (len(vectors), vectors.matrix.tolist()) == (2, [[1, 0], [0, 1]])


@needs_gensim
@pytest.mark.golden
def test_add_vectors_equals_gensim():
    from gensim.models import KeyedVectors

    keyed_vectors, vectors = KeyedVectors(2), Vectors(["a", "b"], np.eye(2))
    keyed_vectors.add_vectors(vectors.words, vectors.matrix)
    more = np.array([[2, 2], [7, 8]], np.float32)
    keyed_vectors.add_vectors(["c", "a"], more)
    result = vectors.add_vectors(["c", "a"], more)
    assert result.words == keyed_vectors.index_to_key
    assert result.matrix.tolist() == keyed_vectors.vectors.tolist()


def test_pandas_round_trip(counted_vectors):
    frame = counted_vectors.to_pandas()
    assert (frame.shape, frame.index.name, frame.index[3]) == ((300, 10), "word", "w3")
    frame.iloc[0] = 5
    assert counted_vectors.matrix[0, 0] != 5
    again = Vectors.from_pandas(counted_vectors.to_pandas())
    assert again.words == counted_vectors.words
    assert again.matrix.tobytes() == counted_vectors.matrix.tobytes()
    assert again.matrix.dtype == np.float32


def test_pandas_of_arrow_tables(counted_vectors):
    frame = counted_vectors.to_arrow().to_pandas()
    again = Vectors.from_pandas(frame.assign(notes=["a", *range(1, len(frame))]))  # other columns are not read
    assert again.words == counted_vectors.words
    assert np.array_equal(again.matrix, counted_vectors.matrix)
    assert again.counts.tolist() == counted_vectors.counts.tolist()


def test_arrow_round_trip(counted_vectors):
    table = counted_vectors.to_arrow()
    assert table.column_names == ["word", "count", "vector"]
    again = Vectors.from_arrow(table)
    assert again.words == counted_vectors.words
    assert again.counts.tolist() == counted_vectors.counts.tolist()
    assert np.shares_memory(again.matrix, counted_vectors.matrix)
    assert np.array_equal(Vectors.from_arrow(table.slice(100)).matrix, counted_vectors.matrix[100:])
    with pytest.raises(FormatError, match=r"word.*vector.*x"):
        Vectors.from_arrow(pa.table({"x": [1]}))


@pytest.mark.parametrize("contain", [iter, tuple, np.array, pa.array, lambda words: pd.Series(words, index=[1, 0])])
def test_any_iterable_of_words_is_a_list_of_words(random, contain):
    words = ["w2", "w1"]
    assert random.most_similar(contain(words)) == random.most_similar(words)
    np.testing.assert_array_equal(random[contain(words)], random[words])
    np.testing.assert_array_equal(em.lookup(random, contain(words)), em.lookup(random, words))
    np.testing.assert_array_equal(random.distances("w1", contain(words)), random.distances("w1", words))
    assert random.subset(contain(words)).words == words
    assert em.Vectors(contain(words), np.eye(2)).words == words
    assert em.embed(random, contain(words)).tolist() == em.embed(random, words).tolist()
    assert random.distances("w1", []).shape == (0,)
    assert len(random.most_similar([random["w1"].tolist(), random["w2"]])) == 10


def test_a_set_has_no_order(random):
    assert random.doesnt_match({"w1", "w2", "w3"}) == random.doesnt_match(["w1", "w2", "w3"])
    for call in (
        random.__getitem__,
        lambda words: em.lookup(random, words),
        lambda words: em.Vectors(words, np.eye(2)),
    ):
        with pytest.raises(EmbeddingsError):
            call({"w1", "w2"})
