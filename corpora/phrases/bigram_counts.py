"""Exact counts of pairs of adjacent words, each encoded as one integer; memory holds only the frequent pairs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import allocating_entry_point
from embeddings.corpora.key_counts import CHUNK, MERGE_SIZE, count_keys
from embeddings.errors import CorpusError, S

MAX_CONNECTORS_IN_A_ROW = 4
BORDER = -1  # instead of a connector's number: no pair extends across such a word
POSITION, SENTENCE, FIRST, BETWEEN, N_BETWEEN = range(5)


class PhraseTokens(NamedTuple):
    """A corpus with joined phrases."""

    ids: Any  # (tokens,) int32: words of the vocabulary, then the id of unknown words, then phrases
    sentences: Any  # (S + 1,) where they begin in `ids`
    counts: NDArray[np.int64]  # (size,) occurrences of each id
    unknown: int  # the id of unknown words


class Pairs(NamedTuple):
    """Frequent pairs of words, as arrays (pairs,)."""

    first: NDArray[np.int64]  # ids
    second: NDArray[np.int64]
    between: NDArray[np.int64]  # 0 for none, else their numbers as digits from 1 to n in base n, the connectors
    counts: NDArray[np.int64]
    distinct: int  # the number of different pairs, including rare ones


def count_pairs(
    tokens: PhraseTokens,
    connectors: NDArray[np.int32],
    min_count: int,
    scratch: Path,
    *,
    chunk: int = CHUNK,
    merge_size: int = MERGE_SIZE,
) -> Pairs:
    """Return the pairs of adjacent words within sentences with at least `min_count` occurrences.

    connectors: (size,) per id: the number of a connector from 1, 0 for other words, BORDER for words in no pair.
    Up to MAX_CONNECTORS_IN_A_ROW connectors may be between two words. scratch: a folder for sorted chunks.
    """
    size, base = len(tokens.counts), int(connectors.max(initial=0))
    check_key_size(size, base)
    state, buffer = np.zeros(5, np.int64), np.empty(min(chunk, len(tokens.ids) + 1), np.int64)
    state[FIRST] = BORDER

    def key_chunks() -> Iterator[NDArray[np.int64]]:
        while n_pairs := pair_keys(tokens.ids, tokens.sentences, connectors, buffer, state):
            yield buffer[:n_pairs]

    parts, distinct = [(np.empty(0, np.int64), np.empty(0, np.int64))], 0
    for keys, counts in count_keys(key_chunks(), scratch, merge_size):
        distinct += len(keys)
        is_frequent = counts >= min_count
        parts.append((keys[is_frequent], counts[is_frequent]))
    keys, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    rest, second = np.divmod(keys, size)
    between, first = np.divmod(rest, size)
    return Pairs(first, second, between, counts, distinct)


def check_key_size(size: int, base: int) -> None:
    """Refuse more words and connectors than fit keys of 63 bits."""
    if not fits_key(size, base):
        fewer = next((limit for limit in reversed(range(base)) if fits_key(size, limit)), None)
        remedy = f"lower {S.max_types}" if fewer is None else f"use at most {fewer} connectors, or lower {S.max_types}"
        raise CorpusError(f"{size:,} different words with {base:,} connectors are too many for phrase keys; {remedy}")


def fits_key(size: int, base: int) -> bool:
    """Whether two words with up to MAX_CONNECTORS_IN_A_ROW connectors between them fit 63 bits."""
    return int(sum(base**n for n in range(MAX_CONNECTORS_IN_A_ROW + 1))) * size**2 < 1 << 63


@allocating_entry_point
def pair_keys(ids: Any, sentences: Any, connectors: Any, out: Any, state: Any) -> int:
    """Write the keys of pairs from the position in `state` until `out` is full; returns their number."""
    size, base = connectors.shape[0], max(np.int64(connectors.max()), np.int64(0))
    position, sentence, first = state[POSITION], state[SENTENCE], state[FIRST]
    between, n_between = state[BETWEEN], state[N_BETWEEN]
    n_pairs, last = 0, sentences.shape[0] - 1
    while n_pairs < out.shape[0] and sentence < last:
        if position >= min(sentences[sentence + 1], ids.shape[0]):
            sentence += 1
            first = BORDER
            continue
        word = np.int64(ids[position])
        position += 1
        connector = connectors[word] if 0 <= word < size else BORDER
        if connector == BORDER:
            first = BORDER
        elif connector == 0:
            if first >= 0:
                out[n_pairs] = (between * size + first) * size + word
                n_pairs += 1
            first, between, n_between = word, 0, 0
        elif first >= 0:
            between, n_between = between * base + connector, n_between + 1
            first = first if n_between <= MAX_CONNECTORS_IN_A_ROW else BORDER
    state[POSITION], state[SENTENCE], state[FIRST] = position, sentence, first
    state[BETWEEN], state[N_BETWEEN] = between, n_between
    return n_pairs
