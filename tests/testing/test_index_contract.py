"""The contract of indexes, for every installed index."""

import pytest

from embeddings import registry
from embeddings.testing import check_index

VARIANTS = [
    *((name, {}) for name in registry.find_all("index")),
    ("lsh", {"bits": 1000, "rerank": 50, "centre": False, "orthogonal": False}),
    ("faiss", {"factory": "Flat"}),
    ("faiss", {"factory": "IVF8,Flat", "nprobe": 3}),
    ("faiss", {"factory": "HNSW8", "ef_search": 50}),
    ("faiss", {"factory": "LSH200r", "rerank": 100}),
    ("faiss", {"factory": "PQ6x4", "rerank": 50}),
    ("faiss", {"factory": "PQ6x4fs", "rerank": 50}),
]


@pytest.mark.parametrize(("name", "settings"), VARIANTS, ids=[f"{name}-{settings}" for name, settings in VARIANTS])
def test_contract(name, settings):
    check_index(name, **settings)
