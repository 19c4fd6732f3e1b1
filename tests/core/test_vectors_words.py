"""Vectors are asked by word: what is no word is refused in a line, and all words are listed."""

import re

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.vectors.vectors import Vectors


@pytest.fixture(params=[False, True], ids=["words", "composed"])
def vectors(request):
    compose = (lambda words: np.zeros((len(words), 2))) if request.param else None
    return Vectors(["cat", "dog", "5"], np.arange(6).reshape(3, 2), compose=compose)


@pytest.mark.parametrize("key", [5, 0, -1, None, b"cat", 1.5, True, {"cat"}, np.int64(1), slice(0, 2)])
def test_what_is_no_word_is_refused(vectors, key):
    with pytest.raises(SettingError, match=rf"^a word is a text, or several in a list, not {re.escape(repr(key))}$"):
        vectors[key]


@pytest.mark.parametrize("key", [[5], ["cat", None], ("dog", b"cat"), [["cat"]]])
def test_a_list_that_holds_what_is_no_word_is_refused(vectors, key):
    with pytest.raises(SettingError, match=rf"^a word is a text, not {re.escape(repr(key[-1]))}$"):
        vectors[key]


def test_words_are_listed_in_their_order(vectors):
    assert list(vectors) == ["cat", "dog", "5"]
    assert [*vectors] == vectors.words
    assert len(list(vectors)) == len(vectors)
    assert all(word in vectors for word in vectors)
    assert dict(zip(vectors, vectors.matrix.tolist(), strict=True))["dog"] == [2, 3]


def test_words_give_vectors(vectors):
    assert vectors["5"].tolist() == [4, 5]
    assert vectors[["dog", "cat"]].tolist() == [[2, 3], [0, 1]]
    assert vectors[np.array(["dog"])].tolist() == [[2, 3]]
    assert vectors[[]].shape == (0, 2)
