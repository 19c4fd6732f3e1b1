"""The frequent n-grams of a corpus of characters, or of any tokens, counted exactly in bounded memory.

An n-gram can be frequent only if its first and its last n - 1 tokens are frequent (Agrawal and Srikant 1994). So a pass
for each length counts pairs of overlapping n-grams one token shorter. If the table has no room for all distinct pairs,
several passes each count a part of them, so every count is exact.

Hash tables use open addressing with linear probing; the key of a pair is prefix << 32 | suffix.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import allocating_entry_point, inline
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.tokenizers import characters
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S, SettingError
from embeddings.kernels.random_numbers import random_bits
from embeddings.plugins.sembei.ngram_trie import NONE, NgramTrie, build_trie, find_ngrams
from embeddings.training.continued_training import extend_vocabulary

# numpy types in plain Python, machine types when compiled
Array = Any
Int = Any

EMPTY = np.uint64(2**64 - 1)
SUFFIX = np.uint64(32)
LOW = np.uint64(2**32 - 1)
N_PASS_KEYS = 2**32  # each pair has a pass key below this; a pass counts the pairs of a range of keys
POSITION, LINE = range(2)
CHUNK_SIZE = 1 << 20  # tokens read at a time
MAX_NGRAMS = 1 << 23  # distinct n-grams of one length in memory, 16 to 48 bytes each
INITIAL_BITS = 10  # a new table has 2 ** INITIAL_BITS slots
EXTRA_BORDERS = "\ufeff"  # besides white space and control characters

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]


class Pairs(NamedTuple):
    """A hash table from pairs to numbers, both (slots,), a power of two; `used` (1,) counts the occupied slots."""

    keys: np.ndarray
    values: np.ndarray
    used: np.ndarray


def new_pairs(bits: int) -> Pairs:
    """An empty table of 2 ** bits slots."""
    return Pairs(np.full(1 << bits, EMPTY), np.zeros(1 << bits, np.int64), np.zeros(1, np.int64))


@inline
def pair_slot(pairs: Pairs, key: Int, hashed: Int) -> Int:
    """The slot of a pair, or the empty slot where the pair belongs."""
    last = pairs.keys.shape[0] - 1
    slot = np.int64(hashed >> SUFFIX) & last
    while pairs.keys[slot] != key and pairs.keys[slot] != EMPTY:
        slot = (slot + 1) & last
    return slot


@inline
def hash_pair(key: Int) -> Int:
    """The hash of a pair: its upper half selects the slot, its lower half is the pass key."""
    return random_bits(key, np.uint64(0))


@allocating_entry_point
def insert_pairs(pairs: Pairs, keys: Array, values: Array, low: Int, high: Int) -> None:
    """Insert new pairs whose pass keys are in [low, high)."""
    for i in range(keys.shape[0]):
        hashed = hash_pair(keys[i])
        if keys[i] != EMPTY and low <= np.int64(hashed & LOW) < high:
            slot = pair_slot(pairs, keys[i], hashed)
            pairs.keys[slot] = keys[i]
            pairs.values[slot] = values[i]
            pairs.used[0] += 1


@allocating_entry_point
def read_chunk(ids: Array, lines: Array, allowed: Array, chunk: Array, cursor: Array, n: Int) -> Int:
    """Fill `chunk` with the next tokens of the corpus; returns the number of tokens.

    -1 separates lines and replaces tokens that are not `allowed` (vocabulary,). Where a line continues beyond the
    chunk, its last n - 1 tokens are read again next time. `cursor` (2,) is the position to continue from.
    """
    position, line, size, filled = cursor[POSITION], cursor[LINE], chunk.shape[0], 0
    while line + 1 < lines.shape[0] and filled + 1 < size:
        border = max(position, min(lines[line + 1], ids.shape[0]))
        while position < border and filled + 1 < size:
            token = ids[position]
            is_allowed = np.uint32(token) < allowed.shape[0] and allowed[token]
            chunk[filled] = token if is_allowed else -1
            filled += 1
            position += 1
        if position < border:
            position = max(position - (n - 1), lines[line])
            break
        chunk[filled] = -1
        filled += 1
        line += 1
    cursor[POSITION], cursor[LINE] = position, line
    return filled


@allocating_entry_point
def lengthen_ngrams(chunk: Array, frequent: Pairs) -> None:
    """Replace the n-gram at each position by the frequent n-gram with one more token, or -1."""
    last = chunk.shape[0] - 1
    for i in range(last):
        prefix, suffix = chunk[i], chunk[i + 1]
        chunk[i] = -1
        if prefix >= 0 and suffix >= 0:
            key = np.uint64(prefix) << SUFFIX | np.uint64(suffix)
            slot = pair_slot(frequent, key, hash_pair(key))
            if frequent.keys[slot] == key:
                chunk[i] = frequent.values[slot]
    chunk[last] = -1


@allocating_entry_point
def count_pairs(chunk: Array, start: Int, counts: Pairs, max_pairs: Int, low: Int, high: Int) -> Int:
    """Count the pairs of neighbours in `chunk`, from `start` on, whose pass keys are in [low, high).

    Returns where it stopped: at the last position, or before a new pair when the table holds `max_pairs`.
    """
    for i in range(start, chunk.shape[0] - 1):
        prefix, suffix = chunk[i], chunk[i + 1]
        if prefix < 0 or suffix < 0:
            continue
        key = np.uint64(prefix) << SUFFIX | np.uint64(suffix)
        hashed = hash_pair(key)
        if not low <= np.int64(hashed & LOW) < high:
            continue
        slot = pair_slot(counts, key, hashed)
        if counts.keys[slot] == EMPTY:
            if counts.used[0] >= max_pairs:
                return i
            counts.keys[slot] = key
            counts.used[0] += 1
        counts.values[slot] += 1
    return chunk.shape[0] - 1


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
    def trie(self) -> NgramTrie:
        """The trie that finds the n-grams in ids of the corpus."""
        return build_trie(self.sequences, self.words, self.tokens)


def frequent_ngrams(
    encoded: EncodedCorpus,
    *,
    max_n: int = 4,
    min_count: int = 5,
    per_length: Sequence[int] | None = None,
    max_vocab: int | None = None,
    cross_lines: bool = False,
    max_ngrams: int = MAX_NGRAMS,
    previous: Vocabulary | None = None,
) -> Ngrams:
    """The n-grams of one to `max_n` tokens that occur at least `min_count` times.

    No n-gram contains white space, a control character or U+FEFF. In an n-gram's string, tokens of several characters
    are joined by "_".

    Arguments:
        per_length: how many of the most frequent n-grams to take of each length; the last number is for all greater
            lengths. Equal counts are ordered by token, in code point order.
        max_vocab: the maximum number of n-grams of all lengths.
        cross_lines: n-grams may cross line ends, but not document ends.
        max_ngrams: distinct n-grams of one length in memory. If more are frequent, the rarest n-grams and all
            longer n-grams that contain them are left out.
        previous: the n-grams of a model, with their counts, to which the counts in the corpus are added. All of them
            are kept, also with `max_vocab`.

    Raises:
        CorpusError: no n-gram occurs `min_count` times, or the corpus cannot contain an n-gram of the model either.
        SettingError: the corpus has a fixed vocabulary.
    """
    if previous is None:
        check_vocabulary(encoded)
    counter = NgramCounter(encoded, cross_lines, min_count, max_ngrams)
    tokens = encoded.vocabulary.words
    order = np.argsort(np.argsort(np.array(tokens, object)))
    sequences_by_length, counts_by_length = [], []
    for n in range(1, max_n + 1):
        if n > 1:
            counter.grow(n)
        limit = None if per_length is None else per_length[min(n, len(per_length)) - 1]
        selected = counter.most_frequent(limit, max_n, order)
        sequences_by_length.append(counter.sequences(selected, max_n))
        counts_by_length.append(counter.counts[selected])
    sequences, joiner = np.concatenate(sequences_by_length), joiner_of(tokens)
    spellings = [joiner.join([tokens[token] for token in row if token >= 0]) for row in sequences.tolist()]
    if previous is not None:
        rare = previous_sequences(set(previous.words).difference(spellings), tokens, max_n)
        sequences, spellings = np.concatenate([sequences, rare[0]]), spellings + rare[1]
        vocabulary = extend_ngrams(previous, encoded, sequences, spellings, counter.lines, max_vocab)
    elif spellings:
        counts_by_word: dict[str, int] = {}  # different tokens may spell the same string
        for word, count in zip(spellings, np.concatenate(counts_by_length).tolist(), strict=True):
            counts_by_word[word] = counts_by_word.get(word, 0) + count
        vocabulary = Vocabulary.from_counts(counts_by_word).select(max_vocab=max_vocab)
    else:
        raise CorpusError(f"no n-gram occurs {min_count} times; lower {S.min_count}")
    words = np.array([vocabulary.ids.get(word, NONE) for word in spellings], np.int32)
    unit = "words" if joiner else "characters"
    return Ngrams(vocabulary, sequences[words >= 0], words[words >= 0], len(tokens), counter.lines, unit)


def parse_limits(per_length: str) -> list[int] | None:
    """Parse the number of n-grams of each length, separated by commas; None for "all"."""
    if per_length == "all":
        return None
    numbers = [number.strip() for number in per_length.split(",")]
    if not all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
        raise SettingError(f"{S.per_length} must be 'all' or integers separated by commas, got {per_length!r}")
    return [int(number) for number in numbers]


def check_vocabulary(encoded: EncodedCorpus) -> None:
    """Refuse a corpus with a fixed vocabulary, which lacks tokens."""
    if encoded.meta["fixed_vocabulary"]:
        raise SettingError("n-grams are counted from the corpus: leave out its fixed vocabulary")


class NgramCounter:
    """Counts n-grams length by length. Each n-gram has a number; single tokens come first.

    `starts` holds the first number of each length, `lasts` the last token of each n-gram, `prefixes` the index, among
    n-grams one shorter, of the n-gram without it, and `frequent` the number of each frequent pair. `counts` are those
    of the length counted last.
    """

    def __init__(self, encoded: EncodedCorpus, cross_lines: bool, min_count: int, max_ngrams: int) -> None:
        self.ids = np.asarray(encoded.ids)
        lines = np.asarray(encoded.sentences)
        self.lines = lines[np.asarray(encoded.documents)] if cross_lines else lines
        self.min_count, self.max_ngrams = min_count, max_ngrams
        self.counts: Counts = encoded.vocabulary.counts
        is_inner = np.array([not is_border(token) for token in encoded.vocabulary.words])
        self.allowed = is_inner & (self.counts >= min_count)
        self.lasts = [np.arange(len(self.counts), dtype=np.int32)]
        self.prefixes = [np.full(len(self.counts), NONE, np.int32)]
        self.starts = [0]
        self.frequent: Pairs = new_pairs(INITIAL_BITS)

    def grow(self, n: int) -> None:
        """Count the n-grams of n tokens."""
        keys, self.counts = self.count_length(n)
        start, before = self.starts[-1] + len(self.lasts[-1]), self.starts[-1]
        self.prefixes.append((keys >> np.uint64(32)).astype(np.int32) - before)
        self.lasts.append(self.lasts[-1][(keys & np.uint64(N_PASS_KEYS - 1)).astype(np.int64) - before])
        self.starts.append(start)
        table = new_pairs(max(INITIAL_BITS, (2 * (len(keys) + int(self.frequent.used[0]))).bit_length()))
        insert_pairs(table, self.frequent.keys, self.frequent.values, 0, N_PASS_KEYS)
        insert_pairs(table, keys, np.arange(start, start + len(keys)), 0, N_PASS_KEYS)
        self.frequent = table

    def count_length(self, n: int) -> tuple[Keys, Counts]:
        """Count the frequent n-grams of n tokens, in as many passes as memory requires; returns keys and counts."""
        keys, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
        low, width = 0, N_PASS_KEYS
        while low < N_PASS_KEYS:
            pairs, high = self.count_pass(n, low, min(low + width, N_PASS_KEYS))
            is_frequent = (pairs.keys != EMPTY) & (pairs.values >= self.min_count)
            keys = np.concatenate([keys, pairs.keys[is_frequent]])
            counts = np.concatenate([counts, pairs.values[is_frequent]])
            if len(keys) > self.max_ngrams:  # raises the minimum count
                self.min_count = int(np.partition(counts, -self.max_ngrams - 1)[-self.max_ngrams - 1]) + 1
                keys, counts = keys[counts >= self.min_count], counts[counts >= self.min_count]
            low, width = high, high - low
        return keys, counts

    def count_pass(self, n: int, low: int, high: int) -> tuple[Pairs, int]:
        """Count pairs with pass keys from `low` on; returns the counts and the pass key at which the table is full."""
        pairs = new_pairs(INITIAL_BITS)
        for chunk in self.chunks(n):
            start, last = 0, len(chunk) - 1
            while (start := count_pairs(chunk, start, pairs, len(pairs.keys) // 2, low, high)) < last:
                if len(pairs.keys) >= 2 * self.max_ngrams and high - low > 1:
                    high = low + (high - low) // 2
                    pairs = copy_pairs(pairs, len(pairs.keys), low, high)
                else:
                    pairs = copy_pairs(pairs, 2 * len(pairs.keys), low, high)
        return pairs, high

    def chunks(self, n: int) -> Iterator[NDArray[np.int32]]:
        """The corpus in chunks, as the numbers of the n-grams of n - 1 tokens that start at each position."""
        chunk, cursor = np.empty(CHUNK_SIZE, np.int32), np.zeros(2, np.int64)
        while filled := read_chunk(self.ids, self.lines, self.allowed, chunk, cursor, n):
            for _ in range(n - 2):
                lengthen_ngrams(chunk[:filled], self.frequent)
            yield chunk[:filled]

    def most_frequent(self, limit: int | None, max_n: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The `limit` most frequent n-grams of the length counted last, ties by token; all without a limit."""
        is_frequent = self.counts >= self.min_count
        selected = np.flatnonzero(is_frequent & self.allowed if len(self.starts) == 1 else is_frequent)
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
        tokens, at = np.full((len(selected), max_n), NONE, np.int32), selected
        for level in reversed(range(len(self.lasts))):
            tokens[:, level] = self.lasts[level][at]
            at = self.prefixes[level][at].astype(np.int64)
        return tokens


