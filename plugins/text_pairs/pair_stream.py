"""Pairs of texts as the units of training: a block is a batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.text_pairs import PAIR_SIDES
from embeddings.errors import CorpusError
from embeddings.kernels.block import END, LAST, POSITION, new_cursor
from embeddings.kernels.integers import smaller
from embeddings.kernels.random_numbers import random_bits
from embeddings.support.logs import log
from embeddings.training.stream import Chunk, ItemStream

NO_WEIGHTS = np.empty(0, np.float32)


class PairTexts(NamedTuple):
    """The texts of all pairs, as words.

    Side s of pair p is text p * sides + s, whose words are `ids[starts[text]:starts[text + 1]]`, of which only the
    first `limit` are read. Ids that are not below `words` are unknown. dropout: the share of words to drop, times 2^32.
    weights: float32 (pairs,), of the losses of pairs, with a mean of 1; empty if all are equal.
    """

    ids: np.ndarray
    starts: np.ndarray
    sides: int
    words: int
    limit: int
    dropout: int
    weights: np.ndarray = NO_WEIGHTS


NO_LIMIT = np.iinfo(np.int64).max // 2


def corpus_pairs(
    encoded: EncodedCorpus, words: int, limit: int | None, dropout: float = 0
) -> tuple[PairTexts, NDArray[np.int64], NDArray[np.float32]]:
    """The pairs of a corpus; if texts have vectors, a pair is one text.

    Returns the texts, the numbers of the pairs whose texts all have words of the vocabulary and whose weight is above
    0, and the ratings of all pairs on their own scale, empty if there are none.

    Arguments:
        words: how many words of the vocabulary are known, the most frequent ones.
        limit: how many words of a text count, unless all do.
        dropout: the share of words to drop.
    """
    sides, starts = encoded.meta.get(PAIR_SIDES, 1), np.asarray(encoded.sentences)
    share = int(dropout * 2**32)
    texts = PairTexts(np.asarray(encoded.ids), starts, sides, words, limit or NO_LIMIT, share)
    counts = np.zeros(len(starts) - 1, np.int32)
    count_known_words(texts, counts)
    is_known: NDArray[np.bool_] = np.all(counts.reshape(-1, texts.sides) > 0, axis=1)
    ratings, weights = np.empty(0, np.float32), encoded.weights
    order, unit = np.flatnonzero(is_known), "texts" if sides == 1 else "pairs"
    if len(order) < len(is_known):
        numbers = f"{len(is_known) - len(order):,}", f"{len(is_known):,}", unit
        log.warning("%s of %s %s have a text without known words and are skipped", *numbers)
    if encoded.tags is not None and (weights is None or encoded.tag_starts is not None):
        ratings = np.asarray(encoded.first_tags.cast("float32").to_numpy(zero_copy_only=False))
    if weights is not None:
        order = order[weights[order] > 0]
    if not len(order):
        problem = "has words of the vocabulary in all of its texts and a weight above 0"
        raise CorpusError(f"none of {len(is_known):,} {unit} {problem}, so there is nothing to learn")
    if weights is not None:
        # With a mean of 1 over the pairs that are read, learning rates suit any scale of weights.
        texts = texts._replace(weights=(weights / weights[order].mean()).astype(np.float32))
    return texts, order, ratings


@entry_point
def count_known_words(texts: PairTexts, counts: np.ndarray) -> None:
    """Count the known words of each text, (texts,)."""
    for text in range(counts.shape[0]):
        for k in range(texts.starts[text], smaller(texts.starts[text + 1], texts.starts[text] + texts.limit)):
            counts[text] += texts.ids[k] < texts.words


class PairBlock(NamedTuple):
    """The next batch of a thread.

    cursor: see `ItemStream`.
    pairs: int64 (batch,), their numbers. keys: uint64 (batch,), of the random numbers that drop words of each pair.
    """

    cursor: np.ndarray
    pairs: np.ndarray
    keys: np.ndarray


@entry_point
def fill_pairs(block: PairBlock, order: np.ndarray, random: np.ndarray) -> int:
    """Read the next pairs into a block; returns how many."""
    begin = block.cursor[POSITION]
    size = smaller(block.pairs.shape[0], block.cursor[END] - begin)
    for k in range(size):
        block.pairs[k] = order[begin + k]
        block.keys[k] = random_bits(random[0], random[1])
        random[1] += np.uint64(1)
    block.cursor[POSITION], block.cursor[LAST] = begin + size, size
    return size  # type: ignore[no-any-return]


@dataclass(frozen=True)
class PairStream(ItemStream):
    """Pairs of texts, a batch at a time.

    Arguments:
        source: int64 (pairs,), the numbers of the pairs in the order of the corpus.
        batch_size: pairs in a batch; the last one of a share may have fewer.
        arrays: arrays that may be mapped from files, which are checked for truncation.
    """

    source: np.ndarray
    batch_size: int
    arrays: Sequence[np.ndarray] = ()
    unit: ClassVar[str] = "pairs"
    fill_from = fill_pairs

    @property
    def units(self) -> int:
        """The number of pairs."""
        return len(self.source)

    def new_block(self) -> PairBlock:
        """A block for one thread."""
        return PairBlock(new_cursor(), np.zeros(self.batch_size, np.int64), np.zeros(self.batch_size, np.uint64))

    def shuffled_chunks(self, begin: int, end: int, order: np.random.Generator) -> Iterator[Chunk]:
        """The pairs of the share in random order."""
        return iter([Chunk(order.permutation(self.source[begin:end]), 0, end - begin)])
