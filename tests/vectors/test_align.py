"""Alignment of two spaces."""

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import SettingError
from embeddings.vectors.vectors import Vectors


def rotate(vectors, noise=0.0):
    """200 of the vectors, rotated, in random order."""
    rng = np.random.default_rng(8)
    rotation = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    matrix = vectors.matrix @ rotation + noise * rng.standard_normal(vectors.matrix.shape)
    order = rng.permutation(300)[:200]
    return Vectors([vectors.words[row] for row in order], matrix[order]), rotation


def test_align_finds_the_rotation(counted_vectors):
    other, rotation = rotate(counted_vectors)
    aligned = em.align(counted_vectors, other)
    assert aligned.rotation == pytest.approx(rotation, abs=1e-6)
    assert aligned.residual == pytest.approx(0, abs=1e-6)
    assert aligned.vectors.words == counted_vectors.words
    assert aligned.vectors[other.words] == pytest.approx(other.matrix, abs=1e-5)
    assert sorted(aligned.words) == sorted(other.words)
    assert aligned.vectors.similarity("w1", "w2") == pytest.approx(counted_vectors.similarity("w1", "w2"), abs=1e-6)


def test_align_finds_the_best_rotation(counted_vectors):
    from scipy.linalg import orthogonal_procrustes

    other, _ = rotate(counted_vectors, noise=0.5)
    aligned = em.align(counted_vectors, other, words=other.words[:50])
    a, b = counted_vectors[other.words[:50]].astype(float), other.matrix[:50].astype(float)
    assert aligned.rotation == pytest.approx(orthogonal_procrustes(a, b)[0], abs=1e-9)
    assert aligned.residual == pytest.approx(np.linalg.norm(a @ aligned.rotation - b) / np.linalg.norm(b))
    assert 0.1 < aligned.residual < 1
    assert aligned.words == other.words[:50]


def test_invalid_alignments(counted_vectors):
    with pytest.raises(SettingError, match=r"10 components.*1$"):
        em.align(counted_vectors, Vectors(["w1"], np.ones((1, 1))))
    with pytest.raises(SettingError, match="share no word"):
        em.align(counted_vectors, Vectors(["x"], np.ones((1, 10))))
    with pytest.raises(UnknownWordError, match="'x'"):
        em.align(counted_vectors, counted_vectors, words=["x"])
    with pytest.raises(SettingError, match="NaN"):
        em.align(counted_vectors, Vectors(["w1"], np.full((1, 10), np.nan)))