def is_border(token: str) -> bool:
    """Whether a token contains a character that no n-gram contains."""
    return any(character.isspace() or character in EXTRA_BORDERS or category(character) == "Cc" for character in token)


def copy_pairs(pairs: Pairs, slots: int, low: int, high: int) -> Pairs:
    """The pairs with pass keys in [low, high), in a table of `slots` slots."""
    table = new_pairs(slots.bit_length() - 1)
    insert_pairs(table, pairs.keys, pairs.values, low, high)
    return table


def joiner_of(tokens: Sequence[str]) -> str:
    """The string between the tokens of an n-gram: none between characters."""
    return "" if all(len(characters(token)) <= 1 for token in tokens) else "_"


def extend_ngrams(
    previous: Vocabulary, encoded: EncodedCorpus, sequences: NDArray[np.int32], spellings: list[str],
    lines: NDArray[np.int64], max_vocab: int | None,
) -> Vocabulary:  # fmt: skip
    """The n-grams of a model and of new text, with the counts of both."""
    if not spellings:
        raise CorpusError("the corpus and the model have no n-gram in common")
    numbers = {word: number for number, word in enumerate(dict.fromkeys(spellings))}
    trie = build_trie(sequences, np.array([numbers[word] for word in spellings], np.int32), len(encoded.vocabulary))
    ids, counts = np.asarray(encoded.ids), np.zeros(len(numbers), np.int64)
    for begin in range(0, len(ids), CHUNK_SIZE):  # so that an interrupt is handled in between
        count_occurrences(trie, ids, np.asarray(lines), begin, min(begin + CHUNK_SIZE, len(ids)), counts)
    occurring = {word: count for word, count in zip(numbers, counts.tolist(), strict=True) if count}
    return extend_vocabulary(previous, Vocabulary.from_counts(occurring), min_count=1, max_vocab=max_vocab)


def previous_sequences(words: set[str], tokens: Sequence[str], max_n: int) -> tuple[NDArray[np.int32], list[str]]:
    """All token sequences that spell one of the `words`, (n-grams, max_n), and the word of each sequence."""
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


@allocating_entry_point
def count_occurrences(
    trie: NgramTrie, ids: np.ndarray, lines: np.ndarray, begin: int, end: int, counts: np.ndarray
) -> None:
    """counts[w] += 1 for each n-gram w that starts at a position from `begin` to `end` and ends on the same line."""
    ngrams, line = np.empty(trie.longest, np.int32), np.searchsorted(lines, begin, side="right")
    for position in range(begin, end):
        while line < lines.shape[0] and lines[line] <= position:
            line += 1
        border = ids.shape[0] if line == lines.shape[0] else min(lines[line], ids.shape[0])
        find_ngrams(trie, ids, position, border, ngrams)
        for word in ngrams:
            if word >= 0:
                counts[word] += 1
