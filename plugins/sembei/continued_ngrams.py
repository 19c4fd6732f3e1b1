"""The n-grams of continued training: all of the model, and those of the new text that a model of it would have."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError
from embeddings.kernels.jit import allocating_entry_point
from embeddings.plugins.sembei.ngram_trie import NONE, NgramTrie, build_trie, find_ngrams
from embeddings.plugins.sembei.ngram_vocabulary import (
    CHUNK_SIZE,
    Ngrams,
    frequent_sequences,
    joiner_of,
    spell,
    token_unit,
)
from embeddings.training.continued_training import extend_vocabulary


def continued_ngrams(
    previous: Vocabulary,
    encoded: EncodedCorpus,
    *,
    max_n: int,
    min_count: int,
    per_length: Sequence[int] | None,
    max_vocab: int | None,
    cross_lines: bool,
) -> Ngrams:
    """The n-grams of a model and the frequent ones of new text, with added counts.

    Arguments:
        previous: the n-grams of the model, with their counts.
        max_n, min_count, per_length, cross_lines: as `frequent_ngrams`, for n-grams of the new text.
        max_vocab: how many n-grams to take in all; those of the model are all kept.

    Raises:
        CorpusError: no n-gram of the model occurs in the text, or can.
    """
    tokens = encoded.vocabulary.words
    sequences, _, lines = frequent_sequences(encoded, max_n, min_count, per_length, cross_lines)
    spellings = spell(sequences, tokens, joiner_of(tokens))
    rare_sequences, rare_spellings = previous_sequences(set(previous.words).difference(spellings), tokens, max_n)
    sequences, spellings = np.concatenate([sequences, rare_sequences]), spellings + rare_spellings
    if not spellings:
        raise CorpusError("the corpus and the model have no n-gram in common")
    numbers = {word: number for number, word in enumerate(dict.fromkeys(spellings))}
    trie = build_trie(sequences, np.array([numbers[word] for word in spellings], np.int32), len(tokens))
    counts = count_ngrams(trie, np.asarray(encoded.ids), lines, len(numbers))
    occurring = {word: count for word, count in zip(numbers, counts.tolist(), strict=True) if count}
    vocabulary = extend_vocabulary(previous, Vocabulary.from_counts(occurring), min_count=1, max_vocab=max_vocab)
    words = np.array([vocabulary.ids.get(word, NONE) for word in spellings], np.int32)
    return Ngrams(vocabulary, sequences[words >= 0], words[words >= 0], len(tokens), lines, token_unit(tokens))


def previous_sequences(words: set[str], tokens: Sequence[str], max_n: int) -> tuple[NDArray[np.int32], list[str]]:
    """All n-grams of tokens that are spelled like one of these strings, (n-grams, max_n), and the string of each."""
    ids, joiner = {token: number for number, token in enumerate(tokens)}, joiner_of(tokens)
    longest = max(map(len, tokens), default=0)
    found = [(word, row) for word in sorted(words) for row in token_sequences(word, ids, joiner, longest, max_n)]
    sequences = np.full((len(found), max_n), NONE, np.int32)
    for sequence, (_, row) in zip(sequences, found, strict=True):
        sequence[: len(row)] = row
    return sequences, [word for word, _ in found]


def token_sequences(word: str, ids: Mapping[str, int], joiner: str, longest: int, max_n: int) -> list[list[int]]:
    """All sequences of at most `max_n` tokens, with a joiner in between, that spell a string.

    Arguments:
        longest: characters of the longest token.
    """
    complete, incomplete = [], [(0, [])]  # type: tuple[list[list[int]], list[tuple[int, list[int]]]]
    while incomplete:
        start, row = incomplete.pop()
        for end in range(start + 1, min(start + longest, len(word)) + 1):
            token = ids.get(word[start:end])
            if token is None:
                continue
            if end == len(word):
                complete.append([*row, token])
            elif len(row) + 1 < max_n and word.startswith(joiner, end):
                incomplete.append((end + len(joiner), [*row, token]))
    return complete


def count_ngrams(trie: NgramTrie, ids: NDArray[np.int32], lines: NDArray[np.int64], words: int) -> NDArray[np.int64]:
    """How often each n-gram occurs within the lines of a text, (words,)."""
    counts = np.zeros(words, np.int64)
    for begin in range(0, len(ids), CHUNK_SIZE):  # so that an interrupt is handled in between
        count_occurrences(trie, ids, np.asarray(lines), begin, min(begin + CHUNK_SIZE, len(ids)), counts)
    return counts


@allocating_entry_point
def count_occurrences(
    trie: NgramTrie, ids: np.ndarray, lines: np.ndarray, begin: int, end: int, counts: np.ndarray
) -> None:
    """Count the n-grams that start at positions begin to end."""
    ngrams, line = np.empty(trie.longest, np.int32), np.searchsorted(lines, begin, side="right")
    for position in range(begin, end):
        while line < lines.shape[0] and lines[line] <= position:
            line += 1
        border = ids.shape[0] if line == lines.shape[0] else min(lines[line], ids.shape[0])
        find_ngrams(trie, ids, position, border, ngrams)
        for word in ngrams:
            if word >= 0:
                counts[word] += 1
