"""Initial values of input vectors: each function fills a table of zeros, (rows, padded dim), from a seed."""

from collections.abc import Callable, Iterator

import numpy as np

from embeddings.models.parameters import BLOCK_ROWS, fill_random_rows

Initializer = Callable[[np.ndarray, int, int], None]  # table, dim, seed


def uniform(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with numbers uniform in (-1, 1) / dim."""
    fill_random_rows(table, dim, seed)


def normal(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with normally distributed numbers of standard deviation 1 / dim."""
    rng = np.random.default_rng(seed)
    for block in row_blocks(table, dim):
        block[:] = rng.standard_normal(block.shape, np.float32) / np.float32(dim)


def xavier(table: np.ndarray, dim: int, seed: int) -> None:
    """Fill rows with numbers uniform in (-1, 1) sqrt(6 / (rows + dim)) (Glorot and Bengio 2010)."""
    fill_random_rows(table, dim, seed)
    scale = np.float32(dim * np.sqrt(6 / (len(table) + dim)))
    for block in row_blocks(table, dim):
        block *= scale


def orthogonal(table: np.ndarray, dim: int, seed: int) -> None:
    """Make the columns orthonormal or, if there are fewer rows than columns, the rows (Saxe et al. 2014)."""
    rng = np.random.default_rng(seed)
    if len(table) <= 2 * dim:
        sizes = len(table), dim
        q, _ = np.linalg.qr(rng.standard_normal((max(sizes), min(sizes))))
        table[:, :dim] = q if len(table) >= dim else q.T
        return
    normal(table, dim, seed)
    for _ in range(2):  # Cholesky QR by blocks; the second pass removes the rounding error of the first
        gram = sum(block.T @ block for block in (block.astype(np.float64) for block in row_blocks(table, dim)))
        factor = np.linalg.inv(np.linalg.cholesky(gram)).T
        for block in row_blocks(table, dim):
            block[:] = block @ factor


def row_blocks(table: np.ndarray, dim: int) -> Iterator[np.ndarray]:
    """Views of the rows of a table without padding, up to `BLOCK_ROWS` at a time."""
    for start in range(0, len(table), BLOCK_ROWS):
        yield table[start : start + BLOCK_ROWS, :dim]


INITIALIZERS: dict[str, Initializer] = {
    "uniform": uniform,
    "normal": normal,
    "xavier": xavier,
    "orthogonal": orthogonal,
}
