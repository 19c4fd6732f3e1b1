"""Vectors for words some of which have none, and models in place of vectors."""

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.models.model import Model

VECTORS = em.Vectors(["a", "b", "c"], np.array([[1, 0], [0, 2], [3, 3]], np.float32))


def test_known_words_have_their_own_vectors():
    rows = em.lookup(VECTORS, ["c", "?", "a"])
    assert rows.dtype == np.float32
    assert rows[[0, 2]].tolist() == [[3, 3], [1, 0]]
    for unseen in ("unknown", "subwords"):
        assert em.lookup(VECTORS, ["c"], unseen).tolist() == [[3, 3]]


def test_unknown_is_the_learned_vector():
    learned = em.Vectors(["a", "<unk>"], np.array([[1, 0], [7, 8]], np.float32))
    assert em.lookup(learned, ["?", "a"], "unknown").tolist() == [[7, 8], [1, 0]]


def test_without_any_word_there_are_zeros():
    assert em.lookup(em.Vectors([], np.empty((0, 2), np.float32)), ["?"]).tolist() == [[0, 0]]


def test_subwords():
    def compose(words):
        return np.array([[len(word), 1] for word in words])

    vectors = em.Vectors(VECTORS.words, VECTORS.matrix, compose=compose)
    assert em.lookup(vectors, ["kittens", "c"], "subwords").tolist() == [[7, 1], [3, 3]]


def test_a_model_stands_for_its_vectors(tmp_path):
    vectors = em.Vectors(["a", "b", "c"], np.array([[1, 0], [0.5, 1], [0, 1]]))
    model = Model("any", vectors=vectors, vocabulary=Vocabulary(["a", "b", "c"], [3, 2, 1]))
    assert em.lookup(model, ["a", "?"]).tolist() == em.lookup(vectors, ["a", "?"]).tolist()
    assert em.align(model, onto=model).residual == em.align(vectors, onto=vectors).residual
    assert em.merge(model, model).matrix.tolist() == vectors.matrix.tolist()
    em.build_index(model, "exact").save(tmp_path / "index")
    index = em.load_index(tmp_path / "index", model)
    assert vectors.most_similar("a", index=index) == vectors.most_similar("a")
    for call in (
        lambda: em.lookup("v", ["a"]),
        lambda: em.align(vectors, onto=3),
        lambda: em.merge(vectors, None),
    ):
        with pytest.raises(SettingError, match="Vectors or a Model"):
            call()
