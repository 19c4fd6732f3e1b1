"""Signatures and the planes they come from."""

import numpy as np
import pytest
from naive_indexes import signature, unpack_bits

from embeddings.indexes.lsh import Planes, orthogonal_rows, random_planes, signatures


@pytest.mark.parametrize("bits", [1, 7, 64, 65, 200])
def test_signatures_are_sides_of_planes(shifted_vectors, bits):
    planes = random_planes(shifted_vectors.unit_rows, bits, orthogonal=True, centre=True, seed=3)
    words = signatures(shifted_vectors.unit_rows, planes)
    assert words.shape == (-(-bits // 64), 500)
    assert words.dtype == np.uint64
    for row in range(0, 500, 7):
        assert unpack_bits(words, row, bits) == signature(shifted_vectors.unit_rows[row], *planes)
    assert (words[-1] >> np.uint64((bits - 1) % 64 + 1) == 0).all() or bits % 64 == 0


def test_signatures_of_several_blocks(monkeypatch):
    monkeypatch.setattr("embeddings.indexes.lsh.MAX_BLOCK", 300)
    rows = np.random.default_rng(1).standard_normal((205, 3)).astype(np.float32)
    words = signatures(rows, Planes(np.eye(3, dtype=np.float32), np.zeros(3, np.float32)))
    assert words[0].tolist() == ((rows > 0) @ [1, 2, 4]).tolist()


def test_centred_planes_balance_bits(shifted_vectors):
    def shares(centre):
        planes = random_planes(shifted_vectors.unit_rows, 64, orthogonal=False, centre=centre, seed=1)
        return (shifted_vectors.unit_rows @ planes.normals.T > planes.offsets).mean(axis=0)

    assert np.abs(shares(True) - 0.5).max() < 0.15
    assert np.abs(shares(False) - 0.5).max() > 0.4


def test_orthogonal_planes_are_rotations():
    rng = np.random.default_rng(2)
    rows = orthogonal_rows(rng, 9)
    assert rows @ rows.T == pytest.approx(np.eye(9), abs=1e-12)
    first = np.array([orthogonal_rows(rng, 3)[0] for _ in range(4000)])
    assert np.abs(first.mean(axis=0)).max() < 0.05  # without the corrected signs the first would not be 0
    planes = random_planes(np.eye(9, dtype=np.float32), 20, orthogonal=True, centre=False, seed=1)
    gram = planes.normals @ planes.normals.T
    assert gram[:9, :9] == pytest.approx(np.eye(9), abs=1e-6)
    assert gram[9:18, 9:18] == pytest.approx(np.eye(9), abs=1e-6)
    assert np.abs(gram[:9, 9:18]).max() > 0.1


@pytest.mark.parametrize("orthogonal", [True, False])
def test_normals_have_length_one(shifted_vectors, orthogonal):
    planes = random_planes(shifted_vectors.unit_rows, 40, orthogonal=orthogonal, centre=True, seed=1)
    assert np.linalg.norm(planes.normals, axis=1) == pytest.approx(np.ones(40), abs=1e-6)
