"""Perplexity of an interpolated Kneser-Ney n-gram model: a reference for perplexities of trained models.

The model of Kneser and Ney (1995), interpolated and with three discounts for each order (Chen and Goodman 1998). It is
never stored: only the n-grams of the test text and their contexts are kept while the training text is counted.

N-grams and their contexts are known by 64-bit hashes; two of a hundred million are equal by chance with a probability
of about 0.0003. A table holds the n-grams of one order whose hash is in one of several parts, and each part takes a
pass over the text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.remapping import id_mapping
from embeddings.errors import CorpusError, S, SettingError
from embeddings.kernels.random_numbers import GAMMA, MIX_1, MIX_2
from embeddings.settings import Positive, Range, VocabularySize, check_value

Hashes = NDArray[np.uint64]
START = np.uint64(0x5851F42D4C957F2D)  # the hash of no words
LEFT = np.uint64(0xA0761D6478BD642F)  # tells words to the left from words to the right


class Text(NamedTuple):
    """A text as token ids (tokens,) and line borders (lines + 1,), which n-grams do not cross.

    ids: the ids of words are below `vocabulary`; all other ids stand for unknown words, which are skipped.
    has_starts: whether each line starts with a token that words can follow.
    """

    ids: np.ndarray
    lines: np.ndarray
    vocabulary: int
    has_starts: bool


class NgramTable(NamedTuple):
    """N-grams of one order and their counts, all arrays (n-grams,).

    units: the hash of the n-gram in the highest order and at the start of a line; else of the n-gram with the word
        before it, or 0 if there is no such word.
    keys, contexts: the hash of the n-gram, and of all its words but the last.
    counts: how often the n-gram occurs; 1 for a unit with the word before it.
    """

    units: Hashes
    keys: Hashes
    contexts: Hashes
    counts: NDArray[np.int64]


class Needed(NamedTuple):
    """The n-grams and contexts of one order in a test text, sorted hashes, and their counts in the training text.

    counts: of n-grams; totals: of the words after a context; types: (contexts, 3) how many different words follow it
    once, twice and more often.
    """

    ngrams: Hashes
    counts: NDArray[np.int64]
    contexts: Hashes
    totals: NDArray[np.int64]
    types: NDArray[np.int64]


def mixed(hashes: Hashes, tokens: np.ndarray) -> Hashes:
    """The hashes of sequences of tokens and one token more, never 0 (the mixing function of SplitMix64)."""
    z = hashes + (tokens + 1).astype(np.uint64) * GAMMA
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return np.asarray(z ^ (z >> np.uint64(31)) | np.uint64(1))


def iter_ngrams(
    text: Text, n: int, chunk: int, *, is_highest: bool
) -> Iterator[tuple[int, NDArray[np.int64], NgramTable]]:
    """The n-grams that end in each part of `chunk` positions.

    Yields the end of the part, the index of the last word of each n-gram among the known words, and the n-grams.
    """
    tokens, lines, last, number = np.empty(0, np.int64), np.empty(0, np.int64), 0, 0
    for begin in range(0, len(text.ids), chunk):
        end = min(begin + chunk, len(text.ids))
        ids = text.ids[begin:end].astype(np.int64)
        ids[(ids < 0) | (ids >= text.vocabulary)] = -1
        line = np.searchsorted(text.lines, np.arange(begin, end), side="right")
        begins = np.flatnonzero(np.diff(line, prepend=last)) if text.has_starts else np.empty(0, np.int64)
        last = int(line[-1])
        ids, line = np.insert(ids, begins, text.vocabulary), np.insert(line, begins, line[begins])
        is_known = ids >= 0
        tokens, lines = tokens[-n - 1 :], lines[-n - 1 :]  # of earlier parts
        old, tokens, lines = len(tokens), np.append(tokens, ids[is_known]), np.append(lines, line[is_known])
        ages = np.arange(len(lines)) - np.searchsorted(lines, lines) + 1  # tokens of the line so far
        words = old + np.flatnonzero(tokens[old:] < text.vocabulary)
        which = np.flatnonzero(ages[words] >= n)
        rows = words[which]
        contexts = np.full(len(rows), START)
        for k in range(n - 1, 0, -1):
            contexts = mixed(contexts, tokens[rows - k])
        keys = mixed(contexts, tokens[rows])
        lefts = np.where(ages[rows] > n, mixed(keys ^ LEFT, tokens[rows - n]), np.uint64(0))
        units = np.where(is_highest | (tokens[rows - n + 1] == text.vocabulary), keys, lefts)
        yield end, number + which, NgramTable(units, keys, contexts, np.ones(len(keys), np.int64))
        number += len(words)


def grouped(hashes: Hashes, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A row of each distinct hash, in ascending order of the hashes, and the sum of its counts."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    return order[first], np.add.reduceat(counts[order], first) if len(first) else counts


def merged(tables: list[NgramTable]) -> NgramTable:
    """The units of several tables; a unit with a word before the n-gram counts once."""
    units, keys, contexts, counts = (np.concatenate(column) for column in zip(*tables, strict=True))
    rows, sums = grouped(units, counts)
    units, keys = units[rows], keys[rows]
    return NgramTable(units, keys, contexts[rows], np.where(units == keys, sums, 1))


def find(sorted_hashes: Hashes, hashes: Hashes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The index of each hash in sorted hashes, and whether it is one of them."""
    places = np.searchsorted(sorted_hashes, hashes)
    is_there = places < len(sorted_hashes)
    is_there[is_there] = sorted_hashes[places[is_there]] == hashes[is_there]
    return places, is_there


