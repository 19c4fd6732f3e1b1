"""Vectors of words that may have none: what stands in for the missing ones."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.settings import check_value
from embeddings.vectors.as_vectors import vectors_in
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model

Unseen = Literal["zero", "unknown", "hashed", "subwords", "context"]
NAMES = ("<unk>", "[UNK]", "<UNK>", "UNK", "unk")  # what other programs call the word for all unknown ones
RARE = 1000  # the rarest words, whose mean stands for it elsewhere


def lookup(
    vectors: "Vectors | Model", words: Sequence[str], unseen: Unseen = "zero", *, window: int = 5, seed: int = 1
) -> np.ndarray:
    """The vectors of words, float32 (words, dim), in their order.

    Arguments:
        words: for "context" the words of a text, one after another.
        unseen: what a word without a vector gets. "zero": zeros. "unknown": the vector learned for a word that
            stands for unknown ones, such as <unk>, or else the mean of the 1,000 rarest words. "hashed": a random
            direction that depends on the word and the seed alone, as long as the mean vector is. "subwords": what
            vectors compose of the word's parts, for models that do. "context": the mean of the known words that stand
            up to `window` places away, zeros where there is none.
        seed: of "hashed".

    Raises:
        SettingError: no vectors, another `unseen`, a window below 1, words that are one text, or vectors that
            compose nothing.
    """
    check_value("unseen", unseen, Unseen, {})
    check_value("window", window, int, {"least": 1})
    seed = check_value("seed", seed, int, {})
    vectors = vectors_in(vectors)
    if isinstance(words, str):
        raise SettingError(f"words must be a list of words, not the text {words!r:.80}")
    if wrong := [word for word in words if not isinstance(word, str)]:
        raise SettingError(f"words must be texts, not {wrong[0]!r:.80}")
    rows = np.array([vectors.index(word) if word in vectors else -1 for word in words], np.int64)
    known = rows >= 0
    found = np.zeros((len(rows), vectors.dim), np.float32)
    found[known] = vectors.matrix[rows[known]]
    missing = np.flatnonzero(~known)
    if len(missing) and unseen != "zero":
        found[missing] = stand_ins(vectors, words, missing, found, known, unseen, (window, seed))
    return found


def stand_ins(
    vectors: Vectors, words: Sequence[str], missing: np.ndarray, found: np.ndarray, known: np.ndarray, unseen: str,
    numbers: tuple[int, int],
) -> np.ndarray:  # fmt: skip
    """What the missing words get, (missing, dim) or one row for all."""
    window, seed = numbers
    if unseen == "unknown":
        return unknown(vectors)
    if unseen == "context":
        return np.stack([around(found, known, int(place), window) for place in missing])
    if unseen == "hashed":
        return np.stack([hashed(words[place], vectors.dim, seed) for place in missing]) * mean_length(vectors)
    if vectors.compose is None:
        raise SettingError("these vectors compose nothing of the parts of a word: fasttext and sembei models do")
    return vectors.compose([words[place] for place in missing])


def unknown(vectors: Vectors) -> np.ndarray:
    """The vector of the unknown word (dim,)."""
    zeros = np.zeros(vectors.dim)
    for name in NAMES:
        if name in vectors:
            return np.asarray(vectors.matrix[vectors.index(name)])
    rare = slice(-RARE, None) if vectors.counts is None else np.argsort(-vectors.counts, kind="stable")[-RARE:]
    return np.asarray(np.mean(vectors.matrix[rare], axis=0, dtype=np.float64)) if len(vectors) else zeros


def around(found: np.ndarray, known: np.ndarray, place: int, window: int) -> np.ndarray:
    """The mean of the known words around a place (dim,); zeros where there is none."""
    part = slice(max(0, place - window), place + window + 1)
    near = found[part][known[part]]
    return np.asarray(np.mean(near, axis=0, dtype=np.float64)) if len(near) else np.zeros(found.shape[1])


def hashed(word: str, dim: int, seed: int) -> np.ndarray:
    """A direction of its own for each word (dim,), of length one."""
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=16, salt=(seed % 2**64).to_bytes(8, "little"))
    drawn = np.random.default_rng(int.from_bytes(digest.digest(), "little")).standard_normal(dim)
    unit: np.ndarray = drawn / np.linalg.norm(drawn)
    return unit


def mean_length(vectors: Vectors) -> float:
    """The mean length of the first vectors."""
    return float(np.linalg.norm(vectors.matrix[:100_000], axis=1).mean()) if len(vectors) else 1.0
