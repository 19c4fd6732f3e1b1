"""The frequent n-grams of a corpus of characters, or of any tokens: counted exactly, in memory that is bounded.

An n-gram can be frequent only if its first and its last n - 1 tokens are (Agrawal and Srikant 1994), so a pass for
each length counts pairs of n-grams one shorter that overlap. Where distinct pairs are too many for the table, a pass
counts only a part of them, and others follow for the rest: every count is exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.tokenizers import characters
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, SettingError
from embeddings.plugins.sembei.ngram_trie import NONE, NgramTable, ngram_table
from embeddings.plugins.sembei.pair_counts import (
    EMPTY,
    PARTS,
    Pairs,
    advance,
    count_pairs,
    fill_pairs,
    new_pairs,
    read_text,
)

LONGEST = 64  # tokens of an n-gram
TEXT = 1 << 20  # tokens read at a time
ROOM = 1 << 23  # distinct n-grams of a length in memory, at 16 bytes and up to 48 for each
FEW = 10  # bits of slots that a table begins with
BORDERS = "\ufeff"  # beside white space and control characters

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Ngrams:
    """Frequent n-grams.

    vocabulary: the n-grams as strings with their counts, the most frequent first. sequences: (n-grams, longest)
    int32, the ids of their tokens in the corpus, -1 behind the last; words: (n-grams,) int32, the place of each
    in the vocabulary: another only where different tokens give the same string. tokens: how many different ones the
    corpus has. lines: (lines + 1,) the borders in its ids that no n-gram reaches over.
    """

    vocabulary: Vocabulary
    sequences: NDArray[np.int32]
    words: NDArray[np.int32]
    tokens: int
    lines: NDArray[np.int64]

    @cached_property
    def table(self) -> NgramTable:
        """What finds them in the ids of the corpus."""
        return ngram_table(self.sequences, self.words, self.tokens)


def frequent_ngrams(
    encoded: EncodedCorpus,
    *,
    max_n: int = 4,
    min_count: int = 5,
    per_length: Sequence[int] | None = None,
    max_vocab: int | None = None,
    cross_lines: bool = False,
    room: int = ROOM,
) -> Ngrams:
    """The n-grams of one to `max_n` tokens that occur `min_count` times or more.

    Of each length only the most frequent are taken, so many as `per_length` says, whose last number is that of
    all further lengths; and of these only the first `max_vocab`. Equal counts go by token, in code point order.
    No n-gram reaches over the end of a line, with `cross_lines` over that of a document, or over white space, a
    control character or U+FEFF, none of which is in any. Tokens of one character stand side by side in an
    n-gram's string, longer ones have "_" between them.

    No more than `room` distinct n-grams are held at once. Only if more than so many of one length are frequent,
    those that occur less often than all of these are left out, longer ones too.

    Raises:
        CorpusError: nothing occurs so often.
        SettingError: a number is out of range, or the corpus was given its vocabulary.
    """
    check(encoded, max_n, min_count, per_length, room)
    spelling = encoded.vocabulary.words
    levels = Levels(encoded, cross_lines, min_count, room)
    order = np.argsort(np.argsort(np.array(spelling, object)))
    chosen, counts = [], []
    for n in range(1, max_n + 1):
        if n > 1:
            levels.grow(n)
        limit = None if per_length is None else per_length[min(n, len(per_length)) - 1]
        taken = levels.most_frequent(limit, max_n, order)
        chosen.append(levels.sequences(taken, max_n))
        counts.append(levels.counts[taken])
    sequences = np.concatenate(chosen)
    if not len(sequences):
        raise CorpusError(f"no n-gram occurs {min_count} times; lower --min-count")
    vocabulary, words = spelled(sequences, np.concatenate(counts), spelling, max_vocab)
    return Ngrams(vocabulary, sequences[words >= 0], words[words >= 0], len(spelling), levels.lines)


def check(encoded: EncodedCorpus, max_n: int, min_count: int, per_length: Sequence[int] | None, room: int) -> None:
    """Refuse what cannot be counted."""
    if not 1 <= max_n <= LONGEST:
        raise SettingError(f"max_n must be 1 to {LONGEST}, not {max_n}")
    if min_count < 1:
        raise SettingError(f"min_count must be at least 1, not {min_count}")
    if per_length is not None and (not per_length or min(per_length) < 0 or len(per_length) > max_n):
        raise SettingError(f"per_length must be one to max_n = {max_n} numbers from 0 up, not {list(per_length)}")
    if per_length is not None and not any(per_length):
        raise SettingError(f"per_length must let in one n-gram at least, not {list(per_length)}")
    if room < 1:
        raise SettingError(f"room must be at least 1, not {room}")
    if encoded.meta["given"]:
        raise SettingError("n-grams are counted, so the corpus may not be given a vocabulary (--vocab)")


class Levels:
    """N-grams that may be part of longer ones, by length; each has a number, and the tokens have the first.

    `starts` holds the first number of each length, `lasts` the last token of each n-gram, `prefixes` the place, among
    those one shorter, of the n-gram without it; `counts` are those of the length that was counted last.
    """

    def __init__(self, encoded: EncodedCorpus, cross_lines: bool, least: int, room: int) -> None:
        self.ids = np.asarray(encoded.ids)
        lines = np.asarray(encoded.sentences)
        self.lines = lines[np.asarray(encoded.documents)] if cross_lines else lines
        self.least, self.room = least, room
        self.counts: Counts = encoded.vocabulary.counts
        self.known = np.array([not border(token) for token in encoded.vocabulary.words]) & (self.counts >= least)
        self.lasts = [np.arange(len(self.counts), dtype=np.int32)]
        self.prefixes = [np.full(len(self.counts), NONE, np.int32)]
        self.starts = [0]
        self.held: Pairs = new_pairs(FEW)

    def grow(self, n: int) -> None:
        """Count those of n tokens, and hold the frequent ones."""
        keys, counts = self.counted(n)
        start, before = self.starts[-1] + len(self.lasts[-1]), self.starts[-1]
        self.prefixes.append((keys >> np.uint64(32)).astype(np.int32) - before)
        self.lasts.append(self.lasts[-1][(keys & np.uint64(PARTS - 1)).astype(np.int64) - before])
        self.starts.append(start)
        self.counts = counts
        self.held = pairs_of(keys, np.arange(start, start + len(keys)), self.held)

    def counted(self, n: int) -> tuple[Keys, Counts]:
        """The frequent pairs that are n-grams of n tokens, and their counts, in passes that have room."""
        keys, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
        low, width = 0, PARTS
        while low < PARTS:
            found, high = self.one_pass(n, low, min(low + width, PARTS))
            often = (found.keys != EMPTY) & (found.values >= self.least)
            keys = np.concatenate([keys, found.keys[often]])
            counts = np.concatenate([counts, found.values[often]])
            keys, counts = self.limited(keys, counts)
            low, width = high, high - low
        return keys, counts

    def limited(self, keys: Keys, counts: Counts) -> tuple[Keys, Counts]:
        """As many as there is room for: more often than the most frequent of the others."""
        if len(keys) <= self.room:
            return keys, counts
        self.least = int(np.partition(counts, -self.room - 1)[-self.room - 1]) + 1
        return keys[counts >= self.least], counts[counts >= self.least]

    def one_pass(self, n: int, low: int, high: int) -> tuple[Pairs, int]:
        """The counts of pairs from part `low` on, and the part before which the table had no more room."""
        pairs = new_pairs(FEW)
        for text in self.texts(n):
            start, last = 0, len(text) - 1
            while (start := count_pairs(text, start, pairs, len(pairs.keys) // 2, low, high)) < last:
                if len(pairs.keys) >= 2 * self.room and high - low > 1:
                    high = low + (high - low) // 2
                    pairs = moved(pairs, len(pairs.keys), low, high)
                else:
                    pairs = moved(pairs, 2 * len(pairs.keys), low, high)
        return pairs, high

    def texts(self, n: int) -> Iterator[NDArray[np.int32]]:
        """The corpus in stretches, as the numbers of the n-grams of n - 1 tokens that start at each place."""
        text, place = np.empty(TEXT, np.int32), np.zeros(2, np.int64)
        while filled := read_text(self.ids, self.lines, self.known, text, place, n):
            for _ in range(n - 2):
                advance(text[:filled], self.held)
            yield text[:filled]

    def most_frequent(self, limit: int | None, max_n: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first `limit` of the length counted last, by count, then by token; all without a limit."""
        often = self.counts >= self.least
        taken = np.flatnonzero(often & self.known if len(self.starts) == 1 else often)
        if limit is None or len(taken) <= limit:
            return taken
        if limit == 0:
            return taken[:0]
        counts = self.counts[taken]
        taken = taken[counts >= np.partition(counts, -limit)[-limit]]
        spelled = self.sequences(taken, max_n)
        columns = [order[spelled[:, n]] for n in reversed(range(max_n))]
        first: NDArray[np.int64] = taken[np.lexsort([*columns, -self.counts[taken]])][:limit]
        return first

    def sequences(self, taken: NDArray[np.int64], max_n: int) -> NDArray[np.int32]:
        """The tokens of n-grams of the length counted last."""
        found, at = np.full((len(taken), max_n), NONE, np.int32), taken
        for level in reversed(range(len(self.lasts))):
            found[:, level] = self.lasts[level][at]
            at = self.prefixes[level][at].astype(np.int64)
        return found


