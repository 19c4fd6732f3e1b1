"""Exact search: ties, blocks, products, and FAISS as reference."""

import time

import numpy as np
import pytest

from embeddings.indexes.exact import FEW_QUERIES, products
from embeddings.support.cosine import normalize_rows
from embeddings.text_search.stored_vectors import StoredVectors
from embeddings.vectors.index import build_index
from embeddings.vectors.vectors import Vectors


@pytest.mark.parametrize(("kind", "settings"), [("exact", {}), ("lsh", {"rerank": 300})])
def test_equal_rows_tie_to_the_lower(kind, settings):
    rng = np.random.default_rng(8)
    rows = np.tile(rng.standard_normal((7, 33)), (100, 1))
    vectors = Vectors([str(row) for row in range(700)], rows)
    ids = build_index(vectors, kind, **settings).search(rng.standard_normal((1, 33)), top=50).ids[0]
    assert len({row % 7 for row in ids}) == 1
    assert ids.tolist() == [ids[0] % 7 + 7 * i for i in range(50)]


def test_many_ties_are_ranked_query_by_query(monkeypatch):
    vectors = Vectors([str(row) for row in range(300)], np.ones((300, 4)))
    index, queries = build_index(vectors, "exact"), np.eye(4)
    whole = index.search(queries, top=20)
    monkeypatch.setattr("embeddings.indexes.exact.MAX_BATCH", 10)
    parts = index.search(queries, top=20)
    assert whole.ids.tolist() == parts.ids.tolist() == [list(range(20))] * 4
    assert whole.similarities.tolist() == parts.similarities.tolist()


def test_products_of_few_and_many_queries_agree(shifted_vectors):
    units = shifted_vectors.unit_rows
    queries = units[:FEW_QUERIES]
    few, many = products(units, queries), products(units, units[: FEW_QUERIES + 1])
    assert few == pytest.approx(queries @ units.T, abs=1e-6)
    assert many[:FEW_QUERIES] == pytest.approx(few, abs=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_few_queries_are_answered_in_the_thread_of_the_caller(dtype):
    """Threads of BLAS, which take turns, would make a server slower the more threads it has."""
    units = normalize_rows(np.random.default_rng(7).standard_normal((50_000, 100)).astype(np.float32))
    stored, queries = StoredVectors(units.astype(dtype)), units[:FEW_QUERIES]
    stored.scores(queries)  # compiled
    starts = time.process_time(), time.thread_time()
    for _ in range(10):
        stored.scores(queries)
    own = time.thread_time() - starts[1]
    assert time.process_time() - starts[0] - own < 0.3 * own


@pytest.mark.golden
def test_exact_search_equals_faiss():
    import faiss

    rng = np.random.default_rng(7)
    units = normalize_rows(rng.standard_normal((3000, 40)))
    queries = normalize_rows(rng.standard_normal((200, 40)))
    flat = faiss.IndexFlatIP(40)
    flat.add(units)
    cosines, rows = flat.search(queries, 10)
    result = build_index(Vectors([str(i) for i in range(3000)], units), "exact").search(queries, top=10)
    assert result.similarities == pytest.approx(cosines, abs=1e-6)
    is_distinct = np.abs(np.diff(cosines, axis=1)).min(axis=1) > 1e-6
    assert is_distinct.sum() > 150
    assert np.array_equal(result.ids[is_distinct], rows[is_distinct])
