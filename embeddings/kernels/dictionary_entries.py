"""Splits the dictionary of a fastText file into entries. Compiled.

An entry is a word, a NUL, its count as little-endian int64, and one byte, its kind.
"""

import numpy as np

from embeddings.compilation.jit import entry_point

COUNT_BYTES = 8


@entry_point
def split_entries(
    data: np.ndarray, text: np.ndarray, lengths: np.ndarray, counts: np.ndarray, kinds: np.ndarray, ends: np.ndarray
) -> None:
    """Split the complete entries at the start of `data`, at most as many as `lengths` has room for.

    Arguments:
        data: uint8, a part of the dictionary that begins with an entry.
        text: uint8, at least as long as `data`; set to the words, without separators.
        lengths, counts, kinds: int64, int64 and int8 (entries,).
        ends: int64 (3,), set to the number of entries, and to their ends in `data` and `text`.
    """
    start, position = 0, 0
    for entry in range(lengths.shape[0]):
        end = start
        while end < data.shape[0] and data[end] != 0:
            end += 1
        if end + COUNT_BYTES + 1 >= data.shape[0]:
            return
        for i in range(start, end):
            text[position] = data[i]
            position += 1
        count = np.uint64(0)
        for i in range(COUNT_BYTES, 0, -1):
            count = (count << np.uint64(8)) | np.uint64(data[end + i])
        lengths[entry], counts[entry], kinds[entry] = end - start, np.int64(count), np.int8(data[end + COUNT_BYTES + 1])
        start = end + COUNT_BYTES + 2
        ends[0], ends[1], ends[2] = entry + 1, start, position
