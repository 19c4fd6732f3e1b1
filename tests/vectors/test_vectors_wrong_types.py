"""Arguments of wrong types are refused in one line, never by an error of Python itself."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError

WRONG = [3, 2.5, None, b"w1", True, ["w1", ["w2"]], [3], [b"w1"], {"w1": 2.5}.values()]
CALLS = {
    "getitem": lambda vectors, value: vectors[value],
    "index": lambda vectors, value: vectors.index(value),
    "most_similar": lambda vectors, value: vectors.most_similar(value),
    "negative": lambda vectors, value: vectors.most_similar("w1", value),
    "exclude": lambda vectors, value: vectors.most_similar("w1", exclude=value),
    "top": lambda vectors, value: vectors.most_similar("w1", top=None if value in (3, True) else value),
    "restrict": lambda vectors, value: vectors.most_similar("w1", restrict="3" if value in (3, True, None) else value),
    "many": lambda vectors, value: vectors.most_similar_many(3 if isinstance(value, list) else value),
    "analogy": lambda vectors, value: vectors.analogy("w1", value, "w2"),
    "similarity": lambda vectors, value: vectors.similarity("w1", value),
    "n_similarity": lambda vectors, value: vectors.n_similarity(["w1"], value),
    "doesnt_match": lambda vectors, value: vectors.doesnt_match(value),
    "mean": lambda vectors, value: vectors.get_mean_vector(value),
    "distances": lambda vectors, value: vectors.distances(value),
    "others": lambda vectors, value: vectors.distances("w1", "w2" if value is None else value),
    "rank": lambda vectors, value: vectors.rank("w1", value),
    "subset": lambda vectors, value: vectors.subset(None if value in (3, True) else value),
    "lookup": em.lookup,
    "words": lambda vectors, value: em.Vectors(value, np.ones((len(value) if hasattr(value, "__len__") else 1, 2))),
    "matrix": lambda vectors, value: em.Vectors(["w1"], ["x"] if value in ([3], 3) else value),
    "add": lambda vectors, value: vectors.add_vectors(value, np.ones((1, 20))),
    "load": lambda vectors, value: em.load(value),
    "load_model": lambda vectors, value: em.load_model(value),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_types_are_refused_in_one_line(random, name):
    for value in WRONG:
        with pytest.raises((EmbeddingsError, TypeError, ValueError)) as error:
            CALLS[name](random, value)
        assert "\n" not in str(error.value), value


def test_the_message_shows_what_was_given(random):
    for value in (3, 2.5, None, b"w1"):
        with pytest.raises(EmbeddingsError, match=f"{re.escape(repr(value))}$"):
            random.most_similar(value)
        with pytest.raises(EmbeddingsError, match=f"{re.escape(repr(value))}$"):
            em.lookup(random, value)


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
