"""Completion against a naive search."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.explorer.vector_explorer import VectorExplorer
from embeddings.explorer.word_map import WordMap

LETTERS = st.text(alphabet="abAÄäßs\U0010ffff\ud800-", max_size=4)


@given(st.lists(LETTERS, unique=True, min_size=1, max_size=30), LETTERS, st.integers(1, 5))
def test_completions_are_the_most_frequent_words_with_the_prefix(words, prefix, limit):
    key = prefix.lstrip().casefold()
    expected = [word for word in words if key and word.casefold().startswith(key)][:limit]
    vectors = em.Vectors(words, np.ones((len(words), 1)))
    word_map = WordMap(vectors, words=1, projection="pca", groups=1, seed=1)
    assert VectorExplorer(vectors, word_map, "words").complete(prefix, limit) == {"words": expected}