MAX_ORDER = 16
CHUNK = 1 << 20  # positions that are counted at a time
UNIT_BYTES = 128  # of a table of n-grams, while it is sorted
MAX_PARTS = 1 << 16
FALLBACK = 0.75  # discount of an order without n-grams of count 1 or 2
Report = Callable[[int, int], object]  # called with the positions counted and their number, over all orders


@dataclass(frozen=True)
class NgramPerplexity:
    """The result of `ngram_perplexity`.

    Arguments:
        perplexity: exp of the mean of -log P over all known words of the test text.
        loss: that mean, in nats.
        words, total: known words of the test text, and all.
        vocabulary: words that have probabilities.
        discounts: (order, 3) those of counts 1, 2 and more, for each order from 1 on.
        passes: how often the training text was read.
    """

    perplexity: float
    loss: float
    words: int
    total: int
    vocabulary: int
    discounts: NDArray[np.float64]
    passes: int


def ngram_perplexity(
    corpus: Corpus,
    test: Corpus,
    *,
    order: Annotated[int, Range(ge=1, le=MAX_ORDER)] = 5,
    min_count: Positive = 1,
    max_vocab: int | None = None,
    discount: float | None = None,
    memory: float = 1.0,
    line_starts: bool = True,
    report: Report | None = None,
) -> NgramPerplexity:
    """The perplexity of a test text by an interpolated Kneser-Ney model of a corpus.

    Words outside the vocabulary are dropped from both texts first, as in training from windows. The unigrams are
    interpolated with equal probabilities. Ends of lines are not predicted.

    Arguments:
        order: the length of the longest n-grams.
        min_count, max_vocab: the vocabulary, as in training.
        discount: one discount for all orders and counts, in (0, 1]; by default three for each order, estimated from the
            counts (Chen and Goodman 1998, equation 26).
        memory: GB for tables of n-grams; with less, the corpus is read more often.
        line_starts: whether the first word of a line follows a token for the start.

    Raises:
        CorpusError: a text cannot be read, or no word of the test text is in the vocabulary.
        SettingError: an argument is out of range.
    """
    order = check_value("order", order, int, {"ge": 1, "le": MAX_ORDER})
    VocabularySize(min_count=min_count, max_vocab=max_vocab)  # checks them
    check_value("discount", discount, float | None, {"gt": 0, "le": 1})
    check_value("memory", memory, float, {"ge": 0.001, "le": 100_000})
    with corpus.encode() as encoded, test.encode() as test_encoded:
        vocabulary = encoded.select(min_count=min_count, max_vocab=max_vocab)
        text = Text(np.asarray(encoded.ids), np.asarray(encoded.sentences), len(vocabulary), line_starts)
        test_ids = id_mapping(test_encoded.vocabulary, vocabulary)[np.asarray(test_encoded.ids)]
        if not (test_ids < len(vocabulary)).any():
            raise CorpusError("no word of the test text is in the vocabulary of the corpus")
        test_text = text._replace(ids=test_ids, lines=np.asarray(test_encoded.sentences))
        return CountedOrders(text, order, discount, int(memory * 1e9), report).score(test_text, len(test_ids))


