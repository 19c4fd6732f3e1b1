"""One space turned onto another, so that vectors of two trainings can be compared."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import SettingError
from embeddings.support.cosine import row_blocks
from embeddings.vectors.as_vectors import vectors_in
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model


@dataclass(frozen=True)
class Aligned:
    """What aligning gives.

    Arguments:
        vectors: all words of the first space, turned.
        residual: how far the shared words are from their places in the other space, as a share of these: the
            Frobenius norm of the difference by that of the other's vectors; 0 where they fall together.
        rotation: (dim, dim) float64, orthogonal; a row of the first space times it is the turned one.
        words: the shared words that decided it.
    """

    vectors: Vectors
    residual: float
    rotation: np.ndarray
    words: list[str]


def align(vectors: "Vectors | Model", onto: "Vectors | Model", *, words: Iterable[str] | None = None) -> Aligned:
    """Turn `vectors` (rotation and reflection, no scaling) so that shared words come nearest to `onto`.

    >>> import numpy as np, embeddings as em
    >>> first, second = em.Vectors(["a", "b"], np.eye(2)), em.Vectors(["b", "a"], np.eye(2))
    >>> found = em.align(first, onto=second)
    >>> found.vectors["a"].round(6).tolist(), round(found.residual, 6)
    ([0.0, 1.0], 0.0)

    Orthogonal Procrustes (Schoenemann, 1966): with A and B the vectors of the shared words, the orthogonal W that
    makes |A W - B| least is U V' for the singular value decomposition U S V' of A' B. Vectors count as they are,
    long ones more; align `normalised()` ones for all words to count alike.

    Arguments:
        words: which shared words decide; all of them unless given.

    Raises:
        SettingError: they are no vectors, dimensions differ, no word is shared, or a vector holds NaN or infinity.
        UnknownWordError: one of `words` is missing from either.
    """
    vectors, onto = vectors_in(vectors), vectors_in(onto)
    if vectors.dim != onto.dim:
        raise SettingError(f"spaces of {vectors.dim} and of {onto.dim} components cannot be aligned")
    shared = [word for word in vectors.words if word in onto] if words is None else list(dict.fromkeys(words))
    if not shared:
        raise SettingError("the spaces share no word to align them by")
    rows, places = [vectors.index(word) for word in shared], [onto.index(word) for word in shared]
    a, b = (np.asarray(side, dtype=np.float64) for side in (vectors.matrix[rows], onto.matrix[places]))
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise SettingError("a vector to align by holds NaN or infinity")
    u, _, v = np.linalg.svd(a.T @ b)
    rotation = u @ v
    length = float(np.linalg.norm(b))
    residual = float(np.linalg.norm(a @ rotation - b)) / length if length else 0.0
    turned = Vectors(vectors.words, rotated(vectors.matrix, rotation), counts=vectors.counts)
    return Aligned(turned, residual, rotation, shared)


def rotated(matrix: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Each row times the rotation, float32."""
    turned = np.empty(matrix.shape, dtype=np.float32)
    for part in row_blocks(*matrix.shape, itemsize=8):
        turned[part] = matrix[part] @ rotation
    return turned
