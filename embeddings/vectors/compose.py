"""Vectors for words that have none of their own, made of what they consist of."""

from collections.abc import Iterable, Sequence

import numpy as np

from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import SettingError
from embeddings.vectors.vectors import Vectors


def compose(vectors: Vectors, words: Sequence[str]) -> np.ndarray:
    """What `vectors.compose` gives for some words, checked; (words, dim) float32, zeros where nothing is known.

    Raises:
        SettingError: nothing can be composed, or a row has another length or holds NaN or infinity.
    """
    if vectors.compose is None:
        raise SettingError("vectors are not composed here: only the words that have one can be asked for")
    rows = np.asarray(vectors.compose(words), dtype=np.float32)
    if rows.shape != (len(words), vectors.dim):
        raise SettingError(f"composed vectors must be {(len(words), vectors.dim)}, not {rows.shape}")
    good = np.isfinite(rows).all(axis=1)
    if not good.all():
        raise SettingError(f"the composed vector of {words[int(good.argmin())]!r} holds NaN or infinity")
    return rows


def composed(vectors: Vectors, word: str) -> np.ndarray:
    """The composed vector (dim,) of a word.

    Raises:
        UnknownWordError: no part of it is known, so that it would be zero.
        SettingError: as `compose`.
    """
    row: np.ndarray = compose(vectors, [word])[0]
    if not row.any():
        raise UnknownWordError(f"no vector for {word!r} among {len(vectors)} words, and none can be composed")
    return row


def extended(vectors: Vectors, words: Iterable[str]) -> Vectors:
    """The same vectors, and behind them composed ones of those words that have none and can be composed.

    Raises:
        SettingError: as `compose`.
    """
    unseen = [word for word in dict.fromkeys(words) if word not in vectors]
    rows = compose(vectors, unseen)
    known = np.asarray(rows.any(axis=1))
    names = vectors.words + [word for word, found in zip(unseen, known, strict=True) if found]
    return Vectors(names, np.concatenate([vectors.matrix, rows[known]]), compose=vectors.compose)
