"""Search by signatures, compared with a naive version."""

import numba
import numpy as np
import pytest
from naive_indexes import best_rows, distance, signature

from embeddings.kernels.integers import popcount
from embeddings.support.cosine import normalize
from embeddings.vectors.index import build_index


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="an intrinsic exists only compiled")
def test_popcount():
    count = numba.njit(lambda word: popcount(word))
    for word in (0, 1, 2**64 - 1, 2**63, 0xF0F0):
        assert count(np.uint64(word)) == bin(word).count("1")


@pytest.mark.parametrize("restrict", [None, 130])
@pytest.mark.parametrize(("bits", "rerank"), [(20, 1), (40, 30), (100, 120)])
def test_the_nearest_by_distance_are_compared_exactly(shifted_vectors, bits, rerank, restrict):
    index = build_index(shifted_vectors, "lsh", bits=bits, rerank=rerank)
    planes = index.engine.planes
    units = shifted_vectors.unit_rows[:restrict]
    signatures = [signature(row, *planes) for row in units]
    queries = shifted_vectors.matrix[:30] + 0.05
    for ids, similarities, query in zip(
        *index.search(queries, top=5, restrict=restrict), normalize(queries), strict=True
    ):
        own = signature(query.astype(np.float32), *planes)
        distances = np.array([distance(own, other) for other in signatures])
        limits = np.unique(np.sort(distances)[max(rerank, 5) - 1 :])  # at least so many are compared, and perhaps more
        compared = [np.flatnonzero(distances <= limit) for limit in limits]
        assert ids.tolist() in [best_rows(units, query, rows, 5) for rows in compared]
        assert similarities == pytest.approx(units[ids].astype(float) @ query, abs=1e-12)


def test_threads_change_nothing(shifted_vectors, monkeypatch):
    queries = np.random.default_rng(6).standard_normal((300, 12))
    index = build_index(shifted_vectors, "lsh")
    monkeypatch.setattr("embeddings.support.threads.available_threads", lambda: 1)
    single = index.search(queries)
    monkeypatch.setattr("embeddings.support.threads.available_threads", lambda: 3)
    for a, b in zip(single, index.search(queries), strict=True):
        assert np.array_equal(a, b)
