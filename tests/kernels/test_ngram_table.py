"""The table of n-grams against a search for substrings."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.plugins.sembei.ngram_trie import build_trie, find_all_ngrams

TOKENS = 5  # and ids from 5 on are of no token
TEXTS = st.lists(st.integers(0, TOKENS + 1), max_size=30)
NGRAMS = st.lists(
    st.lists(st.integers(0, TOKENS - 1), min_size=1, max_size=6), min_size=1, max_size=20, unique_by=tuple
)


def table_of(ngrams, words, tokens=TOKENS, longest=8):
    sequences = np.full((len(ngrams), longest), -1, np.int32)
    for row, ngram in zip(sequences, ngrams, strict=True):
        row[: len(ngram)] = ngram
    return build_trie(sequences, np.asarray(words, np.int32), tokens)


def search(ngrams, words, text, longest=8):
    """For each place and length the n-gram that stands there."""
    found = np.full((len(text), longest), -1)
    for i in range(len(text)):
        for ngram, word in zip(ngrams, words, strict=True):
            if text[i : i + len(ngram)] == ngram:
                found[i, len(ngram) - 1] = word
    return found


def walked(table, text):
    found = np.full((len(text), table.longest), 7, np.int32)
    count = find_all_ngrams(table, np.array(text, np.int32), found)
    assert count == np.count_nonzero(found >= 0)
    return found


@settings(deadline=None, max_examples=300)
@given(ngrams=NGRAMS, text=TEXTS, shared=st.booleans())
def test_all_ngrams_are_found_whether_their_prefixes_are_ngrams_or_not(ngrams, text, shared):
    words = [3 if shared else 2 * i for i in range(len(ngrams))]
    np.testing.assert_array_equal(walked(table_of(ngrams, words), text), search(ngrams, words, text))


def test_many_ngrams_over_a_large_alphabet():
    rng = np.random.default_rng(1)
    text = rng.zipf(1.3, 3000) % 20000
    picked = {tuple(text[i : i + n].tolist()) for i, n in zip(range(0, 2900, 2), rng.integers(1, 9, 1450), strict=True)}
    ngrams = [list(ngram) for ngram in sorted(picked)]
    words = rng.permutation(len(ngrams))
    table = table_of(ngrams, words, 20000)
    np.testing.assert_array_equal(walked(table, text.tolist()), search(ngrams, words, text.tolist()))


def test_single_tokens_alone_and_ids_of_no_token():
    assert walked(table_of([[2], [4]], [1, 0]), [2, 3, 4, 5, -1, 2**31 - 1])[:, 0].tolist() == [1, -1, 0, -1, -1, -1]
