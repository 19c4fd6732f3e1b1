"""Perplexity of an interpolated Kneser-Ney n-gram model: a reference for perplexities of trained models.

The model of Kneser and Ney (1995), interpolated and with three discounts for each order (Chen and Goodman 1998). It is
never stored: only the n-grams of the test text and their contexts are kept while the training text is counted.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.remapping import id_mapping
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.measures.ngram_counts import (
    FIRST_TOKEN,
    LINE,
    Needed,
    NgramTable,
    Text,
    add_needed,
    add_probabilities,
    count_part,
    summarize_part,
)
from embeddings.settings import check_value

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
    order: int = 5,
    min_count: int = 1,
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
        discount: one discount for all counts and orders, in (0, 1]; by default three for each order (Chen and Goodman
            1998, equation 26).
        memory: GB of tables; with less the corpus is read more often.
        line_starts: whether the first word of a line follows a token for the start.

    Raises:
        CorpusError: a text cannot be read, or no word of the test text is in the vocabulary.
        SettingError: an argument is out of range.
    """
    order = check_value("order", order, int, {"ge": 1, "le": MAX_ORDER})
    check_value("discount", discount, float | None, {"gt": 0, "le": 1})
    check_value("memory", memory, float, {"ge": 0.001, "le": 100_000})
    with corpus.encode() as encoded, test.encode() as test_encoded:
        vocabulary = encoded.select(min_count=min_count, max_vocab=max_vocab)
        text = Text(np.asarray(encoded.ids), np.asarray(encoded.sentences), len(vocabulary), line_starts)
        model = CountedOrders(text, order, discount, int(memory * 1e9), report)
        return model.score(known_text(test_encoded, vocabulary, line_starts), len(test_encoded.ids))


def known_text(encoded: EncodedCorpus, vocabulary: Vocabulary, line_starts: bool) -> Text:
    """A text with the ids of a vocabulary."""
    ids = id_mapping(encoded.vocabulary, vocabulary)[np.asarray(encoded.ids)]
    if not (ids < len(vocabulary)).any():
        raise CorpusError("no word of the test text is in the vocabulary of the corpus")
    return Text(ids, np.asarray(encoded.sentences), len(vocabulary), line_starts)


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
                table = new_table(slots)
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
                raise SettingError(f"memory must be larger: the words before one n-gram exceed {self.memory / 1e9} GB")

    def count_chunks(self, n: int, part: int, parts: int, table: NgramTable, passes: int) -> Iterator[bool]:
        """Count the n-grams of a part chunk by chunk; whether the table has had room for them."""
        state, size = self.new_state(), len(self.text.ids)
        for begin in range(0, size, CHUNK):
            end = min(begin + CHUNK, size)
            yield count_part(self.text, begin, end, state, n, n == self.order, part, parts, table)
            if self.report is not None:
                self.done = max(self.done, (n - 1) * size + (part * size + end) // parts)  # of a repeated part
                self.report(self.done, self.order * size)


def new_table(slots: int) -> NgramTable:
    """An empty table."""
    keys, contexts, lefts = (np.zeros(slots, np.uint64) for _ in range(3))
    return NgramTable(keys, contexts, np.zeros(slots, np.int64), lefts, np.zeros(2, np.int64))


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
