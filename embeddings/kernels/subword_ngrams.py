"""N-grams of words, hashed as in fastText: 32-bit FNV-1a over signed bytes."""

import numpy as np

from embeddings.kernels.integers import larger, smaller
from embeddings.kernels.jit import entry_point, inline

FNV_BASIS, FNV_PRIME, MASK = np.uint64(2166136261), np.uint64(16777619), np.uint64(0xFFFFFFFF)
NEGATIVE, SIGN = np.uint64(0x80), np.uint64(0xFFFFFF00)


@inline
def fnv1a(code: np.uint64, byte: np.uint8) -> np.uint64:
    """The hash after one more byte, sign-extended to 32 bits."""
    wide = np.uint64(byte)
    if wide >= NEGATIVE:
        wide |= SIGN
    return ((code ^ wide) * FNV_PRIME) & MASK


@inline
def is_continuation_byte(byte: np.uint8) -> bool:
    """Whether a byte continues a UTF-8 character."""
    return bool((byte & 0xC0) == 0x80)


@entry_point
def hash_words(text: np.ndarray, starts: np.ndarray, codes: np.ndarray) -> None:
    """Hash each `text[starts[i]:starts[i + 1]]` into `codes`."""
    for i in range(codes.shape[0]):
        code = FNV_BASIS
        for j in range(starts[i], starts[i + 1]):
            code = fnv1a(code, text[j])
        codes[i] = code


@entry_point
def ngram_offsets(text: np.ndarray, starts: np.ndarray, min_n: int, max_n: int, offsets: np.ndarray) -> None:
    """Where the n-grams of each word begin, (words + 1,).

    Words include their boundary characters, which alone are not n-grams; an empty text has no n-grams.
    """
    offsets[0] = 0
    for i in range(offsets.shape[0] - 1):
        letters = 0
        for j in range(starts[i], starts[i + 1]):
            letters += not is_continuation_byte(text[j])
        total = -2 if letters > 0 and min_n <= 1 <= max_n else 0
        for n in range(larger(min_n, 1), smaller(max_n, letters) + 1):
            total += letters - n + 1
        offsets[i + 1] = offsets[i] + total


@entry_point
def hash_ngrams(
    text: np.ndarray, starts: np.ndarray, min_n: int, max_n: int, offsets: np.ndarray, codes: np.ndarray
) -> None:
    """The hashes of all n-grams, in fastText's order: by start, then by length."""
    for i in range(offsets.shape[0] - 1):
        first, last, at = starts[i], starts[i + 1], offsets[i]
        for begin in range(first, last):
            if is_continuation_byte(text[begin]):
                continue
            code, n, j = FNV_BASIS, 0, begin
            while j < last and n < max_n:
                code = fnv1a(code, text[j])
                j += 1
                while j < last and is_continuation_byte(text[j]):
                    code = fnv1a(code, text[j])
                    j += 1
                n += 1
                if n >= min_n and not (n == 1 and (begin == first or j == last)):
                    codes[at] = code
                    at += 1


@entry_point
def add_ngram_rows(output: np.ndarray, table: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> None:
    """Add to each row i of `output` (words, dim) the rows `rows[offsets[i]:offsets[i + 1]]` of `table`, in order."""
    for i in range(output.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            source = table[rows[k]]
            for d in range(output.shape[1]):
                output[i, d] += source[d]
