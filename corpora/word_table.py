"""The growing table of distinct words: their bytes, their counts, and the hash slots of the scanner."""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.corpora import scanner
from embeddings.corpora.reading.tag_arrays import list_sizes
from embeddings.corpora.scanner import (
    ARENA_END,
    COUNT,
    HASH_AND_RAW,
    LOW_32,
    N_COLUMNS,
    N_TYPES,
    PREFIX,
    SHIFT,
    SLACK,
    START,
    WINDOW,
    Array,
)
from embeddings.errors import CorpusError, S
from embeddings.support.arrow import pa, string_bytes

BYTES_PER_BYTE = 2  # lower-casing at most doubles the number of bytes
SPARE_BYTES = WINDOW + SLACK  # scratch bytes that the scanner accesses beyond the last word


@entry_point
def fill_slots(table: Any, state: Array) -> None:
    """Enter every word in an empty array of slots."""
    slots, records, _ = table
    last = slots.shape[0] - 1
    for word in range(state[N_TYPES]):
        slot = (records[word, HASH_AND_RAW] & LOW_32) >> state[SHIFT]
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = word


@entry_point
def compact(keep: Array, table: Any, state: Array) -> None:
    """Drop the words whose entry in `keep` (types,) is false, preserving order; the slots are not updated."""
    _, records, arena = table
    word, end = 0, np.int64(0)
    for old in range(state[N_TYPES]):
        start, stop = records[old, START], records[old + 1, START]
        if keep[old]:
            for k in range(start, stop):
                arena[end + k - start] = arena[k]
            for column in (HASH_AND_RAW, COUNT, PREFIX):
                records[word, column] = records[old, column]
            records[word, START] = end
            end += stop - start
            word += 1
    records[word, START] = end
    state[N_TYPES], state[ARENA_END] = word, end


class TableArrays(NamedTuple):
    """The arrays in which the scanner looks words up.

    A record holds the hash and raw id of a word, its start in the arena, and its count; it ends where the next starts.
    """

    slots: NDArray[np.int32]
    records: NDArray[np.int64]
    arena: NDArray[np.uint8]


