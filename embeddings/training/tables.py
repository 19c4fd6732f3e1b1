"""Tables of parameters as training starts."""

import numpy as np

from embeddings.kernels.bundle import aligned
from embeddings.kernels.rows import padded


def initial(rows: int, dim: int, seed: int) -> np.ndarray:
    """Rows uniform in (-1, 1) / dim, as gensim and fastText begin; float32 (rows, padded dim), zero beyond `dim`.

    word2vec begins with half of it; the whole gives CBOW better vectors in few epochs.
    """
    table = aligned(rows, padded(dim))
    rng = np.random.default_rng(seed)
    for start in range(0, rows, 65536):  # a block at a time, so that no second table is ever in memory
        part = table[start : start + 65536, :dim]
        part[:] = (rng.random(part.shape, dtype=np.float32) - np.float32(0.5)) * np.float32(2 / dim)
    return table


def zeros(rows: int, dim: int) -> np.ndarray:
    """Rows of zeros; float32 (rows, padded dim)."""
    return aligned(rows, padded(dim))
