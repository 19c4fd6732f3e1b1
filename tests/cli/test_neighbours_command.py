"""`embeddings neighbours`: words as typed, composed and unknown words."""

import numpy as np
import pytest
from commands import expect, table
from subword_models import fasttext_model

import embeddings as em


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["the", "king", "queen", "dog", "cat"]
    vectors = em.Vectors(words, np.random.default_rng(1).normal(size=(5, 4)))
    vectors.save("v.bin")
    return vectors


@pytest.fixture
def subword_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fasttext = fasttext_model()
    fasttext.export("m.bin", "fasttext")
    return fasttext


def test_neighbours(vectors):
    rows = table(expect("neighbours", "v.bin", "king", "dog", "--top", "2").stdout)
    expected = [(word, *neighbour) for word in ("king", "dog") for neighbour in vectors.most_similar(word, top=2)]
    assert [(row["word"], row["neighbour"], row["cosine"]) for row in rows] == [
        (word, neighbour, f"{cosine:.4g}") for word, neighbour, cosine in expected
    ]


def test_unknown_words_do_not_hide_the_neighbours_of_others(vectors):
    expected = expect("neighbours", "v.bin", "king", "dog").stdout
    result = expect("neighbours", "v.bin", "king", "kingg", "dog", code=1)
    assert result.stdout == expected
    assert result.stderr.startswith("Error: no vector for 'kingg' among 5 words")
    result = expect("neighbours", "v.bin", "xyz", "king", "kingg", "dog", code=1)
    assert (result.stdout, result.stderr) == (expected, "Error: no vectors for 'xyz', 'kingg' among 5 words\n")
    assert expect("neighbours", "v.bin", "xyz", "kingg", code=1).stdout == ""


def test_composed_vectors_of_unknown_words_are_reported(subword_model):
    result = expect("neighbours", "m.bin", "wheres", "the", "--top", 2)
    assert "composed" in result.stderr
    assert "wheres" in result.stderr
    assert table(result.stdout)[0]["neighbour"] == subword_model.vectors.most_similar("wheres")[0][0]
    assert "composed" not in expect("neighbours", "m.bin", "the").stderr
    assert "composed" in expect("neighbours", "m.bin", "", code=1).stderr
    assert "composed" in expect("analogy", "m.bin", "the", "where", "wheres").stderr
