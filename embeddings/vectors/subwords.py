"""Character n-grams of words, hashed to buckets as in fastText (Bojanowski et al. 2017).

A word is enclosed in `<` and `>`. Its n-grams are of code points; a boundary character alone is not an n-gram; `</s>`,
the end of a line, has none. A bucket is the 32-bit FNV-1a hash modulo the number of buckets.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from embeddings.errors import S, SettingError
from embeddings.settings import check_value
from embeddings.support.arrow import starts_of
from embeddings.vectors.compact_rows import CompactRows

Word = str | bytes

LINE_END = b"</s>"
MAX_NGRAM_LENGTH = 100
MAX_BUCKETS = 2**31 - 1
BUCKETS_HELP = (
    "Number of hash buckets for n-grams.  [default: as many of fastText's 2,000,000 as the vocabulary's n-grams would "
    "fill]"
)
MAX_NGRAMS = 2**31 - 1
MAX_HASHES = 8
FASTTEXT_BUCKETS = 2_000_000


def subwords(
    words: Sequence[Word], *, min_n: int, max_n: int, buckets: int, hashes: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets (words + 1,) and the buckets of each word's n-grams, int32 (total,), in fastText's order.

    The n-grams of word i have the buckets `buckets[offsets[i]:offsets[i + 1]]`; the word's own row is not among them.
    Words may be bytes, which are hashed as in fastText even if they are not UTF-8. Lengths count characters and
    boundaries.
    """
    check_ngrams(min_n, max_n, buckets if max_n else None)
    offsets, codes = ngram_hashes(words, min_n, max_n, hashes)
    return offsets, bucket_rows(codes, buckets)


def bucket_rows(hashes: np.ndarray, buckets: int) -> np.ndarray:
    """The bucket of each hash, int32, written over the hashes."""
    # In place, since the n-grams of a large vocabulary take gigabytes.
    hashes %= np.uint32(max(buckets, 1))
    return hashes.view(np.int32)


def bucket_count(settings: Any, continued: Any, table: str, hashes: np.ndarray) -> int:
    """The number of hash buckets: as set, or as in the model to continue, or by the hashes of the vocabulary.

    By the hashes, as many as are occupied of fastText's 2,000,000. Others would be stored but never trained; a
    vocabulary of 20,000 words uses a sixteenth.
    """
    if settings.max_n == 0:
        return 0
    count: int = settings.buckets or (0 if continued is None else len(continued.tables.get(table, ())))
    if count:
        return count
    is_used = np.zeros(FASTTEXT_BUCKETS, np.bool_)
    is_used[hashes % np.uint32(FASTTEXT_BUCKETS)] = True
    return max(1, int(is_used.sum()))


def ngram_hashes(words: Sequence[Word], min_n: int, max_n: int, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Offsets of the n-grams of each word, int64 (words + 1,), and `count` hashes of each n-gram, uint32 (total,)."""
    from embeddings.kernels.subword_rows import hash_ngrams, ngram_offsets

    text, starts = concatenate_bytes([b"" if word == LINE_END else b"<%b>" % word for word in map(to_bytes, words)])
    offsets = np.empty(len(words) + 1, np.int64)
    ngram_offsets(text, starts, min_n, max_n, offsets)
    total = int(offsets[-1])
    if total * count > MAX_NGRAMS:
        raise SettingError(f"{len(words)} words have {total} n-grams, more than {MAX_NGRAMS}; use a lower {S.max_n}")
    hashes = np.empty(total, np.uint32)
    hash_ngrams(text, starts, min_n, max_n, offsets, hashes)
    if count == 1:
        return offsets, hashes
    further = [hashes]  # each mixes the bits of the one before it
    for _ in range(count - 1):
        mixed = (further[-1] ^ (further[-1] >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        further.append(mixed ^ (mixed >> np.uint32(13)))
    return offsets * count, np.stack(further, axis=1).ravel()


def concatenate_bytes(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """All bytes in one array, and the offset of each part, int64 (parts + 1,)."""
    return np.frombuffer(b"".join(parts), np.uint8), starts_of(parts)


def to_bytes(word: Word) -> bytes:
    """A word in UTF-8; surrogate escapes become the bytes they encode."""
    if isinstance(word, bytes):
        return word
    for errors in ("strict", "surrogateescape"):
        try:
            return word.encode("utf-8", errors)
        except UnicodeEncodeError:
            continue
    return word.encode("utf-8", "surrogatepass")


def check_ngrams(min_n: int, max_n: int, buckets: int | None) -> None:
    """Refuse n-gram settings that are out of range, and buckets without n-grams; None stands for their default."""
    check_value("max_n", max_n, int, {"ge": 0, "le": MAX_NGRAM_LENGTH})
    if max_n:
        check_value("min_n", min_n, int, {"ge": 0, "le": max_n})
        check_value("buckets", buckets, int | None, {"ge": 1, "le": MAX_BUCKETS})
    elif buckets:
        raise SettingError(f"{S.buckets(buckets)} requires n-grams: raise {S.max_n} above 0")


MAX_BLOCK_NGRAMS = 1 << 22  # in memory at a time, unless a single word has more


@dataclass(frozen=True)
class SubwordVectors:
    """Composes word vectors from a table of n-gram vectors, (buckets, dim), float32 or compact.

    Each n-gram has `hashes` rows.

    Raises:
        SettingError: the lengths and the table do not fit together.
    """

    ngrams: np.ndarray | CompactRows
    min_n: int
    max_n: int
    hashes: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        check_ngrams(self.min_n, self.max_n, self.ngrams.shape[0] if self.max_n else None)

    def __call__(self, words: Sequence[Word]) -> np.ndarray:
        """The vectors of words outside the vocabulary, (words, dim) float32: means over their n-grams, or zeros."""
        return self._add_and_average(words, np.zeros((len(words), self.ngrams.shape[1]), np.float32), 0)

    def vocabulary_vectors(self, words: Sequence[Word], own: np.ndarray) -> np.ndarray:
        """The vectors of vocabulary words, (words, dim): means over a word's own row (words, dim) and its n-grams."""
        return self._add_and_average(words, np.array(own, np.float32, order="C", subok=False), 1)

    def _add_and_average(self, words: Sequence[Word], sums: np.ndarray, terms: int) -> np.ndarray:
        """Turn sums (words, dim) of `terms` vectors into means that include the n-grams, block by block."""
        from embeddings.kernels.subword_rows import add_ngram_rows

        n_lengths = self.max_n - min(self.min_n, self.max_n) + 1
        ends = np.cumsum([(len(word) + 2) * n_lengths for word in words])  # upper bounds on the number of n-grams
        start = 0
        while start < len(words):
            previous = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, previous + MAX_BLOCK_NGRAMS, side="right")))
            block = sums[start:stop]
            table, how = self.ngrams, {"min_n": self.min_n, "max_n": self.max_n, "hashes": self.hashes}
            offsets, rows = subwords(words[start:stop], **how, buckets=table.shape[0])
            # Words share n-grams: each row is decoded once a block.
            if isinstance(table, CompactRows):
                used, places = np.unique(rows, return_inverse=True)
                table, rows = table.take(used), places.astype(np.int32)
            add_ngram_rows(block, table, offsets, rows)
            block *= (1 / np.maximum(np.diff(offsets) + terms, 1)).astype(np.float32)[:, None]
            start = stop
        return sums
