"""A compiled search for all n-grams of a text."""

from embeddings.compilation.jit import allocating_entry_point
from embeddings.corpora.token_trie import find_sequences


@allocating_entry_point
def find_all_ngrams(trie, ids, ngrams):
    """`find_sequences` from each position of `ids`, into `ngrams` (tokens, longest); returns how many there are."""
    count = 0
    for i in range(ids.shape[0]):
        count += find_sequences(trie, ids, i, ids.shape[0], ngrams[i])
    return count
