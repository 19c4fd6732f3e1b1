"""Alignment of two spaces."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import FormatError
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
    assert sorted(word for word, _ in aligned.pairs) == sorted(other.words)
    assert aligned.vectors.similarity("w1", "w2") == pytest.approx(counted_vectors.similarity("w1", "w2"), abs=1e-6)


def test_align_finds_the_best_rotation(counted_vectors):
    from scipy.linalg import orthogonal_procrustes

    other, _ = rotate(counted_vectors, noise=0.5)
    aligned = em.align(counted_vectors, other, dictionary=[(word, word) for word in other.words[:50]])
    a, b = counted_vectors[other.words[:50]].astype(float), other.matrix[:50].astype(float)
    assert aligned.rotation == pytest.approx(orthogonal_procrustes(a, b)[0], abs=1e-9)
    assert aligned.residual == pytest.approx(np.linalg.norm(a @ aligned.rotation - b) / np.linalg.norm(b))
    assert 0.1 < aligned.residual < 1


def languages(pairs=200, dim=20, seed=1):
    """Two languages whose words, of clusters as in natural text, are rotated and slightly disturbed."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((12, dim))
    matrix = centres[rng.integers(12, size=600)] + 0.7 * rng.standard_normal((600, dim))
    rotation = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    order = rng.permutation(600)
    target = (matrix @ rotation + 0.05 * rng.standard_normal(matrix.shape))[order]
    first = Vectors([f"a{row}" for row in range(600)], matrix)
    second = Vectors([f"b{row}" for row in order], target)
    return first, second, [(f"a{row}", f"b{row}") for row in range(pairs)]


def precision(aligned):
    nearest = aligned.onto.most_similar_many([aligned.vectors[f"a{row}"] for row in range(600)], top=1)
    return np.mean([one[0][0] == f"b{row}" for row, one in enumerate(nearest)])


@pytest.mark.parametrize("method", ["orthogonal", "normalized", "whitened"])
def test_a_dictionary_determines_the_map(method, tmp_path):
    first, second, pairs = languages()
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{a} {b}\n" for a, b in [*pairs, ("unknown", "b1"), pairs[0]]))
    aligned = em.align(first, second, dictionary=path, method=method)
    assert (aligned.pairs, precision(aligned)) == (pairs, 1)
    listed = em.align(first, second, dictionary=pairs, method=method)
    assert listed.vectors.matrix.tolist() == aligned.vectors.matrix.tolist()
    assert (aligned.onto.matrix.tolist() == second.matrix.tolist()) == (method == "orthogonal")


def test_whitening_equals_its_definition():
    from scipy.linalg import inv, sqrtm

    first, second, pairs = languages()
    aligned = em.align(first, second, dictionary=pairs, method="whitened")

    def steps(matrix):  # length one, mean zero, length one
        matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix = matrix - matrix.mean(axis=0)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    x, z = steps(first.matrix.astype(float)), steps(second.matrix.astype(float))
    a, b = x[:200], z[[second.index(word) for _, word in pairs]]
    white_x, white_z = (np.real(inv(sqrtm(side.T @ side))) for side in (a, b))
    u, s, v = np.linalg.svd((a @ white_x).T @ (b @ white_z))
    expected = x @ white_x @ u @ np.diag(np.sqrt(s)) @ u.T @ inv(white_x) @ u
    assert aligned.vectors.matrix == pytest.approx(expected, abs=1e-4)
    expected = z @ white_z @ v.T @ np.diag(np.sqrt(s)) @ v @ inv(white_z) @ v.T
    assert aligned.onto.matrix == pytest.approx(expected, abs=1e-4)


def test_fewer_pairs_than_components_turn_the_other_directions_as_little_as_possible(counted_vectors, caplog):
    other, _ = rotate(counted_vectors)
    aligned = em.align(counted_vectors, other, dictionary=[(word, word) for word in other.words[:4]])
    assert "4 of 10 directions" in caplog.text
    assert aligned.residual == pytest.approx(0, abs=1e-6)
    assert aligned.rotation @ aligned.rotation.T == pytest.approx(np.eye(10), abs=1e-12)
    a, b = counted_vectors[other.words[:4]].astype(float), other[other.words[:4]].astype(float)
    u, _, v = np.linalg.svd(a.T @ b)
    for seed in range(20):  # any other completion is farther from the identity
        turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((6, 6)))[0]
        completed = u[:, :4] @ v[:4] + u[:, 4:] @ turn @ v[4:]
        assert np.linalg.norm(completed - np.eye(10)) > np.linalg.norm(aligned.rotation - np.eye(10))
    same = em.align(counted_vectors, counted_vectors, dictionary=[("w1", "w1"), ("w2", "w2")])
    assert same.rotation == pytest.approx(np.eye(10), abs=1e-9)


def test_numerals(counted_vectors):
    first = Vectors(["1990", "7", "x", "¼"], np.eye(4))
    second = Vectors(["x", "7", "1990", "¼"], np.eye(4))
    assert em.align(first, second, dictionary="numerals").pairs == [("1990", "1990"), ("7", "7")]


@pytest.mark.parametrize(
    ("content", "message"),
    [("a b c\n", "line 1.*'a b c'"), ("a b\n\nc\n", "line 3"), (b"a \xff\n", "utf-8")],
)
def test_broken_dictionaries(content, message, tmp_path, counted_vectors):
    path = tmp_path / "pairs.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=message):
        em.align(counted_vectors, counted_vectors, dictionary=path)