@dataclass(eq=False)
class CountedOrders:
    """Counts a training text order by order, and interpolates the probabilities of a test text."""

    text: Text
    order: int
    discount: float | None
    memory: int
    report: Report | None
    done: int = 0  # positions read, over all orders

    def score(self, test: Text, total: int) -> NgramPerplexity:
        """The perplexity of a test text of `total` words.

        p_n(w | context) = max(c - D(c), 0) / total + (sum over counts k of D(k) types(k)) / total * p_(n-1)(w), with
        the discounts D of the counts 1, 2 and 3 or more (Chen and Goodman 1998).
        """
        words = int((test.ids < test.vocabulary).sum())
        probabilities = np.full(words, 1 / test.vocabulary)
        discounts, passes = np.zeros((self.order, 3)), 0
        for n in range(1, self.order + 1):
            ((_, last_words, ngrams),) = iter_ngrams(test, n, len(test.ids), is_highest=True)
            keys, contexts = np.unique(ngrams.keys), np.unique(ngrams.contexts)
            needed, counts_of_counts, more = self.count(n, keys, contexts)
            passes += more
            discounts[n - 1] = estimate_discounts(counts_of_counts) if self.discount is None else self.discount
            place = np.searchsorted(contexts, ngrams.contexts)
            count = needed.counts[np.searchsorted(keys, ngrams.keys)]
            own = np.maximum(count - np.append(0, discounts[n - 1])[np.minimum(count, 3)], 0)
            rest = (needed.types @ discounts[n - 1])[place] * probabilities[last_words]
            total_count = needed.totals[place]
            is_known = total_count > 0
            probabilities[last_words[is_known]] = (own + rest)[is_known] / total_count[is_known]
        if not probabilities.all():
            raise SettingError(f"discount is too small: a word has the probability 0; raise it, got {self.discount}")
        loss = float(-np.log(probabilities).mean())
        return NgramPerplexity(float(np.exp(loss)), loss, words, total, test.vocabulary, discounts, passes)

    def count(self, n: int, keys: Hashes, contexts: Hashes) -> tuple[Needed, NDArray[np.int64], int]:
        """Count n-grams in as many parts as fit into memory.

        Returns the counts of n-grams and contexts of the test text, how many n-grams have the counts 1 to 4 (5,),
        and the number of passes over the text.
        """
        parts, passes = max(1, -(-len(self.text.ids) * UNIT_BYTES // self.memory)) if n > 2 else 1, 0
        while parts <= MAX_PARTS:
            counts, totals = np.zeros(len(keys), np.int64), np.zeros(len(contexts), np.int64)
            needed = Needed(keys, counts, contexts, totals, np.zeros((len(contexts), 3), np.int64))
            counts_of_counts = np.zeros(5, np.int64)
            for part in range(parts):
                passes += 1
                table = self.count_part(n, part, parts)
                if table is None:
                    break
                rows, counts = grouped(table.keys, table.counts)
                counts_of_counts += np.bincount(np.minimum(counts, 5), minlength=6)[:5]
                places, is_there = find(needed.ngrams, table.keys[rows])
                needed.counts[places[is_there]] = counts[is_there]
                places, is_there = find(needed.contexts, table.contexts[rows])
                np.add.at(needed.totals, places[is_there], counts[is_there])
                np.add.at(needed.types, (places[is_there], np.minimum(counts[is_there], 3) - 1), 1)
            else:
                return needed, counts_of_counts, passes
            parts *= 2
        raise SettingError(f"{S.memory} must be larger: the n-grams of one part do not fit into {self.memory / 1e9} GB")

    def count_part(self, n: int, part: int, parts: int) -> NgramTable | None:
        """Count the n-grams of a part; None if they exceed the memory."""
        size, tables, limit = len(self.text.ids), [], self.memory // UNIT_BYTES
        for end, _, ngrams in iter_ngrams(self.text, n, CHUNK, is_highest=n == self.order):
            rows = np.flatnonzero(((ngrams.keys >> np.uint64(40)) % np.uint64(parts) == part) & (ngrams.units > 0))
            tables.append(NgramTable._make(column[rows] for column in ngrams))
            if sum(len(table.units) for table in tables) > limit:
                tables = [merged(tables)]
                if len(tables[0].units) > limit:
                    return None
            if self.report is not None:
                self.done = max(self.done, (n - 1) * size + (part * size + end) // parts)  # of a repeated part
                self.report(self.done, self.order * size)
        return merged(tables)


def estimate_discounts(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The discounts (3,) of counts 1, 2 and more, from how many n-grams have the counts 1 to 4 (5,).

    D(k) = k - (k + 1) Y n(k + 1) / n(k) with Y = n(1) / (n(1) + 2 n(2)); at least D(1), so that no n-gram takes all the
    probability of its context.
    """
    one, two, three, four = counts[1:].tolist()
    if not one or not two:
        return np.full(3, FALLBACK)
    share = one / (one + 2 * two)
    second = 2 - 3 * share * three / two
    third = 3 - 4 * share * four / three if three else second
    return np.array([share, max(second, share), max(third, share)])
