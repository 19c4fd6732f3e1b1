"""Vectors of strings against sums over all their substrings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.models.model import Model
from embeddings.plugins.sembei.sembei import NgramComposer, new_composer
from embeddings.vectors.vectors import Vectors

LETTERS = "ab本\U0001f600\ud800 "
NGRAMS = st.lists(st.text(LETTERS, min_size=1, max_size=5), min_size=1, max_size=15, unique=True)


@settings(deadline=None, max_examples=150)
@given(ngrams=NGRAMS, texts=st.lists(st.text(LETTERS + "z", max_size=12), max_size=6))
def test_sum_over_all_substrings(ngrams, texts):
    rows = np.random.default_rng(len(ngrams)).standard_normal((len(ngrams), 3)).astype(np.float32)
    index = {ngram: i for i, ngram in enumerate(ngrams)}
    expected = np.zeros((len(texts), 3))
    for total, text in zip(expected, texts, strict=True):
        for begin in range(len(text)):
            for end in range(begin + 1, len(text) + 1):
                if text[begin:end] in index:
                    total += rows[index[text[begin:end]]]
    vectors = NgramComposer(ngrams, rows)(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected.reshape(len(texts), 3), atol=1e-4)


def model(**tables):
    words = ["ab", "a", "b"]
    vectors = Vectors(words, np.ones((3, 2), np.float32))
    return Model("sembei", vectors=vectors, vocabulary=Vocabulary(words, [3, 2, 1]), tables=tables)


@pytest.mark.parametrize("table", [None, np.ones((2, 2), np.float32), np.ones((3, 2)), np.ones(3, np.float32)])
def test_a_damaged_model_is_refused(table):
    with pytest.raises(FormatError, match=r"sembei.*ngrams.*float32.*\(3, 2\)"):
        new_composer(model(**({} if table is None else {"ngrams": table})))
