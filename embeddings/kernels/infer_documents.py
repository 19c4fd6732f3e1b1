"""A document at a time, as many passes over it as asked for, with random choices that hang on its words alone."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.block import END, FIRST, LAST, LINE, POSITION, Block, Source, fill
from embeddings.kernels.jit import piece
from embeddings.kernels.random_numbers import coin, random

EPOCH, READ, BEGIN, STOP, BORDER = range(5)  # of `Inference.state`
OVER = -1.0  # no rate: there is nothing left to learn


class Inference(NamedTuple):
    """How vectors of documents are found: a key made of the seed, and the schedule; `state` (5,) is a thread's."""

    key: np.uint64
    epochs: int
    rate: float
    floor: float
    dim: int
    state: np.ndarray


def new_state() -> np.ndarray:
    """A thread's `Inference.state`."""
    return np.zeros(5, np.int64)


@piece
def begin(documents: np.ndarray, document: int, source: Source, block: Block, how: Inference, rng: np.ndarray) -> float:
    """Make a document the first row of a table, as training begins, and read its first block; gives the rate.

    Its random numbers are those of its known words and the seed. Without any it is zeros, and the rate is `OVER`.
    """
    state, vocabulary, key, known = how.state, source.keep.shape[0], how.key, False
    state[EPOCH], state[READ], state[BORDER] = 0, 0, document + 1
    state[BEGIN], state[STOP] = source.lines[document], source.lines[document + 1]
    for at in range(state[BEGIN], state[STOP]):
        if np.uint32(source.ids[at]) < vocabulary:
            key, known = random(key, np.uint64(source.ids[at])), True
    documents[0] = 0
    if not known:
        return OVER
    for component in range(how.dim):
        share = coin(random(key, np.uint64(component))) / 2.0**32
        documents[0, component] = (2 * share - 1) / how.dim
    rng[0], rng[1] = key, np.uint64(how.dim)
    start(block, state)
    return go_on(source, block, how, rng)


@piece
def go_on(source: Source, block: Block, how: Inference, rng: np.ndarray) -> float:
    """Read the document's next block, from its start again when it ends; gives the rate, `OVER` after all passes."""
    state = how.state
    total = (state[STOP] - state[BEGIN]) * how.epochs
    while state[EPOCH] < how.epochs:
        done = state[READ]
        read = fill(block, source, rng)
        if read > 0 or block.place[FIRST] < block.place[LAST]:
            state[READ] += read
            return float(max(how.rate * (1 - done / total), how.floor))
        state[EPOCH] += 1
        start(block, state)
    return OVER


@piece
def start(block: Block, state: np.ndarray) -> None:
    """Put a block at the start of the document, with nothing held."""
    block.place[:] = 0
    block.place[POSITION], block.place[END], block.place[LINE] = state[BEGIN], state[STOP], state[BORDER]
