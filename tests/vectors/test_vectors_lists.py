"""Lists of words may be of any kind that has an order."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError


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
