"""The pairs of texts of an encoded corpus."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.pair_encoding import PAIR_SIDES
from embeddings.errors import CorpusError
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point
from embeddings.support.logs import log


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs of texts as words.

    Text s of pair p is `ids[starts[p * sides + s]:starts[p * sides + s + 1]]`.

    Arguments:
        order: int64, the numbers of the pairs whose texts all have words of the vocabulary.
        ratings: float32 (all pairs,), on their own scale; empty if there are none.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    sides: int
    order: NDArray[np.int64]
    ratings: NDArray[np.float32]

    @property
    def count(self) -> int:
        """The number of all pairs."""
        return (len(self.starts) - 1) // self.sides


def corpus_pairs(encoded: EncodedCorpus, words: int, limit: int | None = None) -> EncodedPairs:
    """The pairs of a corpus, of which those with a text without any known word are left out.

    Arguments:
        words: how many words of the vocabulary are known, the most frequent ones.
        limit: how many words of a text count, unless all do.

    Raises:
        CorpusError: the corpus has no pairs, or none with words of the vocabulary.
    """
    sides, starts = encoded.meta.get(PAIR_SIDES), np.asarray(encoded.sentences)
    if sides is None:
        raise CorpusError("the corpus has no pairs of texts; set pairs of the Corpus, such as pairs=PairFormat()")
    counts = np.zeros(len(starts) - 1, np.int32)
    count_known_words(np.asarray(encoded.ids), starts, words, len(encoded.ids) if limit is None else limit, counts)
    is_known: NDArray[np.bool_] = np.all(counts.reshape(-1, sides) > 0, axis=1)
    order = np.flatnonzero(is_known)
    if not len(order):
        raise CorpusError(f"none of {len(is_known):,} pairs has words of the vocabulary in all of its texts")
    if len(order) < len(is_known):
        numbers = f"{len(is_known) - len(order):,}", f"{len(is_known):,}"
        log.warning("%s of %s pairs have a text without known words and are skipped", *numbers)
    return EncodedPairs(np.asarray(encoded.ids), starts, sides, order, corpus_ratings(encoded))


def corpus_ratings(encoded: EncodedCorpus) -> NDArray[np.float32]:
    """The ratings of the pairs of a corpus; empty if there are none."""
    if encoded.tags is None:
        return np.empty(0, np.float32)
    return np.asarray(encoded.tags.cast("float32").to_numpy(zero_copy_only=False))


@entry_point
def count_known_words(ids: np.ndarray, starts: np.ndarray, words: int, limit: int, counts: np.ndarray) -> None:
    """Count those of the first `limit` words of each text, (texts,), that are known."""
    for text in range(counts.shape[0]):
        for k in range(starts[text], smaller(starts[text + 1], starts[text] + limit)):
            counts[text] += ids[k] < words
