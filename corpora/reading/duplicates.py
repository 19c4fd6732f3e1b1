"""Removal of repeated lines and rows, exact by 128-bit hashes, in bounded memory."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.reading.text_block import FILE_END, TextBlock, text_batches
from embeddings.support.logs import log

MAX_SLOTS = 1 << 26  # of 16 bytes each: 1 GiB
SMALLEST = 1 << 16  # slots
MAX_LOAD = 0.75  # of the table
TOKEN_END = b"\xff"  # never part of UTF-8


class DuplicateFilter:
    """Drops texts that occurred before: keeps the first of equal texts, and all empty texts.

    Two texts are taken for equal if 128-bit hashes of them are. The table of hashes grows to 1 GiB, for 50 million
    distinct texts; then new texts are kept but not remembered, which is logged as a warning.
    """

    def __init__(self, max_slots: int = MAX_SLOTS) -> None:
        self.max_slots = max_slots
        self.table = np.zeros((min(SMALLEST, max_slots), 2), np.uint64)
        self.state = np.zeros(3, np.int64)
        self.multipliers = np.frombuffer(os.urandom(16), np.uint64) | np.uint64(1)

    @property
    def duplicates(self) -> int:
        """The number of texts that were dropped."""
        return int(self.state[1])

    @property
    def forgotten(self) -> int:
        """The number of texts that were not remembered."""
        return int(self.state[2])

    def find_new(self, data: bytes, ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which texts (texts,) are new; text i ends at byte `ends[i]`, where the next one begins."""
        from embeddings.corpora.reading.duplicate_kernel import find_new, move_hashes  # imports numba

        is_new, position, had_forgotten = np.empty(len(ends), np.bool_), 0, self.forgotten
        text: Any = np.frombuffer(data, np.uint8)
        while True:
            limit = int(MAX_LOAD * len(self.table))
            can_grow = len(self.table) < self.max_slots
            signed_limit = limit if can_grow else -limit
            position = find_new(text, ends, position, self.table, signed_limit, self.state, is_new, self.multipliers)
            if position == len(ends):
                break
            larger = np.zeros((2 * len(self.table), 2), np.uint64)
            move_hashes(self.table, larger)
            self.table = larger
        if self.forgotten and not had_forgotten:
            log.warning("deduplicate: only the first %s distinct lines are remembered", f"{self.state[0]:,}")
        return is_new

    def lines(self, blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
        """Yield the new lines of the text of a file, then its end."""
        for lines in text_batches(blocks):
            yield TextBlock.of_file(self.rows(lines).data)
        yield FILE_END

    def rows(self, rows: TextBlock) -> TextBlock:
        """Return the rows with a new text."""
        if rows.token_lists is not None:
            lists = rows.token_lists.to_pylist()
            texts = [b"".join(token.encode() + TOKEN_END for token in tokens or ()) for tokens in lists]
            is_new = self.find_new(b"".join(texts), np.cumsum([len(text) for text in texts], dtype=np.int64))
        else:
            is_new = self.find_new(rows.data, rows.starts[1:])
        return rows if is_new.all() else rows.select(is_new)
