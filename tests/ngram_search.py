"""Tries of n-grams, and a compiled search for all n-grams of a text."""

import numpy as np

from embeddings.compilation.jit import allocating_entry_point
from embeddings.corpora.token_trie import build_trie, find_sequences


@allocating_entry_point
def find_all_ngrams(trie, ids, ngrams):
    """`find_sequences` from each position of `ids`, into `ngrams` (tokens, longest); returns how many there are."""
    count = 0
    for i in range(ids.shape[0]):
        count += find_sequences(trie, ids, i, ids.shape[0], ngrams[i])
    return count


def trie_of(ngrams, words, tokens, longest=8):
    sequences = np.full((len(ngrams), longest), -1, np.int32)
    for row, ngram in zip(sequences, ngrams, strict=True):
        row[: len(ngram)] = ngram
    return build_trie(sequences, np.asarray(words, np.int32), tokens)
