"""Input rows composed of several rows of tables: a word's own and its n-grams', for the words of a block.

Each different word of a block is composed once. A model learns on the composed rows as on any other; what they have
moved by is then added to every row that they are made of. That is the gradient of their mean, not divided by the number
of rows, as fastText has it.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import HELD, Block
from embeddings.kernels.jit import piece
from embeddings.kernels.row_operations import address, copy, prefetch, share, total
from embeddings.kernels.step_buffers import Bundle, aligned


class Made(NamedTuple):
    """What words are made of: word i of row i of `words` and rows `buckets[offsets[i] : offsets[i + 1]]` of `ngrams`.

    `words` is (vocabulary, padded dim), `ngrams` (buckets, padded dim), `offsets` (vocabulary + 1,).
    """

    words: np.ndarray
    ngrams: np.ndarray
    offsets: np.ndarray
    buckets: np.ndarray


class Composed(NamedTuple):
    """What a thread composes: `rows` and what they were `before`, each (size, padded dim).

    `words` (size,) are those that the first rows stand for; `row` (vocabulary,) is the row of a word, -1 if it has
    none; `inputs` (size,) are the rows of a block's words; `parts` are addresses of what one word is made of.
    """

    rows: np.ndarray
    before: np.ndarray
    words: np.ndarray
    row: np.ndarray
    inputs: np.ndarray
    parts: np.ndarray


def new_composed(size: int, vocabulary: int, most: int, width: int, dtype: type = np.float32) -> Composed:
    """Room for blocks of so many words, each made of at most so many rows."""
    rows = aligned(size, width, dtype)
    words = np.zeros(size, np.int32)
    row = np.full(vocabulary, -1, np.int32)
    return Composed(rows, aligned(size, width, dtype), words, row, words.copy(), np.zeros(most, np.int64))


@piece
def compose(own: Composed, block: Block, made: Made, bundle: Bundle) -> int:
    """Compose the words of a block as means; gives how many different ones there are."""
    count, width = 0, made.words.shape[1]
    for i in range(block.place[HELD]):
        word = block.words[i]
        if own.row[word] < 0:
            own.row[word] = count
            own.words[count] = word
            count += 1
        own.inputs[i] = own.row[word]
    for k in range(count):
        if k + 1 < count:
            ask(own.words[k + 1], made)
        m = parts(own, own.words[k], made)
        own.rows[k] = 0
        bundle.factor[0] = 1 / m
        total(bundle.factor, address(own.rows, k), own.parts, m, width)
        copy(own.rows, address(own.before, k), address(own.rows, k), width)
    return count


@piece
def give_back(own: Composed, count: int, made: Made, bundle: Bundle) -> None:
    """Add what the composed rows have moved by to all that they are made of; nothing is composed then."""
    width = made.words.shape[1]
    for k in range(count):
        if k + 1 < count:
            ask(own.words[k + 1], made)
        own.row[own.words[k]] = -1
        own.parts[0] = address(own.before, k)
        bundle.factor[0] = -1
        total(bundle.factor, address(own.rows, k), own.parts, 1, width)
        m = parts(own, own.words[k], made)
        bundle.factor[0] = 1
        share(bundle.factor, address(own.rows, k), own.parts, m, width)


@piece
def parts(own: Composed, word: int, made: Made) -> int:
    """Write the addresses of what a word is made of; gives how many there are."""
    own.parts[0] = address(made.words, word)
    begin, end = made.offsets[word], made.offsets[word + 1]
    for at in range(begin, end):
        own.parts[1 + at - begin] = address(made.ngrams, made.buckets[at])
    return int(1 + end - begin)


@piece
def ask(word: int, made: Made) -> None:
    """Fetch into the cache what a word is made of."""
    size = made.words.shape[1] * made.words.itemsize
    prefetch(address(made.words, word), size)
    for at in range(made.offsets[word], made.offsets[word + 1]):
        prefetch(address(made.ngrams, made.buckets[at]), size)
