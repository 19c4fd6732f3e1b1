"""The order of words by frequency, and of equally frequent ones by their bytes, a few bytes of all words at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.support.arrow_arrays import string_bytes, to_arrow, to_numpy

KEY_BYTES = 8
FEWEST_GROUP_BITS = 24
MAX_ROUNDS = 8  # then few words are equal so far


def frequency_order(words: Any, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows (words,) in the order of falling counts, and of UTF-8 bytes where these are equal.

    words: a pyarrow array of distinct strings. Each round sorts the rows that are equal so far by an integer: the
    number of their group, and the next bytes of the word.
    """
    text, starts = string_bytes(words)
    padded = np.zeros(len(text) + KEY_BYTES, np.uint8)
    padded[: len(text)] = text
    windows = np.ndarray(len(text) + 1, ">u8", padded, strides=(1,))
    order = np.arange(len(words))
    places, rows, groups = order.copy(), order, descending_groups(counts)
    n_bytes = (64 - max(FEWEST_GROUP_BITS, len(words).bit_length(), int(groups.max(initial=0)).bit_length())) // 8
    for number in range(MAX_ROUNDS):
        if not len(rows):
            return order
        next_bytes = load_bytes(windows, starts[rows] + number * n_bytes, starts[rows + 1], n_bytes)
        keys = groups.astype(np.uint64) << np.uint64(8 * n_bytes) | next_bytes
        by_key = np.argsort(keys)
        rows, keys = rows[by_key], keys[by_key]
        order[places] = rows
        is_first = np.append(True, keys[1:] != keys[:-1])
        is_tied = ~(is_first & np.append(is_first[1:], True))
        places, rows, groups = places[is_tied], rows[is_tied], np.cumsum(is_first)[is_tied]
    order[places] = rows[sorted_rows(words, rows, groups)]
    return order


def descending_groups(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each count (words,), lower for higher counts, below 2^24 if the text is not enormous."""
    limit = 1 << (FEWEST_GROUP_BITS - 1)
    groups = limit - np.minimum(counts, limit)
    high = np.flatnonzero(counts >= limit)
    if len(high):
        values, ranks = np.unique(counts[high], return_inverse=True)
        groups += len(values)
        groups[high] = len(values) - 1 - ranks
    return groups


def load_bytes(
    windows: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64], n_bytes: int
) -> NDArray[np.uint64]:
    """Return `n_bytes` bytes from each start on as a big-endian number, with zeros from the end on."""
    missing = 8 * np.clip(n_bytes - (ends - starts), 0, n_bytes).astype(np.uint64)
    values = windows[np.minimum(starts, len(windows) - 1)].astype(np.uint64) >> np.uint64(8 * (KEY_BYTES - n_bytes))
    result: NDArray[np.uint64] = values >> missing << missing
    return result


def sorted_rows(words: Any, rows: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of these rows by group and word."""
    import pyarrow
    import pyarrow.compute

    table = pyarrow.table({"group": to_arrow(groups), "word": words.take(to_arrow(rows))})
    indices = pyarrow.compute.sort_indices(table, [("group", "ascending"), ("word", "ascending")])
    return to_numpy(indices).astype(np.int64)
