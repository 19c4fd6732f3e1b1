"""64-bit MurmurHash2 (Appleby 2008, MurmurHash64A): spaCy's string hash."""

import numpy as np

from embeddings.kernels.jit import entry_point, inline

FACTOR, SHIFT, BYTE = np.uint64(0xC6A4A7935BD1E995), np.uint64(47), np.uint64(8)


@inline
def read_uint64(text: np.ndarray, start: int, count: int) -> np.uint64:
    """Up to eight bytes as a little-endian integer."""
    value = np.uint64(0)
    for j in range(count):
        value |= np.uint64(text[start + j]) << (np.uint64(j) * BYTE)
    return value


@entry_point
def hash_texts(text: np.ndarray, starts: np.ndarray, seed: np.uint64, codes: np.ndarray) -> None:
    """Hash each `text[starts[i]:starts[i + 1]]` into `codes`."""
    for i in range(codes.shape[0]):
        start, size = starts[i], starts[i + 1] - starts[i]
        code = seed ^ (np.uint64(size) * FACTOR)
        for at in range(start, start + size - size % 8, 8):
            part = read_uint64(text, at, 8) * FACTOR
            part ^= part >> SHIFT
            code = (code ^ (part * FACTOR)) * FACTOR
        if size % 8:
            code = (code ^ read_uint64(text, start + size - size % 8, size % 8)) * FACTOR
        code ^= code >> SHIFT
        code *= FACTOR
        codes[i] = code ^ (code >> SHIFT)
