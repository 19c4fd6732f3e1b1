"""How near words are to each other: the odd one out, distances, ranks.

Cosines that float32 cannot tell apart are decided in float64, as in the search for neighbours.
"""

from collections.abc import Sequence

import numpy as np

from embeddings.errors import SettingError
from embeddings.support.cosine import exact_cosines, rounding, unit
from embeddings.vectors.vectors import Vectors


def doesnt_match(vectors: Vectors, words: Sequence[str]) -> str:
    """The word furthest, by cosine, from the mean of the unit vectors of all; the first of several as far.

    Raises:
        UnknownWordError: a word has no vector (gensim leaves such words out).
        SettingError: there are no words.
    """
    if isinstance(words, str) or not len(words):
        raise SettingError("doesnt_match needs a list of words")
    rows = unit(vectors[list(words)])
    return str(words[int((rows * unit(rows.mean(axis=0))).sum(axis=1).argmin())])


def distances(vectors: Vectors, word: str | np.ndarray, others: Sequence[str] | None = None) -> np.ndarray:
    """1 - cosine of a word, or an array (dim,), to each of `others` or else to all words; (others,) float64.

    Raises:
        UnknownWordError: a word has no vector.
        SettingError: an array of another length.
    """
    query = vectors[word] if isinstance(word, str) else np.asarray(word)
    if query.shape != (vectors.dim,):
        raise SettingError(f"a vector to compare with must be ({vectors.dim},), not {query.shape}")
    if others is None:
        cosines = exact_cosines(vectors.units, unit(query))(np.arange(len(vectors)))
    else:
        cosines = np.clip((unit(vectors[list(others)]) * unit(query)).sum(axis=1), -1, 1)
    return np.asarray(1 - cosines)


def closer_than(vectors: Vectors, a: str, b: str) -> list[str]:
    """The words nearer to a than b is, in order of frequency, a itself not among them.

    Raises:
        UnknownWordError: a word has no vector.
    """
    row, other, query = vectors.index(a), vectors.index(b), unit(vectors[a])
    rough = vectors.units @ query.astype(np.float32)
    margin, exact = rounding(vectors.units), exact_cosines(vectors.units, query)
    closer = rough > rough[other] + margin
    unsure = np.flatnonzero(np.abs(rough - rough[other]) <= margin)
    closer[unsure] = exact(unsure) > exact(np.array([other]))
    closer[row] = False
    return [vectors.words[index] for index in np.flatnonzero(closer)]


def rank(vectors: Vectors, a: str, b: str) -> int:
    """The rank of b among the neighbours of a: 1 for the nearest; words as near share the best rank.

    Raises:
        UnknownWordError: a word has no vector.
    """
    return len(closer_than(vectors, a, b)) + 1
