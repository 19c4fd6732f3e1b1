"""Perplexity of an interpolated Kneser-Ney n-gram model: a reference for perplexities of trained models.

The model of Kneser and Ney (1995), interpolated and with three discounts for each order (Chen and Goodman 1998). It is
never stored: only the n-grams of the test text and their contexts are kept while the training text is counted.

N-grams and their contexts are known by 64-bit hashes; two of a hundred million are equal by chance with a probability
of about 0.0003. A table holds the n-grams of one order whose hash is in one of several parts, and each part takes a
pass over the text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point, inline
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.remapping import id_mapping
from embeddings.errors import CorpusError, S, SettingError
from embeddings.kernels.line_operations import line_end
from embeddings.kernels.random_numbers import random_bits
from embeddings.settings import Positive, Range, VocabularySize, check_value

EMPTY = np.uint64(0)  # a free slot
START = np.uint64(0x5851F42D4C957F2D)  # the hash of no words
LEFT = np.uint64(0xA0761D6478BD642F)  # tells words to the left from words to the right
LINE, LENGTH, FIRST_TOKEN = range(3)  # of the state of a pass: the next line, words known of it, and the last of these
MAX_LOAD = 0.8  # share of slots in use
ONE, TWO, MORE = range(3)  # of numbers of words by how often they follow a context


class Text(NamedTuple):
    """Ids (tokens,) without those from `vocabulary` on, and lines (lines + 1,) that n-grams do not cross.

    has_starts: whether each line starts with a token that words can follow.
    """

    ids: np.ndarray
    lines: np.ndarray
    vocabulary: int
    has_starts: bool


class NgramTable(NamedTuple):
    """N-grams of one order by hash: their contexts, which are the words before the last, and counts, all (slots,).

    lefts: the hashes of n-grams with the word before, (slots,); used: (2,) how many slots hold n-grams, and `lefts`.
    """

    keys: np.ndarray
    contexts: np.ndarray
    counts: np.ndarray
    lefts: np.ndarray
    used: np.ndarray


class Needed(NamedTuple):
    """The n-grams and contexts of one order in a test text by hash, with what is known of them, each (slots,).

    counts: of n-grams; totals: of the words after a context; types: (slots, 3) how many different words follow it once,
    twice and more often.
    """

    ngrams: np.ndarray
    counts: np.ndarray
    contexts: np.ndarray
    totals: np.ndarray
    types: np.ndarray


@inline
def key_slot(keys: np.ndarray, key: np.uint64) -> Any:
    """The slot of a key, or the free slot where it belongs."""
    mask = np.uint64(keys.shape[0] - 1)
    slot = (key >> np.uint64(20)) & mask
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)


@inline
def next_word(text: Text, position: int, state: np.ndarray) -> bool:
    """Add the word at a position to the state; returns whether the word is known."""
    while position >= line_end(text.lines, state[LINE], text.ids.shape[0]):
        state[LINE] += 1
        state[LENGTH] = 0
    if state[LENGTH] == 0 and text.has_starts:
        push(state, text.vocabulary)
    word = text.ids[position]
    if np.uint32(word) >= text.vocabulary:
        return False
    push(state, word)
    return True


@inline
def push(state: np.ndarray, token: int) -> None:
    """Add a token to the tokens of a line, the last of which come first."""
    for k in range(state.shape[0] - 1, FIRST_TOKEN, -1):
        state[k] = state[k - 1]
    state[FIRST_TOKEN] = token
    state[LENGTH] += 1


@inline
def context_hash(state: np.ndarray, n: int) -> np.uint64:
    """The hash of the last n tokens without the very last."""
    code = START
    for k in range(n - 1, 0, -1):
        code = random_bits(code, np.uint64(state[FIRST_TOKEN + k] + 1))
    return code | np.uint64(1)


@inline
def ngram_hash(context: np.uint64, word: int) -> np.uint64:
    """The hash of an n-gram, never 0."""
    return random_bits(context, np.uint64(word + 1)) | np.uint64(1)


@entry_point
def count_part(
    text: Text, begin: int, end: int, state: np.ndarray, n: int, is_highest: bool, part: int, parts: int,
    table: NgramTable,
) -> bool:  # fmt: skip
    """Count the n-grams that end at positions begin to end and have their hash in a part; False if the table is full.

    N-grams of the highest order, and those at the start of a line, count how often they occur; others, the different
    words before them.
    """
    limit = np.int64(MAX_LOAD * table.keys.shape[0])
    for position in range(begin, end):
        if not next_word(text, position, state) or state[LENGTH] < n:
            continue
        context = context_hash(state, n)
        key = ngram_hash(context, state[FIRST_TOKEN])
        if np.int64((key >> np.uint64(40)) % np.uint64(parts)) != part:
            continue
        if not (is_highest or state[FIRST_TOKEN + n - 1] == text.vocabulary):
            if state[LENGTH] <= n:
                continue  # at the start of a line without a token for it
            left = random_bits(key ^ LEFT, np.uint64(state[FIRST_TOKEN + n] + 1)) | np.uint64(1)
            place = key_slot(table.lefts, left)
            if table.lefts[place] == left:
                continue
            table.lefts[place] = left
            table.used[1] += 1
        slot = key_slot(table.keys, key)
        if table.keys[slot] == EMPTY:
            table.keys[slot], table.contexts[slot] = key, context
            table.used[0] += 1
        table.counts[slot] += 1
        if table.used[0] >= limit or table.used[1] >= limit:
            return False
    return True


@entry_point
def summarize_part(table: NgramTable, needed: Needed, counts_of_counts: np.ndarray) -> None:
    """Add the counts of a table to the needed n-grams and contexts, and to how many n-grams have counts 1 to 4."""
    for slot in range(table.keys.shape[0]):
        if table.keys[slot] == EMPTY:
            continue
        count = table.counts[slot]
        if count < counts_of_counts.shape[0]:
            counts_of_counts[count] += 1
        place = key_slot(needed.ngrams, table.keys[slot])
        if needed.ngrams[place] != EMPTY:
            needed.counts[place] = count
        place = key_slot(needed.contexts, table.contexts[slot])
        if needed.contexts[place] != EMPTY:
            needed.totals[place] += count
            needed.types[place, MORE if count > 2 else count - 1] += 1


@entry_point
def add_needed(text: Text, begin: int, end: int, state: np.ndarray, n: int, needed: Needed) -> None:
    """Add the n-grams of a test text and their contexts."""
    for position in range(begin, end):
        if next_word(text, position, state) and state[LENGTH] >= n:
            context = context_hash(state, n)
            key = ngram_hash(context, state[FIRST_TOKEN])
            needed.ngrams[key_slot(needed.ngrams, key)] = key
            needed.contexts[key_slot(needed.contexts, context)] = context


@entry_point
def add_probabilities(
    text: Text, begin: int, end: int, state: np.ndarray, n: int, needed: Needed, discounts: np.ndarray,
    probabilities: np.ndarray,
) -> int:  # fmt: skip
    """Interpolate the probabilities (words,) of the known words with those of order n; returns their number.

    p_n(w | context) = max(c - D(c), 0) / total + (sum over counts k of D(k) types(k)) / total * p_(n-1)(w); discounts
    (4,) are 0 and those of the counts 1, 2 and 3 or more (Chen and Goodman 1998).
    """
    number = 0
    for position in range(begin, end):
        if not next_word(text, position, state):
            continue
        if state[LENGTH] >= n:
            context = context_hash(state, n)
            place = key_slot(needed.contexts, context)
            total = needed.totals[place]
            if total > 0:
                count = needed.counts[key_slot(needed.ngrams, ngram_hash(context, state[FIRST_TOKEN]))]
                rest = 0.0
                for k in range(3):
                    rest += discounts[k + 1] * needed.types[place, k]
                own = max(count - discounts[min(count, 3)], 0.0)
                probabilities[number] = (own + rest * probabilities[number]) / total
        number += 1
    return number


MAX_ORDER = 16
CHUNK = 1 << 20  # positions between reports
SLOT_BYTES = 32  # of a table of n-grams
MIN_BITS = 10
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
        """The perplexity of a test text of `total` words."""
        words = int((test.ids < test.vocabulary).sum())
        probabilities = np.full(words, 1 / test.vocabulary)
        discounts, passes = np.zeros((self.order, 3)), 0
        for n in range(1, self.order + 1):
            needed = self.new_needed(test, words, n)
            passes += self.count(n, needed, counts_of_counts := np.zeros(5, np.int64))
            discounts[n - 1] = estimate_discounts(counts_of_counts) if self.discount is None else self.discount
            padded = np.append(0.0, discounts[n - 1])
            add_probabilities(test, 0, len(test.ids), self.new_state(), n, needed, padded, probabilities)
        if not probabilities.all():
            raise SettingError(f"discount is too small: a word has the probability 0; raise it, got {self.discount}")
        loss = float(-np.log(probabilities).mean())
        return NgramPerplexity(float(np.exp(loss)), loss, words, total, test.vocabulary, discounts, passes)

    def new_state(self) -> NDArray[np.int64]:
        """The state of a pass at the start of a text."""
        state = np.zeros(FIRST_TOKEN + self.order + 1, np.int64)
        state[LINE] = 1
        return state

    def new_needed(self, test: Text, words: int, n: int) -> Needed:
        """The n-grams of a test text, without counts."""
        slots = 1 << max(MIN_BITS, (2 * words).bit_length())
        ngrams, contexts = np.zeros((2, slots), np.uint64)
        counts, totals = np.zeros((2, slots), np.int64)
        needed = Needed(ngrams, counts, contexts, totals, np.zeros((slots, 3), np.int64))
        add_needed(test, 0, len(test.ids), self.new_state(), n, needed)
        return needed

    def count(self, n: int, needed: Needed, counts_of_counts: NDArray[np.int64]) -> int:
        """Count the n-grams in as many parts as fit into memory; returns the number of passes over the text."""
        most = 1 << max(MIN_BITS, (self.memory // SLOT_BYTES).bit_length() - 1)
        slots = min(most, 1 << max(MIN_BITS, (2 * len(self.text.ids)).bit_length()))
        parts, passes = -(-2 * len(self.text.ids) // slots) if n > 2 else 1, 0
        while True:
            found, sums = Needed(*(array.copy() for array in needed)), np.zeros_like(counts_of_counts)
            for part in range(parts):
                keys, contexts, lefts = (np.zeros(slots, np.uint64) for _ in range(3))
                table = NgramTable(keys, contexts, np.zeros(slots, np.int64), lefts, np.zeros(2, np.int64))
                passes += 1
                if not all(self.count_chunks(n, part, parts, table, passes)):
                    break
                summarize_part(table, found, sums)
            else:
                for array, result in zip(needed, found, strict=True):
                    array[...] = result
                counts_of_counts[...] = sums
                return passes
            parts *= 2
            if parts > MAX_PARTS:
                raise SettingError(
                    f"{S.memory} must be larger: the words before one n-gram exceed {self.memory / 1e9} GB"
                )

    def count_chunks(self, n: int, part: int, parts: int, table: NgramTable, passes: int) -> Iterator[bool]:
        """Count the n-grams of a part chunk by chunk; whether the table has had room for them."""
        state, size = self.new_state(), len(self.text.ids)
        for begin in range(0, size, CHUNK):
            end = min(begin + CHUNK, size)
            yield count_part(self.text, begin, end, state, n, n == self.order, part, parts, table)
            if self.report is not None:
                self.done = max(self.done, (n - 1) * size + (part * size + end) // parts)  # of a repeated part
                self.report(self.done, self.order * size)


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
