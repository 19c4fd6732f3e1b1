"""Vectors for words some of which have none, and models in place of vectors."""

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.models.model import Model

VECTORS = em.Vectors(["a", "b", "c"], np.array([[1, 0], [0, 2], [3, 3]], np.float32))


def test_known_words_have_their_own_vectors():
    for unseen in ("zero", "unknown", "context"):
        rows = em.lookup(VECTORS, ["c", "?", "a"], unseen)
        assert rows.dtype == np.float32
        assert rows[[0, 2]].tolist() == [[3, 3], [1, 0]]
    assert em.lookup(VECTORS, ["c"], "subwords").tolist() == [[3, 3]]


def test_unknown_is_the_learned_vector_or_the_mean_of_rare_words(monkeypatch):
    monkeypatch.setattr("embeddings.vectors.lookup.N_RARE", 2)
    assert em.lookup(VECTORS, ["?"], "unknown").tolist() == [[1.5, 2.5]]
    learned = em.Vectors(["a", "<unk>"], np.array([[1, 0], [7, 8]], np.float32))
    assert em.lookup(learned, ["?", "a"], "unknown").tolist() == [[7, 8], [1, 0]]
    counted_vectors = em.Vectors(VECTORS.words, VECTORS.matrix, counts=[1, 5, 2])
    assert em.lookup(counted_vectors, ["?"], "unknown").tolist() == [[2, 1.5]]


def test_a_substitute_that_was_not_learned_is_reported(caplog):
    em.lookup(VECTORS, ["?", "a"], "unknown")
    assert "'?'" in caplog.text
    assert "mean of the 3 rarest" in caplog.text
    caplog.clear()
    em.lookup(em.Vectors(["a", "unk"], np.eye(2)), ["?", "a"], "unknown")
    assert "'unk'" in caplog.text
    caplog.clear()
    em.lookup(VECTORS, ["a"], "unknown")
    em.lookup(VECTORS, ["?"])
    assert not caplog.records


def test_without_any_word_there_are_zeros():
    empty = em.Vectors([], np.empty((0, 2), np.float32))
    for unseen in ("zero", "unknown", "context"):
        assert em.lookup(empty, ["?"], unseen).tolist() == [[0, 0]]


def test_context_is_the_mean_of_near_known_words():
    words = ["a", "?", "b", "!", "?", "?", "c"]
    rows = em.lookup(VECTORS, words, "context", window=2)
    assert rows[1].tolist() == [0.5, 1]  # a and b
    assert rows[3].tolist() == [0, 2]
    assert rows[5].tolist() == [3, 3]
    assert em.lookup(VECTORS, words, "context", window=1)[4].tolist() == [0, 0]


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
        lambda: em.build_index("v"),
        lambda: em.load_index(tmp_path / "index", "v"),
    ):
        with pytest.raises(SettingError, match="Vectors or a Model"):
            call()