def border(token: str) -> bool:
    """Whether it holds what no n-gram reaches over."""
    return any(character.isspace() or character in BORDERS or category(character) == "Cc" for character in token)


def moved(pairs: Pairs, slots: int, low: int, high: int) -> Pairs:
    """The pairs of some parts in a table of so many slots."""
    fresh = new_pairs(slots.bit_length() - 1)
    fill_pairs(fresh, pairs.keys, pairs.values, low, high)
    return fresh


def pairs_of(keys: Keys, values: NDArray[np.int64], others: Pairs) -> Pairs:
    """A table of pairs, and of those of another one."""
    table = new_pairs(max(FEW, (2 * (len(keys) + int(others.used[0]))).bit_length()))
    fill_pairs(table, others.keys, others.values, 0, PARTS)
    fill_pairs(table, keys, values, 0, PARTS)
    return table


def spelled(
    sequences: NDArray[np.int32], counts: Counts, spelling: Sequence[str], max_vocab: int | None
) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The vocabulary of n-grams, those that are spelled alike as one, and the place of each in it, or -1."""
    joiner = "" if all(len(characters(token)) <= 1 for token in spelling) else "_"
    rows = [joiner.join([spelling[token] for token in row if token >= 0]) for row in sequences.tolist()]
    together: dict[str, int] = {}
    for word, count in zip(rows, counts.tolist(), strict=True):
        together[word] = together.get(word, 0) + count
    vocabulary = Vocabulary.from_counts(together).select(max_vocab=max_vocab)
    ids = {word: place for place, word in enumerate(vocabulary.words)}
    return vocabulary, np.array([ids.get(word, NONE) for word in rows], np.int32)
