"""The frequent n-grams of a corpus of characters, or of any tokens, counted exactly in bounded memory.

An n-gram can be frequent only if its first and its last n - 1 tokens are frequent (Agrawal and Srikant 1994). So a pass
for each length counts pairs of overlapping n-grams one token shorter; the key of a pair is prefix << 32 | suffix.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import allocating_entry_point, entry_point
from embeddings.corpora import token_trie
from embeddings.corpora.array_file import ArrayFile
from embeddings.corpora.corpus_cache import corpora_folder, temporary_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.key_counts import CHUNK, count_keys
from embeddings.corpora.tokenizers import characters
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S, SettingError

CHUNK_SIZE = CHUNK  # tokens read at a time
MAX_NGRAMS = 1 << 23  # distinct n-grams of one length in memory, 16 to 48 bytes each
EXTRA_BORDERS = "\ufeff"  # besides white space and control characters


@dataclass(frozen=True)
class Ngrams:
    """Frequent n-grams.

    Arguments:
        vocabulary: the n-grams as strings with counts, most frequent first.
        sequences: (n-grams, longest) int32, their token ids in the corpus, -1 after the last.
        words: (n-grams,) int32, their vocabulary indices; different tokens may spell the same string.
        tokens: number of different tokens of the corpus.
        lines: (lines + 1,) boundaries in its ids that no n-gram crosses.
        unit: what its tokens are called, in the plural.
    """

    vocabulary: Vocabulary
    sequences: NDArray[np.int32]
    words: NDArray[np.int32]
    tokens: int
    lines: NDArray[np.int64]
    unit: str

    @cached_property
    def trie(self) -> token_trie.TokenTrie:
        """The trie that finds the n-grams in ids of the corpus."""
        return token_trie.build_trie(self.sequences, self.words, self.tokens)


def frequent_ngrams(
    encoded: EncodedCorpus,
    *,
    max_n: int = 4,
    min_count: int = 5,
    per_length: Sequence[int] | None = None,
    max_vocab: int | None = None,
    cross_lines: bool = False,
) -> Ngrams:
    """The n-grams of one to `max_n` tokens that occur at least `min_count` times.

    No n-gram contains white space, a control character or U+FEFF. In an n-gram's string, tokens of several characters
    are joined by "_". If more than `MAX_NGRAMS` of one length are frequent, the rarest n-grams and all longer n-grams
    that contain them are left out.

    Arguments:
        per_length: how many of the most frequent n-grams to take of each length; the last number is for all greater
            lengths. Equal counts are ordered by token, in code point order.
        max_vocab: the maximum number of n-grams of all lengths.
        cross_lines: n-grams may cross line ends, but not document ends.
    """
    if encoded.meta["fixed_vocabulary"]:
        raise SettingError("n-grams are counted from the corpus: leave out its fixed vocabulary")
    tokens = encoded.vocabulary.words
    order = np.argsort(np.argsort(np.array(tokens, object)))
    sequences_by_length, counts_by_length = [], []
    with temporary_folder(corpora_folder()) as scratch:
        counter = NgramCounter(encoded, cross_lines, min_count, scratch)
        for n in range(1, max_n + 1):
            if n > 1:
                counter.grow()
            limit = None if per_length is None else per_length[min(n, len(per_length)) - 1]
            selected = counter.most_frequent(limit, max_n, order)
            sequences_by_length.append(counter.sequences(selected, max_n))
            counts_by_length.append(counter.counts[selected])
    sequences, joiner = np.concatenate(sequences_by_length), joiner_of(tokens)
    spellings = [joiner.join([tokens[token] for token in row if token >= 0]) for row in sequences.tolist()]
    if not spellings:
        raise CorpusError(f"no n-gram occurs {min_count} times; lower {S.min_count}")
    counts_by_word: dict[str, int] = {}  # different tokens may spell the same string
    for word, count in zip(spellings, np.concatenate(counts_by_length).tolist(), strict=True):
        counts_by_word[word] = counts_by_word.get(word, 0) + count
    vocabulary = Vocabulary.from_counts(counts_by_word).select(max_vocab=max_vocab)
    words = np.array([vocabulary.ids.get(word, token_trie.NONE) for word in spellings], np.int32)
    unit = "words" if joiner else "characters"
    return Ngrams(vocabulary, sequences[words >= 0], words[words >= 0], len(tokens), counter.lines, unit)


class NgramCounter:
    """Counts n-grams length by length. Each n-gram has a number among those of its length.

    `lasts` holds the last token of each n-gram by length, `prefixes` the number of the n-gram without it, and `numbers`
    the n-gram of the length counted last but one that starts at each position, -1 for none and between lines. `keys`
    are the frequent pairs of the length counted last, and `counts` their counts.
    """

    def __init__(self, encoded: EncodedCorpus, cross_lines: bool, min_count: int, scratch: Path) -> None:
        lines = np.asarray(encoded.sentences)
        self.lines = lines[np.asarray(encoded.documents)] if cross_lines else lines
        self.min_count, self.scratch = min_count, scratch
        self.counts: NDArray[np.int64] = encoded.vocabulary.counts
        has_border = [
            any(one.isspace() or one in EXTRA_BORDERS or category(one) == "Cc" for one in token)
            for token in encoded.vocabulary.words
        ]
        self.allowed = ~np.array(has_border, np.bool_) & (self.counts >= min_count)
        self.lasts = [np.arange(len(self.counts), dtype=np.int32)]
        self.prefixes = [np.full(len(self.counts), token_trie.NONE, np.int32)]
        self.keys: NDArray[np.int64] | None = None
        ids = np.asarray(encoded.ids)  # `numbers`: those of allowed tokens, in a file that is mapped into memory
        numbers = np.append(
            np.where(self.allowed, np.arange(len(self.allowed)), token_trie.NONE), token_trie.NONE
        ).astype(np.int32)
        with closing(ArrayFile(self.scratch / "numbers.npy", np.int32, is_draft=True)) as file:
            for begin in range(0, len(ids), CHUNK_SIZE):
                chunk = ids[begin : begin + CHUNK_SIZE]
                first, last = np.searchsorted(self.lines, [begin, begin + len(chunk)])
                own = numbers[np.minimum(chunk, len(numbers) - 1)]
                file.append(np.insert(own, self.lines[first:last] - begin, token_trie.NONE))
            file.append(np.array([token_trie.NONE]))
        self.numbers: NDArray[np.int32] = np.asarray(np.load(file.path, mmap_mode="r+"))

    def grow(self) -> None:
        """Count the n-grams that are one token longer than those counted last."""
        if self.keys is not None:
            ends = np.arange(len(self.keys), dtype=np.int32)
            pairs = token_trie.new_trie(token_trie.NO_IDS, self.keys.astype(np.uint64), ends, token_trie.NO_IDS, 2)
            for begin in range(0, len(self.numbers), CHUNK_SIZE):  # so that an interrupt is handled in between
                lengthen_ngrams(self.numbers[begin : begin + CHUNK_SIZE + 1], pairs)
        kept = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        for keys, counts in count_keys(filter(len, self.pairs()), self.scratch):
            is_frequent = counts >= self.min_count
            kept.append((keys[is_frequent], counts[is_frequent]))
            if sum(len(part) for part, _ in kept) > MAX_NGRAMS:  # raises the minimum count
                keys, counts = map(np.concatenate, zip(*kept, strict=True))
                self.min_count = int(np.partition(counts, -MAX_NGRAMS - 1)[-MAX_NGRAMS - 1]) + 1
                kept = [(keys[counts >= self.min_count], counts[counts >= self.min_count])]
        self.keys, self.counts = map(np.concatenate, zip(*kept, strict=True))
        self.prefixes.append((self.keys >> token_trie.TOKEN_BITS).astype(np.int32))
        self.lasts.append(self.lasts[-1][self.keys & (2**token_trie.TOKEN_BITS - 1)])

    def pairs(self) -> Iterator[NDArray[np.int64]]:
        """Yield the keys of the pairs of n-grams at neighbouring positions, a chunk of the text at a time.

        The chunks share their memory.
        """
        keys = np.empty(min(CHUNK_SIZE, len(self.numbers)), np.int64)
        for begin in range(0, len(self.numbers) - 1, CHUNK_SIZE):
            yield keys[: write_pairs(self.numbers[begin : begin + CHUNK_SIZE + 1], keys)]

    def most_frequent(self, limit: int | None, max_n: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The `limit` most frequent n-grams of the length counted last, ties by token; all without a limit."""
        is_frequent = self.counts >= self.min_count
        selected = np.flatnonzero(is_frequent & self.allowed if self.keys is None else is_frequent)
        if limit is None or len(selected) <= limit:
            return selected
        if limit == 0:
            return selected[:0]
        counts = self.counts[selected]
        selected = selected[counts >= np.partition(counts, -limit)[-limit]]
        tokens = self.sequences(selected, max_n)
        columns = [order[tokens[:, n]] for n in reversed(range(max_n))]
        first: NDArray[np.int64] = selected[np.lexsort([*columns, -self.counts[selected]])][:limit]
        return first

    def sequences(self, selected: NDArray[np.int64], max_n: int) -> NDArray[np.int32]:
        """The token ids of n-grams of the length counted last."""
        tokens, at = np.full((len(selected), max_n), token_trie.NONE, np.int32), selected
        for level in reversed(range(len(self.lasts))):
            tokens[:, level] = self.lasts[level][at]
            at = self.prefixes[level][at].astype(np.int64)
        return tokens


def joiner_of(tokens: Sequence[str]) -> str:
    """The string between the tokens of an n-gram: none between characters."""
    return "" if all(len(characters(token)) <= 1 for token in tokens) else "_"


@entry_point
def write_pairs(numbers: np.ndarray, keys: np.ndarray) -> int:
    """Write the keys of all pairs of neighbouring numbers; returns how many there are."""
    n = 0
    for i in range(numbers.shape[0] - 1):
        if numbers[i] >= 0 and numbers[i + 1] >= 0:
            keys[n] = np.int64(numbers[i]) << token_trie.TOKEN_BITS | np.int64(numbers[i + 1])
            n += 1
    return n


@allocating_entry_point
def lengthen_ngrams(numbers: np.ndarray, pairs: token_trie.TokenTrie) -> None:
    """Replace each number but the last by that of the pair with the next number, or NONE."""
    for i in range(numbers.shape[0] - 1):
        # An n-gram is the pair of its two (n-1)-grams, so each length takes one more pass and no strings.
        is_pair = numbers[i] >= 0 and numbers[i + 1] >= 0
        numbers[i] = token_trie.child(pairs, np.int64(numbers[i]), numbers[i + 1]) if is_pair else token_trie.NONE
