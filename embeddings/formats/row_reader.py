"""Words and vectors as they are read, a block of a file after another."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from embeddings.errors import FormatError
from embeddings.formats.packed_words import Packed
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import checked

FIRST_ROOM = 1 << 22  # components


class Rows:
    """Words and vectors as they are read, in memory that follows what was read and not what a header promises.

    Arguments:
        dim: components.
        expected: how many rows will come, if the size of the file bears it out; None where nothing does. Then
            words are compared as they come, so that a file that repeats itself is not expanded to the end.
    """

    def __init__(self, path: Path, dim: int, expected: int | None) -> None:
        self.path = path
        self.packed = Packed()
        room = FIRST_ROOM // dim + 1 if expected is None else expected
        self.matrix = np.empty((room, dim), dtype=np.float32)
        self.seen: set[bytes] | None = set() if expected is None else None
        self.finite = True

    @property
    def count(self) -> int:
        """How many were read."""
        return len(self.packed)

    def add(self, words: Sequence[bytes], vectors: np.ndarray) -> None:
        """Take further words and their vectors (words, dim).

        Raises:
            FormatError: one stands twice.
        """
        start, end = self.count, self.count + len(words)
        self.packed.extend(words)
        if self.seen is not None:
            self.seen.update(words)
            if len(self.seen) < end:
                twice = next(word for word, times in Counter(self.packed.listed()).items() if times > 1)
                raise FormatError(f"{self.path}: the word {twice.decode('utf-8', 'replace')!r} stands twice")
        if end > len(self.matrix):
            self.matrix.resize((max(end, len(self.matrix) * 3 // 2), self.matrix.shape[1]), refcheck=False)
        self.matrix[start:end] = vectors
        self.finite = self.finite and bool(np.isfinite(vectors).all())  # now that they are near

    def whole(self) -> np.ndarray:
        """The vectors of all words taken, (words, dim)."""
        self.matrix.resize((self.count, self.matrix.shape[1]), refcheck=False)
        return self.matrix

    def vectors(self, errors: str, place: str, first: int, counts: np.ndarray | None = None) -> Vectors:
        """All that was read; `place` and a number that starts at `first` say where each word stands.

        Raises:
            FormatError: a word is not UTF-8 and `errors` is strict, or stands twice; a number is NaN or infinite.
        """
        words = self.packed.decoded(errors, place, first)
        return checked(self.path, words, self.whole(), counts, finite=self.finite)
