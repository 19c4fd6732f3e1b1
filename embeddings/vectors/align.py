"""Rotate one space onto another, so that vectors of two trainings can be compared."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from embeddings.errors import SettingError
from embeddings.support.cosine import row_blocks
from embeddings.vectors.vectors import HasVectors, Vectors, as_vectors


@dataclass(frozen=True)
class Alignment:
    """The result of `align`.

    Arguments:
        vectors: all words of the first space, rotated.
        residual: the relative error |A W - B| / |B| (Frobenius norms) on the shared words; 0 for a perfect fit.
        rotation: W, (dim, dim) float64, orthogonal; rows of the first space are multiplied by it from the right.
        words: the shared words that determined the rotation.
    """

    vectors: Vectors
    residual: float
    rotation: np.ndarray
    words: list[str]


def align(
    vectors: Vectors | HasVectors, onto: Vectors | HasVectors, *, words: Iterable[str] | None = None
) -> Alignment:
    """Rotate and reflect `vectors`, without scaling, to bring shared words as close as possible to `onto`.

    >>> import numpy as np, embeddings as em
    >>> first, second = em.Vectors(["a", "b"], np.eye(2)), em.Vectors(["b", "a"], np.eye(2))
    >>> aligned = em.align(first, onto=second)
    >>> aligned.vectors["a"].round(6).tolist(), round(aligned.residual, 6)
    ([0.0, 1.0], 0.0)

    Orthogonal Procrustes (Schoenemann, 1966): with A and B the vectors of the shared words, the orthogonal W that
    minimises |A W - B| is U V' for the singular value decomposition U S V' of A' B. Longer vectors weigh more; align
    `vectors.normalize()` to weigh all words equally.

    Arguments:
        vectors: Vectors, or a Model.
        onto: Vectors, or a Model.
        words: the shared words that determine the rotation; all of them if not given.

    Raises:
        SettingError: dimensions differ, no word is shared, a vector holds NaN or infinity, or an argument is not
            vectors.
        UnknownWordError: one of `words` is missing from one of the spaces.
    """
    source, target = as_vectors(vectors), as_vectors(onto)
    if source.dim != target.dim:
        raise SettingError(f"cannot align vectors of {source.dim} components onto vectors of {target.dim}")
    shared = [word for word in source.words if target.word_list.find(word) is not None]
    shared = shared if words is None else list(dict.fromkeys(words))
    if not shared:
        raise SettingError("cannot align: the two spaces share no word")
    a, b = (space.matrix[[space.index(word) for word in shared]].astype(np.float64) for space in (source, target))
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise SettingError("cannot align: the vector of a shared word holds NaN or infinity")
    u, _, v = np.linalg.svd(a.T @ b)
    rotation = u @ v
    norm = float(np.linalg.norm(b))
    residual = float(np.linalg.norm(a @ rotation - b)) / norm if norm else 0.0
    rows = np.empty(source.matrix.shape, dtype=np.float32)
    for block in row_blocks(*source.matrix.shape, itemsize=8):
        rows[block] = source.matrix[block] @ rotation
    aligned = Vectors(source.word_list, rows, counts=source.counts, word_form=source.word_form)
    return Alignment(aligned, residual, rotation, shared)
