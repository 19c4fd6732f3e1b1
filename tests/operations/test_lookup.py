"""Vectors of words that may have none."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import SettingError

VECTORS = em.Vectors(["a", "b", "c"], np.array([[1, 0], [0, 2], [3, 3]], np.float32))


def test_known_words_have_their_own_whatever_the_rest_gets():
    for unseen in ("zero", "unknown", "hashed", "context"):
        found = em.lookup(VECTORS, ["c", "?", "a"], unseen)
        assert found.dtype == np.float32
        assert found[[0, 2]].tolist() == [[3, 3], [1, 0]]
    assert em.lookup(VECTORS, ["c"], "subwords").tolist() == [[3, 3]]


def test_zero():
    assert em.lookup(VECTORS, ["?", "!"]).tolist() == [[0, 0], [0, 0]]
    assert em.lookup(VECTORS, []).shape == (0, 2)


def test_unknown_is_the_learned_one_or_the_mean_of_rare_words(monkeypatch):
    monkeypatch.setattr("embeddings.vectors.lookup.RARE", 2)
    assert em.lookup(VECTORS, ["?"], "unknown").tolist() == [[1.5, 2.5]]
    learned = em.Vectors(["a", "<unk>"], np.array([[1, 0], [7, 8]], np.float32))
    assert em.lookup(learned, ["?", "a"], "unknown").tolist() == [[7, 8], [1, 0]]


def test_rare_words_are_told_by_counts_and_without_any_word_there_are_zeros(monkeypatch):
    monkeypatch.setattr("embeddings.vectors.lookup.RARE", 2)
    counted = em.Vectors(VECTORS.words, VECTORS.matrix, counts=[1, 5, 2])
    assert em.lookup(counted, ["?"], "unknown").tolist() == [[2, 1.5]]
    nothing = em.Vectors([], np.empty((0, 2), np.float32))
    for unseen in ("zero", "unknown", "context"):
        assert em.lookup(nothing, ["?"], unseen).tolist() == [[0, 0]]


def test_hashed_depends_on_word_and_seed_alone_and_is_as_long_as_others():
    vectors = em.Vectors(["a", "b"], np.ones((2, 50), np.float32) * 3)
    one, two, again = em.lookup(vectors, ["x", "y", "x"], "hashed")
    assert one.tobytes() == again.tobytes() == em.lookup(vectors, ["x"], "hashed")[0].tobytes()
    assert abs(one @ two) / (one @ one) < 0.7
    assert np.linalg.norm(one) == pytest.approx(3 * 50**0.5, rel=1e-5)
    assert em.lookup(vectors, ["x"], "hashed", seed=2)[0].tobytes() != one.tobytes()


def test_context_is_the_mean_of_known_words_near():
    words = ["a", "?", "b", "!", "?", "?", "c"]
    found = em.lookup(VECTORS, words, "context", window=2)
    assert found[1].tolist() == [0.5, 1]  # a and b
    assert found[3].tolist() == [0, 2]
    assert found[5].tolist() == [3, 3]
    assert em.lookup(VECTORS, words, "context", window=1)[4].tolist() == [0, 0]


def test_subwords():
    model = em.train("fasttext", [["kitten", "cat"]] * 9, dim=4, min_count=1, threads=1)
    found = em.lookup(model.vectors, ["kittens", "cat"], "subwords")
    assert found[0].tolist() == model.compose(["kittens"])[0].tolist()
    assert found[1].tolist() == model.vectors["cat"].tolist()


@pytest.mark.parametrize(
    ("words", "given", "told"),
    [
        (["?"], {"unseen": "none"}, "unseen must be one of zero, unknown, hashed, subwords, context, not 'none'"),
        (["?"], {"unseen": "subwords"}, "these vectors compose nothing of the parts of a word"),
        (["?"], {"unseen": "context", "window": 0}, "window must be at least 1"),
        (["?", 3], {}, "words must be texts, not 3"),
        (["?"], {"unseen": "hashed", "seed": 0.5}, "seed must be a whole number, not 0.5"),
        ("word", {}, "words must be a list of words, not the text 'word'"),
    ],
)
def test_what_is_asked_for_wrongly(words, given, told):
    with pytest.raises(SettingError, match=told):
        em.lookup(VECTORS, words, **given)


def test_a_model_stands_for_its_vectors_everywhere(tmp_path):
    model = em.train("cbow", [["a", "b", "c"]] * 9, dim=4, min_count=1, threads=1)
    own = model.vectors
    assert em.lookup(model, ["a", "?"]).tolist() == em.lookup(own, ["a", "?"]).tolist()
    assert em.align(model, onto=model).residual == em.align(own, onto=own).residual
    assert em.merge(model, model).matrix.tolist() == own.matrix.tolist()
    em.build_index(model, "exact").save(tmp_path / "i")
    assert own.most_similar("a", index=em.load_index(tmp_path / "i", model)) == own.most_similar("a")
    wrong = [
        lambda: em.lookup("v", ["a"]),
        lambda: em.align(own, onto=3),
        lambda: em.merge(own, None),
        lambda: em.build_index("v"),
        lambda: em.load_index(tmp_path / "i", "v"),
    ]
    for one in wrong:
        with pytest.raises(SettingError, match="vectors are Vectors or a Model, such as "):
            one()
