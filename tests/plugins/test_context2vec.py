"""Contexts of words by a recurrent network."""

import numpy as np
import pytest
from neural_models import WORDS, context_model, naive_context

import embeddings as em
from embeddings.errors import SettingError

UNKNOWN = len(WORDS)


def rows_of(text):
    return [WORDS.index(word) if word in WORDS else UNKNOWN for word in text.split()]


@pytest.mark.parametrize("text", ["the cat ate a [] for lunch", "[] ate", "the dog []", "[]", "the [] CAT, zzz!"])
def test_context_vectors_equal_a_naive_network(text):
    model, plain = context_model(), text.lower().replace(",", "").replace("!", "")
    ids = rows_of(plain)
    expected = naive_context(model.tables, ids, plain.split().index("[]"))
    np.testing.assert_allclose(model.context_vector(text), expected, rtol=1e-4, atol=1e-5)


def test_several_texts_have_the_vectors_of_each():
    model, texts = context_model(), ["a [] for lunch", "[]", "the cat ate a [] for a lunch and then x []"[:-3], "x []"]
    np.testing.assert_allclose(model.context_vectors(texts), [model.context_vector(one) for one in texts], atol=1e-6)
    assert model.context_vectors([]).shape == (0, 6)


def test_all_contexts_of_sentences_are_encoded():
    model = context_model()
    encoder = em.Context2Vec.context_encoder(model)
    sentences = [np.array(one) for one in ([0, 1, 2, 9, 3, 4], [5], [30, 1], [2, 2, 2, 2])]
    for ids, rows in zip(sentences, encoder(sentences), strict=True):
        expected = [naive_context(model.tables, ids.tolist(), place) for place in range(len(ids))]
        np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)


def test_substitutes_are_the_nearest_words():
    model, text = context_model(), "the cat [] a fish"
    vector = model.context_vector(text)
    cosines = model.vectors.matrix @ vector / np.linalg.norm(model.vectors.matrix, axis=1) / np.linalg.norm(vector)
    expected = [WORDS[row] for row in np.argsort(-cosines)[:3]]
    assert [word for word, _ in model.substitutes(text, top=3)] == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [("I ate lunch", "no gap"), ("[] ate []", "2 gaps")],
)
def test_texts_need_one_gap(text, problem):
    with pytest.raises(SettingError, match=problem):
        context_model().context_vector(text)
