"""Locality-sensitive hashing by random hyperplanes.

Bit j of x is whether x p_j > c p_j, where c is the mean of all rows, or zero. Two vectors differ in a bit with
probability angle / pi, so the share of differing bits estimates the angle between them, seen from c. Planes that
are orthogonal in batches of the dimension estimate it with less variance (Ji et al. 2012, super-bit LSH).

Distances are grouped in chunks, as `shortlist` groups scores: the n-th smallest chunk minimum is not below the n-th
smallest distance, and only chunks whose minimum reaches it are read again. So at least n rows, and a few more, are
compared exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline, noinline
from embeddings.errors import FormatError, SettingError
from embeddings.indexes.protocol import SearchResult
from embeddings.indexes.result_heap import rank_exactly
from embeddings.kernels.integers import popcount
from embeddings.settings import Settings, option
from embeddings.support.cosine import normalize
from embeddings.support.threads import run_slices

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
    centre_row = units.mean(axis=0, dtype=np.float64) if centre else np.zeros(dim)
    return Planes(normals, (normals.astype(np.float64) @ centre_row).astype(np.float32))


def orthogonal_rows(rng: np.random.Generator, dim: int) -> np.ndarray:
    """A uniform random rotation (dim, dim): the QR factor of a normal matrix with corrected signs."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    return np.asarray((q * np.where(np.diag(r) < 0, -1.0, 1.0)).T)


