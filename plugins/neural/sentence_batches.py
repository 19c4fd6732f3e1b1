"""Batches of sentences of similar length, as padded arrays."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.kernels.block import LAST, POSITION
from embeddings.kernels.sentence_block import SentenceBlock

Ids = NDArray[np.int64]
MAX_WORDS = 20_000  # words, or characters, whose rows trained networks compute at a time


class Batch(NamedTuple):
    """Sentences, padded to the length of the longest.

    places: (sentences, longest) the place of each word in its block; padding repeats the last word.
    lengths: (sentences,) the number of words of each sentence.
    """

    places: Ids
    lengths: Ids


class ReadingOrder(NamedTuple):
    """The inputs of a forward and a backward reader of a sentence, which know the context of each word.

    forward: (n, longest) a mark, then all words but the last. backward: a mark, then the words from the last to the
    second. known: where the reader of `backward` has reached the word after each.
    """

    forward: Ids
    backward: Ids
    known: Ids


def batches(block: SentenceBlock, batch_words: int) -> Iterator[Batch]:
    """The sentences of a block in batches of at most `batch_words` words with padding, or one sentence.

    Sentences are sorted by length; the order of the batches is random, with a seed that depends on the block.
    """
    starts = block.starts[: int(block.cursor[LAST]) + 1]
    lengths = np.diff(starts)
    groups = list(groups_of_similar_length(lengths, batch_words))
    for number in np.random.default_rng(int(block.cursor[POSITION])).permutation(len(groups)):
        rows = groups[number]
        places = padded_places(lengths[rows]) + starts[rows][:, None]
        yield Batch(places, lengths[rows])


def groups_of_similar_length(lengths: Ids, max_words: int) -> Iterator[Ids]:
    """The numbers of all sentences, sorted by length, in groups of up to `max_words` words with padding."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    for stop, length in enumerate(lengths[order].tolist()):
        if stop > start and (stop + 1 - start) * length > max_words:
            yield order[start:stop]
            start = stop
    if start < len(order):
        yield order[start:]


def encode_groups(sentences: Sequence[Ids], encode: Callable[[Ids, Ids], np.ndarray]) -> list[np.ndarray]:
    """A row for each word of each sentence, (words of the sentence, dim).

    Arguments:
        encode: returns the rows of padded sentences (n, longest, dim), given the sentences and their lengths.
    """
    rows: list[np.ndarray] = [np.zeros((0, 0), np.float32)] * len(sentences)
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    for group in groups_of_similar_length(lengths, MAX_WORDS):
        padded, sizes = pad([sentences[number] for number in group])
        for number, size, row in zip(group, sizes, encode(padded, sizes), strict=True):
            rows[number] = row[:size]
    return rows


def padded_places(lengths: Ids) -> Ids:
    """Word numbers of sentences with these `lengths`, (n, longest); padding repeats the last word."""
    places: Ids = np.minimum(np.arange(int(lengths.max())), np.maximum(lengths, 1)[:, None] - 1)
    return places


def pad(sentences: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Pad sentences of at least one word with their last word; returns the rows and the lengths."""
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    starts = np.append(0, np.cumsum(lengths[:-1]))
    return np.concatenate(sentences)[padded_places(lengths) + starts[:, None]], lengths


def reading_order(ids: Ids, lengths: Ids, mark: int) -> ReadingOrder:
    """The inputs of both readers of padded sentences (n, longest), which begin with `mark`."""
    forward = np.roll(ids, 1, axis=1)
    known = np.maximum(lengths[:, None] - 1 - np.arange(ids.shape[1]), 0)
    backward = np.roll(reversed_rows(ids, lengths), 1, axis=1)
    forward[:, 0] = backward[:, 0] = mark
    return ReadingOrder(forward, backward, known)


def reversed_rows(ids: Ids, lengths: Ids) -> Ids:
    """Reverse the words of padded rows (n, longest); padding stays at the end."""
    return np.take_along_axis(ids, np.maximum(lengths[:, None] - 1 - np.arange(ids.shape[1]), 0), axis=1)
