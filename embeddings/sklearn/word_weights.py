"""How much each word counts in a mean, and the directions that all texts have in common."""

from collections.abc import Sequence

import numpy as np

from embeddings.corpora.tokenizers import lowered
from embeddings.corpora.vocabulary import Vocabulary


def weights_of(words: Sequence[str], frequencies: Vocabulary, sif: bool, constant: float) -> np.ndarray:
    """What each word weighs in a mean that frequent words do not rule, float64 (words,); more than 0, at most 1.

    sif: a / (a + p) for a word of share p of the corpus (Arora, Liang and Ma 2017, algorithm 1). Otherwise the chance
    to outlive sub-sampling with this threshold, as in `Vocabulary.keep_probabilities`. A word is looked up as it
    stands, then in lower case; one that is in neither form among `frequencies` has share 0 and weighs 1.
    """
    if sif:
        known = constant / (constant + frequencies.counts / max(frequencies.total, 1))
    else:
        known = frequencies.keep_probabilities(constant).astype(np.float64)
    ids = frequencies.ids
    places = [ids.get(word, ids.get(lowered(word), len(known))) for word in words]
    chosen: np.ndarray = np.append(known, 1.0)[places]
    return chosen


def common_components(rows: np.ndarray, count: int) -> np.ndarray:
    """The first `count` right singular vectors of rows (texts, dim), which are not centred: (count, dim) float64.

    Fewer, where the rows span fewer dimensions.
    """
    from scipy.linalg import eigh, svd

    texts, dim = rows.shape
    count = min(count, texts, dim)
    if not count:
        return np.zeros((0, dim))
    if texts <= dim:
        _, sizes, directions = svd(rows, full_matrices=False)
        squares, directions = sizes[:count] ** 2, directions[:count]
    else:
        rising, columns = eigh(rows.T @ rows, subset_by_index=[dim - count, dim - 1])
        squares, directions = rising[::-1], columns.T[::-1]
    spanned = squares > squares.max() * max(rows.shape) * np.finfo(np.float64).eps
    kept: np.ndarray = directions[spanned]
    return kept


def without(components: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows (texts, dim) less their projections onto orthonormal components (count, dim)."""
    return np.asarray(rows - (rows @ components.T) @ components)
