"""Two sets of vectors as one."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.vectors.as_vectors import vectors_in
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model

How = Literal["first", "mean", "concat"]


def merge(first: "Vectors | Model", second: "Vectors | Model", how: How = "first") -> Vectors:
    """The words of two sets of vectors as one.

    >>> import numpy as np, embeddings as em
    >>> first, second = em.Vectors(["a", "b"], np.eye(2)), em.Vectors(["b", "c"], np.eye(2))
    >>> em.merge(first, second).words, em.merge(first, second, how="concat")["b"].tolist()
    (['a', 'b', 'c'], [0.0, 1.0, 1.0, 0.0])

    Arguments:
        how: "first": words of either; what both have, the first gives. "mean": words of either; the mean of what
            both have. "concat": words of both, their vectors side by side. The first two mean something for
            vectors of one space only: see `align`.

    The words of the first come first, in their order. Where counts are known of both, those of shared words are
    summed and the most frequent words come first.

    Raises:
        SettingError: they are no vectors, another `how`, dimensions that must be equal and are not, or no word in both
            to set side by side.
    """
    if how not in ("first", "mean", "concat"):
        raise SettingError(f"how must be first, mean or concat, not {how!r}")
    first, second = vectors_in(first), vectors_in(second)
    if how != "concat" and first.dim != second.dim:
        raise SettingError(f"vectors of {first.dim} and of {second.dim} components can only be merged by 'concat'")
    shared = [word for word in first.words if word in second]
    rows, places = [first.index(word) for word in shared], [second.index(word) for word in shared]
    if how == "concat":
        if not shared:
            raise SettingError("no word has a vector in both")
        matrix = np.concatenate([first.matrix[rows], second.matrix[places]], axis=1)
        return ordered(shared, matrix, counted(first, second, shared))
    new = [index for index, word in enumerate(second.words) if word not in first]
    words = first.words + [second.words[index] for index in new]
    matrix = np.concatenate([first.matrix, second.matrix[new]])
    if how == "mean":
        matrix[rows] = (matrix[rows].astype(np.float64) + second.matrix[places]) / 2
    return ordered(words, matrix, counted(first, second, words))


def counted(first: Vectors, second: Vectors, words: list[str]) -> np.ndarray | None:
    """How often each word occurs in both together; None where that is not known."""
    if first.counts is None or second.counts is None:
        return None
    sums = np.zeros(len(words), dtype=np.int64)
    for side in (first, second):
        counts = dict(zip(side.words, side.counts.tolist() if side.counts is not None else [], strict=True))
        sums += np.array([counts.get(word, 0) for word in words], dtype=np.int64)
    return sums


def ordered(words: list[str], matrix: np.ndarray, counts: np.ndarray | None) -> Vectors:
    """The vectors with the most frequent first, where counts are known."""
    if counts is None:
        return Vectors(words, matrix)
    order = np.argsort(-counts, kind="stable")
    return Vectors([words[index] for index in order], matrix[order], counts=counts[order])
