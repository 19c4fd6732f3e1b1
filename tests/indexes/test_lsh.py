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
@pytest.mark.parametrize("bits", [20, 64, 100])
def test_without_reranking_results_are_in_order_of_distance(shifted_vectors, bits, restrict):
    index = build_index(shifted_vectors, "lsh", bits=bits, rerank=0)
    planes = index.engine.planes
    signatures = [signature(row, *planes) for row in shifted_vectors.unit_rows[:restrict]]
    queries = shifted_vectors.matrix[100:140] - 0.1
    result = index.search(queries, top=15, restrict=restrict)
    assert (result.n_compared == 0).all()
    for ids, similarities, query in zip(result.ids, result.similarities, normalize(queries), strict=True):
        own = signature(query.astype(np.float32), *planes)
        distances = [distance(own, other) for other in signatures]
        order = sorted(range(len(distances)), key=lambda row: (distances[row], row))[:15]
        assert ids.tolist() == order
        cosines = [shifted_vectors.unit_rows[row].astype(float) @ query for row in order]
        assert similarities == pytest.approx(cosines, abs=1e-12)


@pytest.mark.parametrize("rerank", [1, 30, 250])
def test_the_nearest_by_distance_are_compared_exactly(shifted_vectors, rerank):
    index = build_index(shifted_vectors, "lsh", bits=40, rerank=rerank)
    planes = index.engine.planes
    signatures = [signature(row, *planes) for row in shifted_vectors.unit_rows]
    queries = shifted_vectors.matrix[:30] + 0.05
    result = index.search(queries, top=5)
    for ids, n_compared, query in zip(result.ids, result.n_compared, normalize(queries), strict=True):
        own = signature(query.astype(np.float32), *planes)
        distances = np.array([distance(own, other) for other in signatures])
        assert n_compared >= max(rerank, 5)
        rows = np.flatnonzero(distances <= np.sort(distances)[n_compared - 1])
        assert n_compared == len(rows)
        assert ids.tolist() == best_rows(shifted_vectors.unit_rows, query, rows, 5)


def test_without_reranking_similarities_are_cosines(clusters):
    for word, cosine in clusters.most_similar("w7", index="lsh:rerank=0"):
        assert cosine == pytest.approx(clusters.similarity("w7", word), abs=1e-6)


def test_threads_change_nothing(shifted_vectors, monkeypatch):
    queries = np.random.default_rng(6).standard_normal((300, 12))
    index = build_index(shifted_vectors, "lsh")
    monkeypatch.setattr("embeddings.support.threads.available_threads", lambda: 1)
    single = index.search(queries)
    monkeypatch.setattr("embeddings.support.threads.available_threads", lambda: 3)
    for a, b in zip(single, index.search(queries), strict=True):
        assert np.array_equal(a, b)
