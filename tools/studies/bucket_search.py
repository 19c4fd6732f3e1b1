"""Hash tables of random hyperplanes with multi-probe, compared with the scan of all signatures."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from time import process_time
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit

import embeddings as em
from embeddings.indexes.lsh import LSH, Planes, pack, random_planes, signatures
from embeddings.indexes.result_heap import rank_exactly
from embeddings.kernels.integers import popcount
from studies.grid import Grid, Rows, pivot

TOP, ROUNDS, MAX_FLIPS, NEAR_BITS = 10, 3, 3, 10


class Buckets(Grid):
    """Compares hash tables of random hyperplanes with the scan of signatures: recall against CPU time for a query.

    --vectors are NAME=FILE; of each, --queries random rows are looked up among the others, of which --rows are taken,
    one query at a time on one thread. --settings are those of the index `lsh`, or TABLESxBITSxPROBES: the bits of each
    table select a bucket, and further buckets are probed in the order of Lv et al. (2007), by flipping the bits that
    have the smallest margins. The rows that are found are compared by signatures, and the nearest 200 of them exactly.
    """

    results = "search/buckets"
    keys = ("vectors", "rows", "index")
    values = ("recall", "CPU µs", "share of rows")
    packages = ("numpy", "numba")
    defaults: ClassVar = {
        "vectors": {}, "rows": ["100000"], "queries": 100,
        "index": ["bits=128,rerank=200", "bits=256,rerank=200", "bits=256,rerank=800", "bits=512,rerank=400",
                  "16x12x8", "16x12x32", "32x12x8", "32x12x32", "32x14x8", "32x14x32", "32x16x32"],
    }  # fmt: skip

    def measure(self, vectors: str, rows: str, index: str) -> Iterable[Sequence[Any]]:
        """Recall, CPU time and the share of rows that are visited."""
        units = np.asarray(em.load(self.options.vectors[vectors]).unit_rows, np.float32)
        units = units[np.random.default_rng(1).permutation(len(units))]
        count = int(self.options.queries)
        queries, units = units[-count:], np.ascontiguousarray(units[: min(int(rows), len(units) - count)])
        truth = np.argsort(-(queries @ units.T), axis=1)[:, :TOP]
        search = bucket_search(units, *map(int, index.split("x"))) if "=" not in index else scan(units, index)
        seconds = []
        for _ in range(1 + ROUNDS):
            start = process_time()
            results = [search(query) for query in queries]
            seconds.append(process_time() - start)
        shares = [len(set(ids) & set(best)) / TOP for (ids, _), best in zip(results, truth, strict=True)]
        visited = np.mean([n for _, n in results]) / len(units)
        yield f"{np.mean(shares):.3f}", f"{1e6 * min(seconds[1:]) / count:.0f}", f"{visited:.4f}"

    def table(self, rows: Rows) -> str:
        """Recall and time of each index."""
        melted = [{**row, "measure": name, "value": row[name]} for row in rows for name in self.values]
        formats = {"recall": ".3f", "CPU µs": ",.0f", "share of rows": ".1%"}
        return pivot(melted, self.keys, formats)


def scan(units: np.ndarray, settings: str) -> Callable[[np.ndarray], tuple[np.ndarray, int]]:
    """A search by the index `lsh`, which reads all signatures."""
    pairs = (pair.split("=") for pair in settings.split(","))
    engine = LSH(**{name: int(value) for name, value in pairs}).build(units)
    return lambda query: (engine.search(query[None].astype(np.float64), TOP, None).ids[0], len(units))


class Tables(NamedTuple):
    """Rows by bucket: rows[t, starts[t, key] : starts[t, key + 1]] are those of a key in table t."""

    starts: np.ndarray
    rows: np.ndarray
    flips: np.ndarray
    signatures: np.ndarray


class Found(NamedTuple):
    """Buffers of a search: when a row was last found, the rows, and their distances by signature."""

    stamps: np.ndarray
    rows: np.ndarray
    distances: np.ndarray


def bucket_search(
    units: np.ndarray, n_tables: int, bits: int, probes: int, signature: int = 256, rerank: int = 200
) -> Callable[[np.ndarray], tuple[np.ndarray, int]]:
    """A search in hash tables."""
    planes = random_planes(units, n_tables * bits, orthogonal=True, centre=True, seed=1)
    further = random_planes(units, signature, orthogonal=True, centre=True, seed=2)
    keys = np.empty((n_tables, len(units)), np.int64)
    for table in range(n_tables):
        part = slice(table * bits, (table + 1) * bits)
        words = np.empty((1, len(units)), np.uint64)
        pack(units @ planes.normals[part].T, planes.offsets[part], words)
        keys[table] = words[0]
    starts = np.zeros((n_tables, 2**bits + 1), np.int64)
    for table in range(n_tables):
        starts[table, 1:] = np.cumsum(np.bincount(keys[table], minlength=2**bits))
    rows = np.argsort(keys, axis=1, kind="stable").astype(np.int32)
    tables = Tables(starts, rows, likely_flips(bits, probes), np.ascontiguousarray(signatures(units, further).T))
    found = Found(np.zeros(len(units), np.int64), np.empty(len(units), np.int32), np.empty(len(units), np.int64))
    searches = 0

    def search(query: np.ndarray) -> tuple[np.ndarray, int]:
        nonlocal searches
        searches += 1
        margins, own = margins_of(query, planes), signatures(query[None], further)[:, 0]
        visited = visit_buckets(margins, tables, found, searches)
        n = keep_nearest(own, tables, found, visited, rerank)
        ids, similarities = np.full(TOP, -1, np.int64), np.full(TOP, -2.0)
        rank_exactly(units, query.astype(np.float64), found.rows[:n], ids, similarities)
        return ids, visited

    return search


def margins_of(query: np.ndarray, planes: Planes) -> np.ndarray:
    """The signed distances of a query from the planes."""
    return np.asarray(planes.normals @ query - planes.offsets)


def likely_flips(bits: int, probes: int) -> np.ndarray:
    """The ranks of the bits to flip for each probe, by margin, (probes, MAX_FLIPS), -1 for none, the likeliest first.

    The expected square of the i-th smallest of n margins is about i (i + 1) / (4 (n + 1) (n + 2)), Lv et al. (2007).
    """
    near = range(min(bits, NEAR_BITS))
    sets = [one for size in range(MAX_FLIPS + 1) for one in combinations(near, size)]
    sets.sort(key=lambda one: sum((rank + 1) * (rank + 2) for rank in one))
    flips = np.full((probes, MAX_FLIPS), -1, np.int64)
    for probe, ranks in enumerate(sets[:probes]):
        flips[probe, : len(ranks)] = ranks
    return flips


@njit(nogil=True)
def visit_buckets(margins: np.ndarray, tables: Tables, found: Found, search: int) -> int:
    """List the rows of the probed buckets, each once; returns how many."""
    n, n_tables = 0, tables.rows.shape[0]
    bits = margins.shape[0] // n_tables
    for table in range(n_tables):
        own = margins[table * bits : (table + 1) * bits]
        order, key = np.argsort(np.abs(own)), 0
        for bit in range(bits):
            key |= int(own[bit] > 0) << bit
        for probe in range(tables.flips.shape[0]):
            bucket = key
            for rank in tables.flips[probe]:
                if rank >= 0:
                    bucket ^= 1 << order[rank]
            for row in tables.rows[table, tables.starts[table, bucket] : tables.starts[table, bucket + 1]]:
                if found.stamps[row] != search:
                    found.stamps[row], found.rows[n] = search, row
                    n += 1
    return n


@njit(nogil=True)
def keep_nearest(signature: np.ndarray, tables: Tables, found: Found, n: int, rerank: int) -> int:
    """Keep the rows within the distance that `rerank` of them do not exceed; returns how many."""
    if n <= rerank:
        return n
    histogram = np.zeros(64 * signature.shape[0] + 1, np.int64)
    for i in range(n):
        distance = 0
        for word in range(signature.shape[0]):
            distance += int(popcount(tables.signatures[found.rows[i], word] ^ signature[word]))
        found.distances[i] = distance
        histogram[distance] += 1
    limit, count = 0, histogram[0]
    while count < rerank:
        limit += 1
        count += histogram[limit]
    kept = 0
    for i in range(n):
        if found.distances[i] <= limit:
            found.rows[kept] = found.rows[i]
            kept += 1
    return kept
