"""Combine two sets of vectors into one."""

from typing import Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.settings import check_value
from embeddings.vectors.vectors import HasVectors, Vectors, as_vectors

How = Literal["first", "mean", "concat"]


def merge(first: Vectors | HasVectors, second: Vectors | HasVectors, how: How = "first") -> Vectors:
    """Combine the words of two sets of vectors.

    >>> import numpy as np, embeddings as em
    >>> first, second = em.Vectors(["a", "b"], np.eye(2)), em.Vectors(["b", "c"], np.eye(2))
    >>> em.merge(first, second).words, em.merge(first, second, how="concat")["b"].tolist()
    (['a', 'b', 'c'], [0.0, 1.0, 1.0, 0.0])

    Words of the first come first, in their order. If both have counts, the counts of shared words are added and the
    result is sorted by frequency.

    Arguments:
        first: Vectors, or a Model.
        second: Vectors, or a Model.
        how: "first" takes shared words from the first, "mean" averages them; both return the words of either, and
            require vectors of the same space (see `align`). "concat" returns the shared words with joined vectors.

    Raises:
        SettingError: `how` is unknown, dimensions differ for "first" or "mean", no word is shared for "concat", or an
            argument is not vectors.
    """
    check_value("how", how, How, {})
    a, b = as_vectors(first), as_vectors(second)
    if how != "concat" and a.dim != b.dim:
        raise SettingError(f"how={how!r} requires equal dimensions, got {a.dim} and {b.dim}: use 'concat'")
    words = [word for word in a.words if b.word_list.find(word) is not None]  # by spelling
    rows_a, rows_b = [a.index(word) for word in words], [b.index(word) for word in words]
    form = a.word_form if a.word_form == b.word_form else None
    if how == "concat":
        if not words:
            raise SettingError("how='concat' requires shared words, and there are none")
        matrix = np.concatenate([a.matrix[rows_a], b.matrix[rows_b]], axis=1)
    else:
        new = [row for row, word in enumerate(b.words) if a.word_list.find(word) is None]
        words = a.words + [b.words[row] for row in new]
        matrix = np.concatenate([a.matrix, b.matrix[new]])
        if how == "mean":
            matrix[rows_a] = (matrix[rows_a].astype(np.float64) + b.matrix[rows_b]) / 2
    if a.counts is None or b.counts is None:
        return Vectors(words, matrix, word_form=form)
    counts = np.zeros(len(words), dtype=np.int64)
    for occurrences in (dict(zip(a.words, a.counts, strict=True)), dict(zip(b.words, b.counts, strict=True))):
        counts += np.array([occurrences.get(word, 0) for word in words], dtype=np.int64)
    order = np.argsort(-counts, kind="stable")
    return Vectors([words[row] for row in order], matrix[order], counts=counts[order], word_form=form)
