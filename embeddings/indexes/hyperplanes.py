"""Signatures: on which side of random hyperplanes a vector lies (Charikar 2002).

Bit j of x is whether x p_j > c p_j, where c is the mean of all rows, or zero. Two vectors differ in a bit with
probability angle / pi, so the share of differing bits estimates the angle between them, seen from c. Planes that
are orthogonal in batches of the dimension estimate it with less variance (Ji et al. 2012, super-bit LSH).
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import entry_point, inline, noinline
from embeddings.support.cosine import normalize, row_blocks

WORD_BITS = 64
MAX_BLOCK = 1 << 20  # products that are computed at once


class Planes(NamedTuple):
    """Normals (bits, dim) float32, and the threshold of the product with each, (bits,) float32."""

    normals: np.ndarray
    offsets: np.ndarray


def random_planes(units: np.ndarray, bits: int, *, orthogonal: bool, centre: bool, seed: int) -> Planes:
    """Random planes through the mean of the rows (`centre`) or through zero."""
    rng, dim = np.random.default_rng(seed), units.shape[1]
    if orthogonal:
        batches = [orthogonal_rows(rng, dim) for _ in range(-(-bits // dim))]
        normals = np.concatenate(batches)[:bits].astype(np.float32, order="C")
    else:
        normals = normalize(rng.standard_normal((bits, dim))).astype(np.float32)  # so that a product is a distance
    centre_row = mean_row(units) if centre else np.zeros(dim)
    return Planes(normals, (normals.astype(np.float64) @ centre_row).astype(np.float32))


def orthogonal_rows(rng: np.random.Generator, dim: int) -> np.ndarray:
    """A uniform random rotation (dim, dim): the QR factor of a normal matrix with corrected signs."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    return np.asarray((q * np.where(np.diag(r) < 0, -1.0, 1.0)).T)


def mean_row(units: np.ndarray) -> np.ndarray:
    """The mean of all rows (dim,), in float64."""
    total = np.zeros(units.shape[1])
    for block in row_blocks(*units.shape, itemsize=8):
        total += units[block].sum(axis=0, dtype=np.float64)
    return total / max(1, len(units))


def signatures(units: np.ndarray, planes: Planes) -> np.ndarray:
    """The bits of all rows, uint64 (ceil(bits / 64), rows): bit j is bit j % 64 of word j // 64; spare bits are 0."""
    bits = len(planes.offsets)
    words = np.empty((-(-bits // WORD_BITS), len(units)), np.uint64)
    step = max(1, MAX_BLOCK // bits)  # so that the products stay in the processor's cache
    for start in range(0, len(units), step):
        block = slice(start, start + step)
        pack(units[block] @ planes.normals.T, planes.offsets, words[:, block])
    return words


@entry_point
def pack(products: np.ndarray, offsets: np.ndarray, words: np.ndarray) -> None:
    """Write the bits of a block of rows from their products with the normals (rows, bits)."""
    for i in range(products.shape[0]):
        for w in range(words.shape[0]):
            start, stop = w * WORD_BITS, (w + 1) * WORD_BITS
            words[w, i] = pack_word(products[i, start:stop], offsets[start:stop])


@inline
def pack_word(products: np.ndarray, offsets: np.ndarray) -> np.uint64:
    """At most 64 bits as a word."""
    word = np.uint64(0)
    for j in range(products.shape[0]):
        word |= np.uint64(products[j] > offsets[j]) << np.uint64(j)
    return word


@noinline
def project(query: np.ndarray, narrow: np.ndarray, planes: Planes, products: np.ndarray) -> None:
    """The products (bits,) of one query (dim,) with the normals; `narrow` (dim,) receives the query as float32."""
    for d in range(narrow.shape[0]):
        narrow[d] = np.float32(query[d])
    for j in range(products.shape[0]):
        row, total = planes.normals[j], np.float32(0)
        for d in range(row.shape[0]):
            total += row[d] * narrow[d]
        products[j] = total
