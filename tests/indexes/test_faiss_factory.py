"""Indexes of FAISS: refused factory strings, and how many rows they compare."""

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.vectors.index import as_index, load_index
from embeddings.vectors.vectors import Vectors

INVALID = [
    ("faiss:factory=nonsense", "'nonsense'.*FAISS"),
    ("faiss:factory=", "factory ''"),
    ("faiss:factory=IVF999999999,Flat", "IVF.*500.*999999999"),
    ("faiss:factory=HNSW5000", "HNSW.*512.*5000"),
    ("faiss:factory=PQ4x30", "x.*16.*30"),
    ("faiss:factory=PQ7", "'PQ7'.*FAISS"),
    ("faiss:factory=Flat,nprobe=3", "nprobe.*'Flat'.*FAISS"),
]


@pytest.mark.parametrize(("spec", "message"), INVALID, ids=[spec for spec, _ in INVALID])
def test_invalid_factories(clusters, spec, message):
    with pytest.raises(SettingError, match=message) as error_info:
        as_index(spec, clusters)
    assert "\n" not in str(error_info.value)


N_COMPARED = {
    "exact": 500,
    "faiss:factory=Flat": 500,
    "faiss:factory=PQ5x4,rerank=40": 40,
    "faiss:factory=PQ5x4": 7,
    "faiss:factory=PQ5x4fs,rerank=40": 40,
    "faiss:factory=LSH64r,rerank=900": 500,
    "faiss:factory=LSH64r": 7,
    "faiss:factory=IVF4,Flat,nprobe=4": 500,
    "faiss:factory=PCA5,Flat": -1,
    "lsh:rerank=0": 0,
}


@pytest.mark.parametrize("spec", N_COMPARED)
def test_n_compared(clusters, spec):
    result = as_index(spec, clusters).search(clusters.matrix[:9], top=7)
    assert result.n_compared.tolist() == [N_COMPARED[spec]] * 9


def test_empty_lists_compare_no_rows(clusters):
    """All rows but one are equal: most lists of an IVF index are empty."""
    rows = np.ones((500, 20))
    rows[0] = -clusters.matrix[0]
    index = as_index("faiss:factory=IVF16,Flat,nprobe=1", Vectors(clusters.words, rows))
    n_compared = {int(index.search(clusters.matrix[q : q + 1], top=3).n_compared[0]) for q in range(60)}
    assert 0 in n_compared
    assert max(n_compared) < 500


FACTORIES = ["Flat", "LSH", "LSHr", "HNSW8", "IVF4,SQ8", "PCA5,Flat", "RaBitQ", "L2norm,Flat"]


@pytest.mark.parametrize("factory", FACTORIES)
def test_every_kind_is_saved_and_loaded(clusters, tmp_path, factory):
    """The limits on what FAISS reads must not refuse its own data."""
    index = as_index(f"faiss:factory={factory}", clusters)
    index.save(tmp_path / "i")
    loaded = load_index(tmp_path / "i", clusters, allow_faiss=True)
    assert np.array_equal(loaded.search(clusters.matrix[:9]).ids, index.search(clusters.matrix[:9]).ids)
