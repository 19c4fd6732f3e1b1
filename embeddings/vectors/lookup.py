"""Look up vectors, with a choice of substitutes for unknown words."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.settings import check_value
from embeddings.vectors.search import word_list
from embeddings.vectors.vectors import Vectors, as_vectors
from embeddings.vectors.word_vectors import HasVectors

Unseen = Literal["zero", "unknown", "subwords", "contexts"]


def lookup(
    vectors: Vectors | HasVectors,
    words: Sequence[str],
    unseen: Unseen = "zero",
    *,
    contexts: Callable[[Sequence[str]], np.ndarray] | None = None,
) -> np.ndarray:
    """The vectors of words, float32 (words, dim), in their order.

    Arguments:
        vectors: Vectors, or a Model.
        words: the words.
        unseen: the substitute for a word without a vector. "zero": zeros. "unknown": the vector learned for unknown
            words such as this one, for vectors that were trained with `unknown_rows` or have the word `<unk>`.
            "subwords": a vector composed of the word's parts, for models that compose. "contexts": a vector from the
            contexts of the word in a corpus.
        contexts: for "contexts", a function from words to vectors (words, dim), such as an
            `embeddings.analysis.ContextInducer`.

    Raises:
        SettingError: an argument is out of range, `words` is a string, "contexts" is requested without `contexts`, or
            "unknown" or "subwords" of vectors that lack them.
    """
    check_value("unseen", unseen, Unseen, {})
    vectors = as_vectors(vectors)
    if (unseen == "contexts") != (contexts is not None):
        raise SettingError(
            "unseen='contexts' and contexts require each other: pass an embeddings.analysis.ContextInducer"
        )
    words = word_list(vectors, words, ordered=True)
    ids = np.array([vectors.index(word) if word in vectors else -1 for word in words], np.int64)
    is_known = ids >= 0
    rows = np.zeros((len(ids), vectors.dim), np.float32)
    rows[is_known] = vectors.rows(ids[is_known])
    missing = np.flatnonzero(~is_known).tolist()
    if not missing or unseen == "zero":
        return rows
    others = [words[row] for row in missing]
    if unseen == "unknown":
        rows[missing] = vectors.learned_unknown(others)
    else:
        rows[missing] = vectors.compose_words(others) if contexts is None else contexts(others)
    return rows
