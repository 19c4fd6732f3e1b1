"""The growing table of distinct words: their bytes, their counts, and the hash table over them."""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import pruning, scanner
from embeddings.errors import CorpusError

LOWERING = 2  # at most so many bytes for one byte of text, in lower case


class Table(NamedTuple):
    """What the scanner looks words up in.

    A record holds hash and raw id, start in the arena, and count; a word ends where the next one starts.
    """

    slots: NDArray[np.int32]
    records: NDArray[np.int64]
    arena: NDArray[np.uint8]


class Words:
    """Distinct words with raw ids in order of first appearance; memory grows with their number only.

    With a limit of `most` types, whenever there are more `prune` takes out those counted no more often than the
    median (Misra and Gries 1982, with the median as in Anderson et al. 2017). No word is ever counted too often;
    none is short of more than `short` of its occurrences, and `short` is at most 2 / most of all tokens. A word
    that is met again after that starts anew, with another raw id.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.short = 0
        self.shorts = np.empty(0, np.int64)  # of each word that outlived the last pruning, when it entered
        slots, records = np.full(1 << 12, -1, np.int32), np.zeros((1 << 11, 3), np.int64)
        self.table = Table(slots, records, np.empty(1 << 16, np.uint8))
        self.state: NDArray[np.int64] = np.zeros(scanner.STATES, np.int64)
        self.state[[scanner.BLANK, scanner.FRESH]] = 1
        self.state[scanner.MOST] = np.iinfo(np.int64).max if most is None else most
        # a fresh seed for each run: no text can be made to fall on one slot
        self.state[[scanner.SEED, scanner.HASH]] = int.from_bytes(os.urandom(4), "little")
        self.set_shift()

    def __len__(self) -> int:
        return int(self.state[scanner.TYPES])

    def reserve(self, tokens: int, size: int) -> Table:
        """The table, with room for so many more words that are made of so many bytes of text.

        Raises:
            CorpusError: there would be more words than ids.
        """
        types = len(self) + tokens
        if types > np.iinfo(np.int32).max or self.state[scanner.NUMBERED] + tokens > np.iinfo(np.int32).max:
            raise CorpusError(f"more than {np.iinfo(np.int32).max} distinct words")
        slots, records, arena = self.table
        used = int(self.state[scanner.END] + self.state[scanner.LENGTH])
        if types + 1 > len(records):
            records = grown(records, types + 1, len(self) + 1)
        if used + LOWERING * size > len(arena):
            arena = grown(arena, used + LOWERING * size, used)
        rehash = 2 * types > len(slots)
        if rehash:
            slots = np.full(1 << (2 * types - 1).bit_length(), -1, np.int32)
        self.table = Table(slots, records, arena)
        if rehash:
            self.set_shift()
            pruning.place_all(tuple(self.table), self.state)
        return self.table

    def prune(self) -> None:
        """Take out the words that were met no more often than the median, counting what may be missing of each."""
        types = len(self)
        entered_since = np.full(types - len(self.shorts), self.short)
        shorts = np.concatenate([self.shorts, entered_since])
        met = self.counts() + shorts
        self.short = int(np.partition(met, types // 2)[types // 2])
        keep = met > self.short
        self.shorts = shorts[keep]
        pruning.compact(keep, tuple(self.table), self.state)
        self.table.slots.fill(-1)
        pruning.place_all(tuple(self.table), self.state)

    def set_shift(self) -> None:
        """Tell the scanner how many bits of a hash choose a slot."""
        self.state[scanner.SHIFT] = 32 - (len(self.table.slots).bit_length() - 1)

    def counts(self) -> NDArray[np.int64]:
        """How often each word was met (types,)."""
        return self.table.records[: len(self), scanner.COUNT]

    def raw(self) -> NDArray[np.int64]:
        """The raw id of each word, rising (types,)."""
        return self.table.records[: len(self), scanner.HASHED] >> scanner.RAW

    def column(self) -> Any:
        """The words as a pyarrow large_string array (types,), over the arena's own memory."""
        import pyarrow

        offsets = np.ascontiguousarray(self.table.records[: len(self) + 1, scanner.START])
        buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(self.table.arena)]
        return pyarrow.Array.from_buffers(pyarrow.large_string(), len(self), buffers)


def grown(array: NDArray[Any], size: int, used: int) -> NDArray[Any]:
    """The first `used` rows in an array of at least `size` rows, and half as many more than before."""
    larger: NDArray[Any] = np.zeros((max(size, len(array) * 3 // 2), *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger
