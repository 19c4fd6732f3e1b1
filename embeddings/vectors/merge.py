"""Combine several sets of vectors into one, and fit vectors to a lexicon."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from embeddings.errors import S, SettingError
from embeddings.settings import Positive, check_value
from embeddings.support.cosine import normalize_rows
from embeddings.support.imports import import_library
from embeddings.support.text_lines import read_text_lines
from embeddings.vectors.vectors import Vectors, as_vectors
from embeddings.vectors.word_vectors import HasVectors

How = Literal["first", "mean", "concat", "svd"]


def merge(
    first: Vectors | HasVectors, *others: Vectors | HasVectors, how: How = "first", dim: Positive | None = None
) -> Vectors:
    """Combine the words of several sets of vectors.

    >>> import numpy as np, embeddings as em
    >>> first, second = em.Vectors(["a", "b"], np.eye(2)), em.Vectors(["b", "c"], np.eye(2))
    >>> em.merge(first, second).words, em.merge(first, second, how="concat")["b"].tolist()
    (['a', 'b', 'c'], [0.0, 1.0, 1.0, 0.0])

    Words of the first come first, in their order. If all have counts, the counts of shared words are added and the
    result is sorted by frequency.

    Arguments:
        first: Vectors, or a Model.
        others: further Vectors or Models.
        how: "first" takes shared words from the first that has them, "mean" averages them; both return the words of
            any, and require vectors of the same space, such as those of `align`. "concat" returns the words that all
            have, with joined vectors. "svd" joins vectors of length one and reduces them to `dim` components.
        dim: the number of components of "svd", by default that of the first.

    Raises:
        SettingError: `how` is unknown, dimensions differ where they must be equal, no word is shared where shared words
            are required, `dim` is given without "svd" or too large, or an argument is not vectors.
    """
    check_value("how", how, How, {})
    check_value("dim", dim, Positive | None, {})
    if dim is not None and how != "svd":
        raise SettingError(f"{S.dim} requires {S.how('svd')}")
    spaces = list(map(as_vectors, (first, *others)))
    joins = how in ("concat", "svd")
    if not joins and len({one.dim for one in spaces}) > 1:
        sizes = " and ".join(str(one.dim) for one in spaces)
        raise SettingError(f"how={how!r} requires equal dimensions, got {sizes}: use 'concat' or 'svd'")
    shared = [word for word in spaces[0].words if all(one.word_list.find(word) is not None for one in spaces)]
    if joins and not shared:
        raise SettingError(f"how={how!r} requires shared words, and there are none")
    words = shared if joins else list(dict.fromkeys(word for one in spaces for word in one.words))  # by spelling
    rows = [np.array([-1 if at is None else at for at in map(one.word_list.find, words)], np.int64) for one in spaces]
    if joins:
        parts = [one.matrix if how == "concat" else one.unit_rows for one in spaces]
        matrix = np.concatenate([part[row] for part, row in zip(parts, rows, strict=True)], axis=1)
        matrix = matrix if how == "concat" else reduce_rows(matrix, spaces[0].dim if dim is None else dim)
    else:
        matrix = combine(spaces, rows, average=how != "first")
    form = spaces[0].word_form if all(one.word_form == spaces[0].word_form for one in spaces) else None
    if any(one.counts is None for one in spaces):
        return Vectors(words, matrix, word_form=form)
    counts = np.zeros(len(words), dtype=np.int64)
    for one, row in zip(spaces, rows, strict=True):
        # Row -1 reads the last count, which `where` drops.
        counts += np.where(row >= 0, np.asarray(one.counts)[row], 0)
    order = np.argsort(-counts, kind="stable")
    return Vectors([words[row] for row in order], matrix[order], counts=counts[order], word_form=form)


def combine(spaces: list[Vectors], rows: list[np.ndarray], average: bool) -> np.ndarray:
    """The mean of the rows of each word in the spaces that have it, or its row in the first of them."""
    total, parts = np.zeros((len(rows[0]), spaces[0].dim)), np.zeros(len(rows[0]), np.int64)
    for one, row in zip(spaces, rows, strict=True):
        at = np.flatnonzero((row >= 0) & (average | (parts == 0)))
        total[at] += one.matrix[row[at]]
        parts[at] += 1
    return np.asarray(total / parts[:, None], np.float32)


def reduce_rows(matrix: np.ndarray, dim: int) -> np.ndarray:
    """Rows projected onto the first `dim` right singular vectors, without centring."""
    check_value("dim", dim, int, {"le": matrix.shape[1]})
    _, v = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    return np.asarray(matrix @ v[:, ::-1][:, :dim].astype(np.float32))


Lexicon = str | os.PathLike[str] | Mapping[str, Iterable[str]]
ITERATIONS = 10


def retrofit(vectors: Vectors | HasVectors, lexicon: Lexicon) -> Vectors:
    """Move the vectors of words that a lexicon lists as related towards each other.

    Retrofitting (Faruqui et al., 2015, equation 1, weights alpha = 1 and beta = 1 / degree): each of ten passes sets
    q_i = (q'_i + mean of q_j over the words j related to i) / 2, where q'_i is the original vector of length one.

    >>> import numpy as np, embeddings as em
    >>> from embeddings.vectors.merge import retrofit
    >>> vectors = em.Vectors(["big", "large", "red"], np.array([[1, 0], [0, 1], [-1, 0]]))
    >>> round(retrofit(vectors, {"big": ["large"], "large": ["big"]}).similarity("big", "large"), 2)
    0.8

    Arguments:
        vectors: Vectors, or a Model.
        lexicon: a file of lines of a word and the words related to it, separated by spaces; or a mapping.

    Raises:
        FormatError: the lexicon cannot be read.
        SettingError: no word of the lexicon is related to another that has a vector.
    """
    sparse = import_library("scipy.sparse")
    space = as_vectors(vectors)
    first, second = np.array(sorted(lexicon_edges(space, lexicon)), np.int64).T
    degrees = np.bincount(first, minlength=len(space))
    # Products with this matrix are means over the words that each word is related to.
    shares = (1 / degrees[first]).astype(np.float32)
    near = sparse.csr_array((shares, (first, second)), shape=(len(space), len(space)))
    original = normalize_rows(space.matrix)
    rows, moves = original.copy(), np.flatnonzero(degrees)
    for _ in range(ITERATIONS):
        # All words move at once, not one by one as in the paper; both have the same fixed point.
        rows[moves] = (original[moves] + (near[moves] @ rows)) / 2
    return Vectors(space.word_list, rows, counts=space.counts, word_form=space.word_form)


def lexicon_edges(space: Vectors, lexicon: Lexicon) -> set[tuple[int, int]]:
    """The rows of each two words that a lexicon relates, if both have vectors."""
    related = read_lexicon(lexicon) if isinstance(lexicon, str | os.PathLike) else lexicon
    edges: set[tuple[int, int]] = set()
    for word, others in related.items():
        row = space.find(word)
        found = () if row is None else map(space.find, others)
        edges.update((row, other) for other in found if row is not None and other is not None and other != row)
    if not edges:
        raise SettingError("the lexicon relates no two words that have vectors")
    return edges


def read_lexicon(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """The related words of each word, joined over all its lines."""
    related: dict[str, list[str]] = {}
    for line in read_text_lines(Path(path), "lexicon"):
        if words := line.split():
            related.setdefault(words[0], []).extend(words[1:])
    return related
