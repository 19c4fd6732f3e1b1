"""The trie of n-grams against a search for substrings."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_search import find_all_ngrams, trie_of

TOKENS = 5  # larger ids are not tokens
TEXTS = st.lists(st.integers(-1, TOKENS + 1) | st.just(2**31 - 1), max_size=30)
NGRAMS = st.lists(
    st.lists(st.integers(0, TOKENS - 1), min_size=1, max_size=6), min_size=1, max_size=20, unique_by=tuple
)


def search(ngrams, words, text, longest=8):
    """The n-gram of each length at each position, or -1."""
    result = np.full((len(text), longest), -1)
    for i in range(len(text)):
        for ngram, word in zip(ngrams, words, strict=True):
            if text[i : i + len(ngram)] == ngram:
                result[i, len(ngram) - 1] = word
    return result


def walk(trie, text):
    result = np.full((len(text), trie.longest), 7, np.int32)
    count = find_all_ngrams(trie, np.array(text, np.int32), result)
    assert count == np.count_nonzero(result >= 0)
    return result


@settings(deadline=None, max_examples=300)
@given(ngrams=NGRAMS, text=TEXTS, shared=st.booleans())
def test_all_ngrams_are_found_whether_or_not_their_prefixes_are_ngrams(ngrams, text, shared):
    words = [3 if shared else 2 * i for i in range(len(ngrams))]
    np.testing.assert_array_equal(walk(trie_of(ngrams, words, TOKENS), text), search(ngrams, words, text))


def test_many_ngrams_over_a_large_alphabet():
    rng = np.random.default_rng(1)
    text = rng.zipf(1.3, 3000) % 20000
    picked = {tuple(text[i : i + n].tolist()) for i, n in zip(range(0, 2900, 2), rng.integers(1, 9, 1450), strict=True)}
    ngrams = [list(ngram) for ngram in sorted(picked)]
    words = rng.permutation(len(ngrams))
    trie = trie_of(ngrams, words, 20000)
    np.testing.assert_array_equal(walk(trie, text.tolist()), search(ngrams, words, text.tolist()))
