"""Weights of words in the vector of a text, and the directions that all texts share."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from embeddings.corpora.tokenizers import lower_case
from embeddings.corpora.vocabulary import Vocabulary

Weighting = Literal["sif", "subsample"]
WEIGHTINGS: tuple[str, ...] = get_args(Weighting)
DEFAULT_CONSTANT = 1e-3


def word_weights(
    words: Sequence[str], frequencies: Vocabulary, weighting: Weighting, constant: float, tokens: int | None = None
) -> np.ndarray:
    """The weight of each word in a mean, float64 (words,), in (0, 1]; frequent words weigh less.

    "sif": a / (a + p) for a word with the share p of the corpus (Arora, Liang and Ma 2017, algorithm 1). "subsample":
    the probability of being kept by subsampling with this threshold, as `Vocabulary.keep_probabilities`, from the share
    of the `tokens`, by default those of the vocabulary. A word is looked up as it is, then in lower case; an unknown
    word has share 0 and weight 1.
    """
    if weighting == "sif":
        weights = constant / (constant + frequencies.counts / max(frequencies.total, 1))
    else:
        ratio = constant * (tokens or frequencies.tokens) / np.maximum(frequencies.counts, 1)
        weights = np.minimum(1, np.sqrt(ratio) + ratio)
    return look_up_weights(words, frequencies, weights, 1.0)


def inverse_document_frequencies(words: Sequence[str], frequencies: Vocabulary, texts: int) -> np.ndarray:
    """ln((1 + n) / (1 + f)) + 1 for a word in f of n texts, float64 (words,), as in scikit-learn.

    frequencies: the number of texts with each word.
    """
    weights = np.log((1 + texts) / (1 + frequencies.counts)) + 1
    return look_up_weights(words, frequencies, weights, float(np.log(1 + texts)) + 1)


def look_up_weights(words: Sequence[str], vocabulary: Vocabulary, weights: np.ndarray, unknown: float) -> np.ndarray:
    """The weight of each word in a vocabulary, as written or else in lower case; `unknown` for unknown words."""
    if words is vocabulary.words:
        return weights
    ids = vocabulary.ids
    rows = [ids.get(word, ids.get(lower_case(word), len(weights))) for word in words]
    return np.asarray(np.append(weights, unknown)[rows])


def common_components(rows: np.ndarray, count: int) -> np.ndarray:
    """The first `count` right singular vectors of uncentred rows (texts, dim), or as many as the rows span.

    Returns (components, dim) float64.
    """
    texts, dim = rows.shape
    count = min(count, texts, dim)
    if not count:
        return np.zeros((0, dim))
    rows = rows.astype(np.float64, copy=False)
    if texts > dim:
        return moment_components(rows.T @ rows, count, texts)
    _, values, directions = np.linalg.svd(rows, full_matrices=False)
    return spanned(values[:count] ** 2, directions[:count], texts)


def moment_components(moment: np.ndarray, count: int, texts: int) -> np.ndarray:
    """Common components from the sum, or mean, of the outer products of the rows of `texts` texts, (dim, dim)."""
    ascending, columns = np.linalg.eigh(moment)
    return spanned(ascending[::-1][:count], columns.T[::-1][:count], texts)


def spanned(squares: np.ndarray, directions: np.ndarray, texts: int) -> np.ndarray:
    """The directions whose squared singular values are not zero up to rounding."""
    limit = squares.max() * max(texts, directions.shape[1]) * np.finfo(np.float64).eps
    return np.asarray(directions[squares > limit])


def remove_components(components: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows (texts, dim) minus their projections onto orthonormal components (count, dim)."""
    return np.asarray(rows - (rows @ components.T) @ components)
