"""The n-grams of words as fastText cuts and hashes them (Bojanowski et al. 2017), each a bucket of a table.

A word stands between `<` and `>`. Its n-grams are of code points; a boundary character alone is none; `</s>`, the end
of a line, has none. A bucket is the 32-bit FNV-1a hash modulo the number of buckets.
"""

from collections.abc import Sequence

import numpy as np

from embeddings.errors import SettingError

Word = str | bytes

LINE_END = b"</s>"
MOST_N = 100
MOST_BUCKETS = 2**31 - 1
MOST_NGRAMS = 2**31 - 1
FASTTEXT_BUCKETS = 2_000_000


def subwords(words: Sequence[Word], *, min_n: int, max_n: int, buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """The buckets of the n-grams of each word, in fastText's order, without the word itself.

    Arguments:
        words: texts, or their bytes in UTF-8; bytes that are not UTF-8 are hashed as fastText hashes them.
        min_n: characters of the shortest n-gram, boundaries included.
        max_n: characters of the longest; 0 for no n-grams at all.
        buckets: rows of the table; bucket numbers are 0 to buckets - 1.

    Returns:
        offsets int64 (words + 1,), and buckets int32 (total,): those of word i are [offsets[i] : offsets[i + 1]].

    Raises:
        SettingError: the range is reversed or out of bounds, there are no buckets, or too many n-grams in all.
    """
    check_ngrams(min_n, max_n, buckets)
    offsets, codes = ngram_hashes(words, min_n, max_n)
    return offsets, rows_of(codes, buckets)


def rows_of(hashes: np.ndarray, buckets: int) -> np.ndarray:
    """The bucket of each hash, int32, in the memory of the hashes."""
    hashes %= np.uint32(max(buckets, 1))
    return hashes.view(np.int32)


def default_buckets(hashes: np.ndarray) -> int:
    """As many buckets as the n-grams of a vocabulary, of these hashes, would fill of fastText's 2,000,000.

    The rest of these is never trained, yet stored: a vocabulary of 20,000 words fills a sixteenth. While there are
    fewer different n-grams than buckets this is close to their number, so that on average another one shares an
    n-gram's bucket; large vocabularies come near 2,000,000, where fastText's own have several to a bucket.
    """
    seen = np.zeros(FASTTEXT_BUCKETS, np.bool_)
    seen[hashes % np.uint32(FASTTEXT_BUCKETS)] = True
    return max(1, int(seen.sum()))


def fnv1a(words: Sequence[Word]) -> np.ndarray:
    """The hash of each whole text, without boundaries, uint32 (words,)."""
    from embeddings.kernels.subword_ngrams import hash_words

    text, starts = joined([encoded(word) for word in words])
    codes = np.empty(len(words), np.uint32)
    hash_words(text, starts, codes)
    return codes


def ngram_hashes(words: Sequence[Word], min_n: int, max_n: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the n-grams of each word begin, int64 (words + 1,), and their hashes, uint32 (total,)."""
    from embeddings.kernels.subword_ngrams import ngram_offsets, hash_ngrams

    spelled = map(encoded, words)
    text, starts = joined([b"" if word == LINE_END else b"<%b>" % word for word in spelled])
    offsets = np.empty(len(words) + 1, np.int64)
    ngram_offsets(text, starts, min_n, max_n, offsets)
    total = int(offsets[-1])
    if total > MOST_NGRAMS:
        raise SettingError(f"{len(words)} words have {total} n-grams, more than {MOST_NGRAMS}; lower max_n")
    codes = np.empty(total, np.uint32)
    hash_ngrams(text, starts, min_n, max_n, offsets, codes)
    return offsets, codes


def joined(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """All bytes in one array, and where each part begins, int64 (parts + 1,)."""
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=starts[1:])
    return np.frombuffer(b"".join(parts), np.uint8), starts


def encoded(word: Word) -> bytes:
    """A word in UTF-8. Surrogates, which are no characters, stand for the bytes they were read from, if any."""
    if isinstance(word, bytes):
        return word
    try:
        return word.encode()
    except UnicodeEncodeError:
        pass
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return word.encode("utf-8", "surrogatepass")


def check_ngrams(min_n: int, max_n: int, buckets: int) -> None:
    """Refuse a range of lengths that is reversed or absurd, and n-grams without buckets.

    Raises:
        SettingError: naming the setting.
    """
    if not 0 <= max_n <= MOST_N:
        raise SettingError(f"max_n must be from 0, for no n-grams, to {MOST_N}, not {max_n}")
    if max_n and not 0 <= min_n <= max_n:
        raise SettingError(f"min_n must be from 0 to max_n, {max_n}, not {min_n}")
    if not (1 if max_n else 0) <= buckets <= MOST_BUCKETS:
        raise SettingError(f"buckets must be from 1 to {MOST_BUCKETS}, not {buckets}")
