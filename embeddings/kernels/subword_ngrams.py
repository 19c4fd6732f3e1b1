"""The n-grams of words, hashed as fastText hashes them: 32-bit FNV-1a over bytes that have a sign."""

import numpy as np

from embeddings.kernels.jit import hot, piece

BASIS, PRIME, MASK = np.uint64(2166136261), np.uint64(16777619), np.uint64(0xFFFFFFFF)
NEGATIVE, SIGN = np.uint64(0x80), np.uint64(0xFFFFFF00)


@piece
def mixed(code: np.uint64, byte: np.uint8) -> np.uint64:
    """The hash after one more byte; from 0x80 on a byte is negative, and its sign fills 32 bits."""
    wide = np.uint64(byte)
    if wide >= NEGATIVE:
        wide |= SIGN
    return ((code ^ wide) * PRIME) & MASK


@piece
def inside(byte: np.uint8) -> bool:
    """Whether a byte continues a character of UTF-8."""
    return bool((byte & 0xC0) == 0x80)


@hot
def hash_words(text: np.ndarray, starts: np.ndarray, codes: np.ndarray) -> None:
    """The hash of each whole `text[starts[i]:starts[i + 1]]`."""
    for i in range(codes.shape[0]):
        code = BASIS
        for j in range(starts[i], starts[i + 1]):
            code = mixed(code, text[j])
        codes[i] = code


@hot
def count_ngrams(text: np.ndarray, starts: np.ndarray, least: int, most: int, offsets: np.ndarray) -> None:
    """Where the n-grams of each word begin (words + 1,): of `least` to `most` characters, but for the first and last.

    A word stands between two boundary characters, or is empty and has none.
    """
    offsets[0] = 0
    for i in range(offsets.shape[0] - 1):
        letters = 0
        for j in range(starts[i], starts[i + 1]):
            letters += not inside(text[j])
        total = -2 if letters > 0 and least <= 1 <= most else 0
        for n in range(max(least, 1), min(most, letters) + 1):
            total += letters - n + 1
        offsets[i + 1] = offsets[i] + total


@hot
def hash_ngrams(
    text: np.ndarray, starts: np.ndarray, least: int, most: int, offsets: np.ndarray, codes: np.ndarray
) -> None:
    """The hashes of all n-grams, in fastText's order: by where they begin, then by length."""
    for i in range(offsets.shape[0] - 1):
        first, last, at = starts[i], starts[i + 1], offsets[i]
        for begin in range(first, last):
            if inside(text[begin]):
                continue
            code, n, j = BASIS, 0, begin
            while j < last and n < most:
                code = mixed(code, text[j])
                j += 1
                while j < last and inside(text[j]):
                    code = mixed(code, text[j])
                    j += 1
                n += 1
                if n >= least and not (n == 1 and (begin == first or j == last)):
                    codes[at] = code
                    at += 1


@hot
def add_rows(goal: np.ndarray, table: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> None:
    """Add to each row of `goal` (words, dim) the rows of `table` that it is made of, in their order."""
    for i in range(goal.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            source = table[rows[k]]
            for d in range(goal.shape[1]):
                goal[i, d] += source[d]
