"""Look up vectors, with a choice of substitutes for unknown words."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.settings import check_value
from embeddings.support.logs import log
from embeddings.vectors.search import word_list
from embeddings.vectors.vectors import Vectors, as_vectors
from embeddings.vectors.word_vectors import HasVectors

Unseen = Literal["zero", "unknown", "subwords", "context", "contexts"]
UNKNOWN_WORDS = ("<unk>", "[UNK]", "<UNK>", "UNK", "unk")  # names of the unknown word in other programs
N_RARE = 1000  # rarest words, whose mean replaces a missing <unk> vector


def lookup(
    vectors: Vectors | HasVectors,
    words: Sequence[str],
    unseen: Unseen = "zero",
    *,
    window: int = 5,
    contexts: Callable[[Sequence[str]], np.ndarray] | None = None,
) -> np.ndarray:
    """The vectors of words, float32 (words, dim), in their order.

    Arguments:
        vectors: Vectors, or a Model.
        words: the words; for "context", consecutive words of a text.
        unseen: the substitute for a word without a vector. "zero": zeros. "unknown": the vector learned for unknown
            words such as this one, if the vectors were trained with `unknown_rows`; or else, logged as a warning, that
            of a word such as <unk>, or the mean of the 1,000 rarest words. "subwords": a vector composed of the
            word's parts, for models that compose. "context": the mean of the known words at most `window` positions
            away, zeros if there are none. "contexts": a vector from the contexts of the word in a corpus.
        window: for "context".
        contexts: for "contexts", a function from words to vectors (words, dim), such as an
            `embeddings.analysis.ContextInducer`.

    Raises:
        SettingError: an argument is out of range, `words` is a string, or "subwords" is requested of vectors that
            cannot be composed, or "contexts" without `contexts`.
    """
    check_value("unseen", unseen, Unseen, {})
    check_value("window", window, int, {"ge": 1})
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
        rows[missing] = unknown_vectors(vectors, others)
    elif unseen == "context":
        for position in missing:
            near = slice(max(0, position - window), position + window + 1)
            if is_known[near].any():
                rows[position] = rows[near][is_known[near]].mean(axis=0, dtype=np.float64)
    else:
        rows[missing] = vectors.compose_words(others) if contexts is None else contexts(others)
    return rows


def unknown_vectors(vectors: Vectors, words: Sequence[str]) -> np.ndarray:
    """The vectors of unknown words, (words, dim) or (dim,) if all unknown words have one vector."""
    if vectors.unknown_rows is not None:
        return vectors.learned_unknown(words)
    where = f"no vector was learned for unknown words (see unknown_rows): {len(words):,} such as {words[0]!r:.80} get"
    for word in UNKNOWN_WORDS:
        row = vectors.word_list.find(word)
        if row is not None:
            log.warning("%s the vector of the word %r", where, word)
            return np.asarray(vectors.matrix[row])
    if not len(vectors):
        return np.zeros(vectors.dim)
    log.warning("%s the mean of the %s rarest words", where, f"{min(N_RARE, len(vectors)):,}")
    rare = slice(-N_RARE, None) if vectors.counts is None else np.argsort(-vectors.counts, kind="stable")[-N_RARE:]
    return np.asarray(vectors.matrix[rare].mean(axis=0, dtype=np.float64))
