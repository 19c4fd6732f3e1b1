"""Indexes of FAISS: refused factory strings, saving and loading."""

import numpy as np
import pytest

from embeddings.errors import SettingError
from embeddings.vectors.index import as_index, load_index

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


FACTORIES = ["Flat", "LSH", "LSHr", "HNSW8", "IVF4,SQ8", "PCA5,Flat", "RaBitQ", "L2norm,Flat"]


@pytest.mark.parametrize("factory", FACTORIES)
def test_every_kind_is_saved_and_loaded(clusters, tmp_path, factory):
    """The limits on what FAISS reads must not refuse its own data."""
    index = as_index(f"faiss:factory={factory}", clusters)
    index.save(tmp_path / "i")
    loaded = load_index(tmp_path / "i", clusters, allow_faiss=True)
    assert np.array_equal(loaded.search(clusters.matrix[:9]).ids, index.search(clusters.matrix[:9]).ids)
