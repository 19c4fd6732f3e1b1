"""Words of a file one after another in memory, without an object for each."""

from array import array
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from embeddings.support.word_list import Words
from embeddings.vectors.word_encoding import decode

MANY = 1 << 16  # words; the strings of fewer are made in less time than Arrow takes to import


class Packed:
    """Words as bytes, taken as they are read."""

    def __init__(self, words: Sequence[bytes] = ()) -> None:
        self.text, self.lengths, self.hashes = bytearray(), array("q"), array("q")
        self.extend(words)

    def __len__(self) -> int:
        return len(self.lengths)

    def extend(self, words: Sequence[bytes]) -> None:
        """Take further words."""
        self.text += b"".join(words)
        self.lengths.extend(map(len, words))
        self.hashes.extend(map(hash, words))

    @property
    def distinct(self) -> bool:
        """Whether no two have the same hash: then no two are alike."""
        hashes = np.sort(np.frombuffer(self.hashes, np.int64))
        return not (hashes[1:] == hashes[:-1]).any()

    @property
    def ends(self) -> np.ndarray:
        """Where each begins, and the last one ends; (words + 1,)."""
        ends = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.frombuffer(self.lengths, np.int64), out=ends[1:])
        return ends

    def listed(self) -> list[bytes]:
        """All of them."""
        text = bytes(self.text)
        return [text[start:end] for start, end in pairwise(self.ends.tolist())]

    def decoded(self, errors: str, place: str, first: int) -> Words | list[str]:
        """The words that `shared.decode` gives; many of them, of which no two are alike, stay a column of Arrow.

        Python's strings and dictionary of a million words take longer than all else of a file, and may never be needed.

        Raises:
            FormatError: as `shared.decode`.
        """
        if len(self) < MANY or not self.distinct:
            return decode(self.listed(), errors, place, first)
        import pyarrow as pa

        ends, text = pa.py_buffer(self.ends), pa.py_buffer(bytes(self.text))
        column = pa.LargeStringArray.from_buffers(len(self), ends, text)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            return decode(self.listed(), errors, place, first)
        return Words(column, distinct=True)