class WordTable:
    """Distinct words with raw ids in order of first occurrence; memory grows only with their number.

    If there are more than `max_types`, `prune` drops the words that are not more frequent than the median (Misra and
    Gries 1982, with the median as in Anderson et al. 2017). Counts are lower bounds; `max_undercount` is the
    maximum undercount, at most 2 / max_types of all tokens. A dropped word that occurs again gets a new raw id.
    """

    def __init__(self, max_types: int | None = None) -> None:
        self.max_types = max_types
        self.max_undercount = 0
        self.undercounts = np.empty(0, np.int64)  # maximum undercount of each word that survived the last pruning
        slots, records = np.full(1 << 12, -1, np.int32), np.zeros((1 << 11, N_COLUMNS), np.int64)
        self.arrays = TableArrays(slots, records, np.empty(1 << 16, np.uint8))
        self.state: NDArray[np.int64] = np.zeros(scanner.STATE_SIZE, np.int64)
        self.state[[scanner.LINE_IS_BLANK, scanner.DOCUMENT_IS_DUE]] = 1
        self.state[scanner.MAX_TYPES] = np.iinfo(np.int64).max if max_types is None else max_types
        self.state[scanner.BATCH_SIZE] = scanner.MAX_BATCH if max_types is None else 1  # words are pruned in between
        # a random seed, so that no text can be crafted to collide in one slot
        self.state[scanner.SEED] = int.from_bytes(os.urandom(8), "little", signed=True) | 1
        self.set_shift()

    def __len__(self) -> int:
        return int(self.state[scanner.N_TYPES])

    def reserve(self, tokens: int, size: int) -> TableArrays:
        """Return the arrays with room for `tokens` more words from `size` bytes of text."""
        types = len(self) + tokens
        if types > np.iinfo(np.int32).max or self.state[scanner.N_RAW] + tokens > np.iinfo(np.int32).max:
            problem = f"the corpus has more than {np.iinfo(np.int32).max} distinct words"
            if self.max_types is not None:
                problem += ", with pruned words counted again; raise"
            raise CorpusError(f"{problem}{'; set' if self.max_types is None else ''} {S.max_types}")
        slots, records, arena = self.arrays
        used = int(self.state[scanner.ARENA_END] + self.state[scanner.PENDING_SIZE])
        if types + 1 > len(records):
            records = grow(records, types + 1, len(self) + 1)
        if used + BYTES_PER_BYTE * size + SPARE_BYTES > len(arena):
            arena = grow(arena, used + BYTES_PER_BYTE * size + SPARE_BYTES, used)
        needs_rehash = 2 * types > len(slots)
        if needs_rehash:
            slots = np.full(1 << (2 * types - 1).bit_length(), -1, np.int32)
        self.arrays = TableArrays(slots, records, arena)
        # at a load above one half, probing takes much longer
        if needs_rehash:
            self.set_shift()
            fill_slots(tuple(self.arrays), self.state)
        return self.arrays

    def intern(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """Count tokens, and return the raw id of each token (tokens,); `ends` has the end of each token in the text."""
        ids = np.empty(len(ends), np.int32)
        self.state[scanner.N_IDS] = 0
        arrays = self.reserve(len(ends), len(text))
        while scanner.intern_all(text, ends, tuple(arrays), ids, self.state):
            self.prune()
        return ids

    def intern_lists(self, lists: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the tokens of lists, and return the raw id of each (tokens,), and where lists begin, (lists + 1,).

        lists: a pyarrow array of large lists of large strings.
        """
        text, starts = string_bytes(lists.flatten())
        return self.intern(bytes_array(text.tobytes()), starts[1:]), np.append(0, np.cumsum(list_sizes(lists)))

    def words_from(self, first: int, stop: int | None = None) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the joined bytes of the words from `first` to `stop`, and where each word ends; both are copies.

        Other threads may add words after `stop`, which is the number of words by default.
        """
        _, records, arena = self.arrays
        bounds = records[first : (len(self) if stop is None else stop) + 1, START]
        text = arena[bounds[0] : bounds[-1]].copy()
        text.setflags(write=False)  # so that `intern` compiles once
        return text, bounds[1:] - bounds[0]

    def prune(self) -> None:
        """Drop the words that are not more frequent than the median, and update the undercounts."""
        types = len(self)
        undercounts = np.concatenate([self.undercounts, np.full(types - len(self.undercounts), self.max_undercount)])
        upper_bounds = self.counts() + undercounts
        self.max_undercount = int(np.partition(upper_bounds, types // 2)[types // 2])
        keep = upper_bounds > self.max_undercount
        self.undercounts = undercounts[keep]
        compact(keep, tuple(self.arrays), self.state)
        self.arrays.slots.fill(-1)
        fill_slots(tuple(self.arrays), self.state)

    def set_shift(self) -> None:
        """Set how many bits of a hash the scanner drops to select a slot."""
        self.state[scanner.SHIFT] = 32 - (len(self.arrays.slots).bit_length() - 1)

    def counts(self) -> NDArray[np.int64]:
        """Return the count of each word (types,)."""
        return self.arrays.records[: len(self), COUNT]

    def words(self) -> Any:
        """Return the words as a pyarrow large_string array (types,) that shares the arena's memory."""
        offsets = np.ascontiguousarray(self.arrays.records[: len(self) + 1, START])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.arrays.arena)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)


def grow(array: NDArray[Any], size: int, used: int) -> NDArray[Any]:
    """Copy the first `used` rows to an array of at least `size` rows, and at least 1.5 times as many as before."""
    larger: NDArray[Any] = np.zeros((max(size, len(array) * 3 // 2), *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger


def bytes_array(data: bytes) -> NDArray[np.uint8]:
    """Return a view of bytes as an array."""
    return np.frombuffer(data or b"\0", np.uint8)[: len(data)]  # always read-only, so that the scanner compiles once
