"""A compiled search for all n-grams of a text."""

from embeddings.compilation.jit import allocating_entry_point
from embeddings.plugins.sembei.ngram_trie import find_ngrams


@allocating_entry_point
def find_all_ngrams(trie, ids, ngrams):
    """`find_ngrams` from each position of `ids`, into `ngrams` (tokens, longest); returns how many there are."""
    count = 0
    for i in range(ids.shape[0]):
        count += find_ngrams(trie, ids, i, ids.shape[0], ngrams[i])
    return count
