"""Compiled passes over an encoded corpus that count n-grams for Kneser-Ney smoothing, in tables of bounded size.

N-grams and their contexts are known by 64-bit hashes; two of a hundred million are equal by chance with a probability
of about 0.0003. A table holds the n-grams of one order whose hash is in one of several parts, and each part takes a
pass over the text.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.line_operations import line_end
from embeddings.kernels.random_numbers import random_bits

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
def find_slot(keys: np.ndarray, key: np.uint64) -> Any:
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
    """Add a token to those of the line, the last of which come first."""
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
            place = find_slot(table.lefts, left)
            if table.lefts[place] == left:
                continue
            table.lefts[place] = left
            table.used[1] += 1
        slot = find_slot(table.keys, key)
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
        place = find_slot(needed.ngrams, table.keys[slot])
        if needed.ngrams[place] != EMPTY:
            needed.counts[place] = count
        place = find_slot(needed.contexts, table.contexts[slot])
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
            needed.ngrams[find_slot(needed.ngrams, key)] = key
            needed.contexts[find_slot(needed.contexts, context)] = context


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
            place = find_slot(needed.contexts, context)
            total = needed.totals[place]
            if total > 0:
                count = needed.counts[find_slot(needed.ngrams, ngram_hash(context, state[FIRST_TOKEN]))]
                rest = 0.0
                for k in range(3):
                    rest += discounts[k + 1] * needed.types[place, k]
                own = max(count - discounts[min(count, 3)], 0.0)
                probabilities[number] = (own + rest * probabilities[number]) / total
        number += 1
    return number
