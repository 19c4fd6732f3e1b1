"""MurmurHash2 of 64 bits (Appleby 2008, the variant for 64-bit machines), by which spaCy numbers its strings."""

import numpy as np

from embeddings.kernels.jit import hot, piece

FACTOR, TURN, BYTE = np.uint64(0xC6A4A7935BD1E995), np.uint64(47), np.uint64(8)


@piece
def word_at(text: np.ndarray, start: int, count: int) -> np.uint64:
    """The number that up to eight bytes spell, the lowest first."""
    found = np.uint64(0)
    for j in range(count):
        found |= np.uint64(text[start + j]) << (np.uint64(j) * BYTE)
    return found


@hot
def hash_texts(text: np.ndarray, starts: np.ndarray, seed: np.uint64, codes: np.ndarray) -> None:
    """The hash of each `text[starts[i]:starts[i + 1]]`."""
    for i in range(codes.shape[0]):
        start, size = starts[i], starts[i + 1] - starts[i]
        code = seed ^ (np.uint64(size) * FACTOR)
        for at in range(start, start + size - size % 8, 8):
            part = word_at(text, at, 8) * FACTOR
            part ^= part >> TURN
            code = (code ^ (part * FACTOR)) * FACTOR
        if size % 8:
            code = (code ^ word_at(text, start + size - size % 8, size % 8)) * FACTOR
        code ^= code >> TURN
        code *= FACTOR
        codes[i] = code ^ (code >> TURN)
