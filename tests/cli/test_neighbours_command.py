"""`embeddings neighbours`, `analogy` and `substitutes`: rows, composed and unknown words."""

import json
from types import SimpleNamespace

import pytest
from commands import expect, refused, table
from neural_models import context_model
from subword_models import fasttext_model

import embeddings as em
from embeddings.cli import neighbours


@pytest.fixture
def subword_model(folder):
    fasttext = fasttext_model()
    fasttext.export("m.bin", "fasttext")
    return fasttext


def test_rows_are_those_of_the_library(folder):
    vectors = em.load("v.bin")
    rows = table(expect("neighbours", "v.bin", "king", "dog", "--top", "2").stdout)
    expected = [(word, *neighbour) for word in ("king", "dog") for neighbour in vectors.most_similar(word, top=2)]
    assert [(row["word"], row["neighbour"], row["cosine"]) for row in rows] == [
        (word, neighbour, f"{cosine:.4g}") for word, neighbour, cosine in expected
    ]
    words, method = ("king", "queen", "dog"), "3cosmul"
    rows = json.loads(expect("analogy", "v.bin", *words, "--json", "--top", "2", "--method", method).stdout)
    assert [(row["word"], row["score"]) for row in rows] == vectors.analogy(*words, method=method, top=2)
    context_model().save("m")
    texts = ("a [] for lunch", "[] ate")
    rows = table(expect("substitutes", "m", *texts, "--top", 2).stdout)
    assert [row["substitute"] for row in rows] == [
        word for text in texts for word, _ in context_model().substitutes(text, top=2)
    ]
    assert "one gap" in refused("substitutes", "m", "no gap here", code=2)


def test_words_are_asked_for_on_a_terminal(folder, monkeypatch):
    assert "WORDS" in refused("neighbours", "v.bin", code=2)
    monkeypatch.setattr(neighbours, "asked", lambda prompt: iter(["king", "kingg"]))
    monkeypatch.setattr(neighbours, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    result = expect("neighbours", "v.bin", "--top", 2)
    assert result.stdout == expect("neighbours", "v.bin", "king", "--top", 2).stdout
    assert "'kingg'" in result.stderr


def test_unknown_words_do_not_hide_the_neighbours_of_others(folder):
    expected = expect("neighbours", "v.bin", "king", "dog").stdout
    result = expect("neighbours", "v.bin", "king", "kingg", "dog", code=1)
    assert result.stdout == expected
    assert result.stderr.startswith("Error: no vector for 'kingg' among 9 words")
    result = expect("neighbours", "v.bin", "xyz", "king", "kingg", "dog", code=1)
    assert (result.stdout, result.stderr) == (expected, "Error: no vectors for 'xyz', 'kingg' among 9 words\n")
    assert expect("neighbours", "v.bin", "xyz", "kingg", code=1).stdout == ""


def test_composed_vectors_of_unknown_words_are_reported(subword_model):
    result = expect("neighbours", "m.bin", "wheres", "the", "--top", 2)
    assert "composed" in result.stderr
    assert "wheres" in result.stderr
    assert table(result.stdout)[0]["neighbour"] == subword_model.vectors.most_similar("wheres")[0][0]
    assert "composed" not in expect("neighbours", "m.bin", "the").stderr
    assert "composed" in expect("neighbours", "m.bin", "", code=1).stderr
    assert "composed" in expect("analogy", "m.bin", "the", "where", "wheres").stderr