def signatures(units: np.ndarray, planes: Planes) -> np.ndarray:
    """The bits of all rows, uint64 (ceil(bits / 64), rows): bit j is bit j % 64 of word j // 64; spare bits are 0."""
    bits = len(planes.offsets)
    words = np.empty((-(-bits // WORD_BITS), len(units)), np.uint64)
    step = max(1, MAX_BLOCK // bits)  # so that the products stay in the processor's cache
    for start in range(0, len(units), step):
        block = slice(start, start + step)
        with np.errstate(over="ignore", invalid="ignore"):  # planes of a changed file may be huge
            products = units[block] @ planes.normals.T
        pack(products, planes.offsets, words[:, block])
    return words


@entry_point
def pack(products: np.ndarray, offsets: np.ndarray, words: np.ndarray) -> None:
    """Write the bits of a block of rows from their products with the normals (rows, bits)."""
    for i in range(products.shape[0]):
        for w in range(words.shape[0]):
            start, stop = w * WORD_BITS, (w + 1) * WORD_BITS
            word = np.uint64(0)
            for j in range(start, min(stop, offsets.shape[0])):
                word |= np.uint64(products[i, j] > offsets[j]) << np.uint64(j - start)
            words[w, i] = word


BLOCK = 1024  # rows whose distances are computed together
CHUNK = 32


class Scratch(NamedTuple):
    """Buffers of one search."""

    distances: np.ndarray  # (rows,) uint16
    minima: np.ndarray  # (chunks,) uint16
    histogram: np.ndarray  # (bits + 1,) int64
    rows: np.ndarray  # (rows,) int32
    chunk: int


@entry_point
def search(
    units: np.ndarray,
    queries: np.ndarray,
    query_signatures: np.ndarray,
    signatures: np.ndarray,
    rerank: int,
    result: SearchResult,
    scratch: Scratch,
) -> None:
    """Write the rows nearest to each of `queries` (queries, dim) among the first `scratch.distances.shape[0]` rows.

    `query_signatures` are (queries, words), `signatures` (words, rows). At least `rerank` rows are compared exactly.
    """
    for q in range(queries.shape[0]):
        compute_distances(signatures, query_signatures[q], scratch)
        n = list_nearest(scratch, rerank)
        rank_exactly(units, queries[q], scratch.rows[:n], result.ids[q], result.similarities[q])


@noinline
def compute_distances(signatures: np.ndarray, query_signature: np.ndarray, scratch: Scratch) -> None:
    """The distances of all rows and the minimum of each chunk, word by word so that the loops vectorise."""
    for start in range(0, scratch.distances.shape[0], BLOCK):
        block = scratch.distances[start : start + BLOCK]
        for w in range(signatures.shape[0]):
            add_distances(signatures[w, start : start + BLOCK], query_signature[w], block, w == 0)
    for c in range(scratch.minima.shape[0]):
        part = scratch.distances[c * scratch.chunk : (c + 1) * scratch.chunk]
        minimum = part[0]
        for i in range(part.shape[0]):
            minimum = min(minimum, part[i])
        scratch.minima[c] = minimum


@inline
def add_distances(words: np.ndarray, query_word: np.uint64, distances: np.ndarray, first: bool) -> None:
    """Add the number of bits in which the words of a block differ from the query's."""
    if first:
        distances[:] = 0
    for i in range(distances.shape[0]):
        distances[i] = np.uint16(distances[i] + np.uint16(popcount(words[i] ^ query_word)))


@noinline
def list_nearest(scratch: Scratch, n_nearest: int) -> int:
    """List the rows within the distance limit for the `n_nearest` nearest, ascending; returns their number."""
    limit = distance_limit(scratch, n_nearest)
    n = 0
    for c in range(scratch.minima.shape[0]):
        if scratch.minima[c] <= limit:
            start = c * scratch.chunk
            part = scratch.distances[start : start + scratch.chunk]
            for i in range(part.shape[0]):
                scratch.rows[n] = start + i
                n += int(part[i] <= limit)  # branch-free: half of the predictions would fail
    return n


@inline
def distance_limit(scratch: Scratch, n_nearest: int) -> int:
    """A distance that at least `n_nearest` rows do not exceed: that many chunks have a minimum within it."""
    scratch.histogram[:] = 0
    for c in range(scratch.minima.shape[0]):
        scratch.histogram[scratch.minima[c]] += 1
    distance, count = 0, int(scratch.histogram[0])
    while count < n_nearest and distance + 1 < scratch.histogram.shape[0]:
        distance += 1
        count += int(scratch.histogram[distance])
    return distance


MAX_BITS = 1 << 15  # distances are stored in 16 bits
MIN_RERANK, RERANK_PER_RESULT = 200, 10


@dataclass(frozen=True, kw_only=True)
class LSH(Settings):
    """Compares signatures from random hyperplanes by Hamming distance, then the nearest rows exactly."""

    SEARCH_SETTINGS: ClassVar[frozenset[str]] = frozenset({"rerank"})

    bits: int = option(256, "Number of hyperplanes, each of which gives one bit of a signature.", ge=1, le=MAX_BITS)
    rerank: int | None = option(
        None,
        f"Minimum number of rows, nearest by signature, to compare exactly.  [default: {MIN_RERANK}, or "
        f"{RERANK_PER_RESULT} for each requested neighbour]",
        ge=1,
    )
    centre: bool = option(True, "Put the hyperplanes through the mean of all rows, so that bits are balanced.")
    orthogonal: bool = option(
        True, "Make the hyperplanes orthogonal, in batches as large as the dimension of the vectors."
    )
    seed: int = option(1, "Seed of the hyperplanes.", ge=0, le=2**63 - 1)

    def build(self, units: np.ndarray) -> "HammingSearch":
        """See `Kind.build`."""
        if not len(units):
            raise SettingError("an lsh index requires at least one row")
        planes = random_planes(units, self.bits, orthogonal=self.orthogonal, centre=self.centre, seed=self.seed)
        return HammingSearch(self, units, planes, signatures(units, planes))

    def restore(self, units: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "HammingSearch":
        """See `Kind.restore`."""
        rows, dim = units.shape
        planes = Planes(
            get_array(arrays, "normals", np.float32, (self.bits, dim)),
            get_array(arrays, "offsets", np.float32, (self.bits,)),
        )
        if not all(np.isfinite(array).all() for array in planes):
            raise FormatError("its hyperplanes hold NaN or infinity")
        words = get_array(arrays, "signatures", np.uint64, (-(-self.bits // WORD_BITS), rows))
        # A distance above the number of bits would be counted outside of the histogram.
        if self.bits % WORD_BITS and (words[-1] >> np.uint64(self.bits % WORD_BITS)).any():
            raise FormatError(f"its signatures have more than {self.bits} bits")
        return HammingSearch(self, units, planes, words)


def get_array(arrays: Mapping[str, np.ndarray], name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A saved array, checked for its type and shape, in memory and in the layout that kernels are compiled for."""
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.shape != shape:
        actual = "missing" if array is None else f"{array.dtype} {array.shape}"
        raise FormatError(f"{name} must be {np.dtype(dtype)} {shape}, got {actual}")
    return np.array(array)


class HammingSearch:
    """Signatures of all rows."""

    def __init__(self, kind: LSH, units: np.ndarray, planes: Planes, words: np.ndarray) -> None:
        self.kind, self.units, self.planes, self.words = kind, units, planes, words

    def search(self, queries: np.ndarray, top: int, restrict: int | None) -> SearchResult:
        """See `Engine.search`."""
        rows = len(self.units) if restrict is None else restrict
        rerank = max(MIN_RERANK, RERANK_PER_RESULT * top) if self.kind.rerank is None else self.kind.rerank
        rerank = min(rows, max(rerank, top))
        chunk = max(1, min(CHUNK, rows // (2 * rerank)))
        shape = (len(queries), top)
        result = SearchResult(np.empty(shape, np.int64), np.empty(shape))
        # In float32, as the rows are, so that equal vectors have equal bits.
        signed = np.ascontiguousarray(signatures(queries.astype(np.float32), self.planes).T)

        def work(part: slice) -> None:
            distances, minima = np.empty(rows, np.uint16), np.empty(-(-rows // chunk), np.uint16)
            histogram = np.empty(self.kind.bits + 1, np.int64)
            scratch = Scratch(distances, minima, histogram, np.empty(rows, np.int32), chunk)
            output = SearchResult(*(array[part] for array in result))
            search(self.units, queries[part], signed[part], self.words, rerank, output, scratch)

        run_slices(len(queries), work)
        return result

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Engine.arrays`."""
        return {**self.planes._asdict(), "signatures": self.words}
