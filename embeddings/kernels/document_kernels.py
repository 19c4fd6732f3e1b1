"""Kernels of models whose documents predict words: they train, and infer the vectors of new documents.

A document is inferred by itself, and random choices depend only on its words and the seed.
"""

from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import dispatched, entry_point, inline
from embeddings.kernels.block import END, FIRST, LAST, LINE, NO_ROWS, POSITION, Block, BlockSource, fill_block
from embeddings.kernels.integers import larger, smaller
from embeddings.kernels.random_numbers import random_bits, uniform_uint32
from embeddings.kernels.row_operations import address
from embeddings.kernels.step_buffers import StepBuffers

EPOCH, READ, BEGIN, STOP, NEXT_LINE = range(5)  # of `Inference.state`
FINISHED = -1.0  # in place of a learning rate: nothing is left to learn


class TagRows(NamedTuple):
    """The rows of the tags of documents.

    starts: (documents + 1,) document i of a block has the rows `rows[starts[i]:starts[i + 1]]`; empty if each document
        has one row, numbered in `Block.documents`.
    rows: (tags of all documents,).
    """

    starts: np.ndarray
    rows: np.ndarray


SINGLE_ROWS = TagRows(NO_ROWS, NO_ROWS)


@inline
def gather_tags(block: Block, documents: np.ndarray, tags: TagRows, rows: np.ndarray, i: int, first: int) -> int:
    """Write the addresses of the rows of centre i's document into `rows`, from `first` on; returns how many."""
    document = block.documents[i]
    if tags.starts.shape[0] == 0:
        rows[first] = address(documents, document)
        return 1
    begin, count = tags.starts[document], tags.starts[document + 1] - tags.starts[document]
    for k in range(count):
        rows[first + k] = address(documents, tags.rows[begin + k])
    return int(count)


class Inference(NamedTuple):
    """Inference settings: a key made from the seed, and the schedule; `state` (5,) belongs to one thread."""

    key: np.uint64
    epochs: int
    learning_rate: float
    min_learning_rate: float
    dim: int
    state: np.ndarray


def new_state() -> np.ndarray:
    """A thread's `Inference.state`."""
    return np.zeros(5, np.int64)


@dispatched
def learn_documents(operands: Any, block: Block, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """Train one block; `embeddings.compilation.jit.implements` registers a model's implementation for its operands.

    If `frozen`, only row 0 of `operands.documents` is updated, the vector of the document.
    """


@entry_point
def learn_block(block: Block, operands: Any, buffers: StepBuffers, rate: float) -> None:
    """Train documents, words and output vectors."""
    learn_documents(operands, block, buffers, rate, False)


@entry_point
def infer(
    vectors: np.ndarray, source: BlockSource, block: Block, operands: Any, buffers: StepBuffers, inference: Inference,
    rng: np.ndarray,
) -> None:  # fmt: skip
    """Infer the vector of each line of a source into `vectors` (lines, dim), with word and output vectors frozen."""
    for document in range(vectors.shape[0]):
        rate = begin_document(operands.documents, document, source, block, inference, rng)
        while rate >= 0:
            learn_documents(operands, block, buffers, rate, True)
            rate = next_document_block(source, block, inference, rng)
        for component in range(vectors.shape[1]):
            vectors[document, component] = operands.documents[0, component]


@inline
def begin_document(
    documents: np.ndarray, document: int, source: BlockSource, block: Block, inference: Inference, rng: np.ndarray
) -> float:
    """Initialise row 0 of `documents` for a document and read its first block; returns the learning rate.

    The random key depends on the seed and on the document's known words. If it has none, the row is zeros and the
    result is `FINISHED`.
    """
    state, vocabulary, key, is_known = inference.state, source.keep_thresholds.shape[0], inference.key, False
    state[EPOCH], state[READ], state[NEXT_LINE] = 0, 0, document + 1
    state[BEGIN] = larger(source.lines[document], 0)
    state[STOP] = smaller(source.lines[document + 1], source.ids.shape[0])
    for at in range(state[BEGIN], state[STOP]):
        # The key is a hash of the words in order, so that a document gets the same vector alone or among others.
        if np.uint32(source.ids[at]) < vocabulary:
            key, is_known = random_bits(key, np.uint64(source.ids[at])), True
    documents[0] = 0
    if not is_known:
        return FINISHED
    for component in range(inference.dim):
        uniform = uniform_uint32(random_bits(key, np.uint64(component))) / 2.0**32
        documents[0, component] = (2 * uniform - 1) / inference.dim
    rng[0], rng[1] = key, np.uint64(inference.dim)
    rewind_document(block, state)
    return next_document_block(source, block, inference, rng)


@inline
def next_document_block(source: BlockSource, block: Block, inference: Inference, rng: np.ndarray) -> float:
    """Read the document's next block, or the first of the next epoch; returns the learning rate or `FINISHED`."""
    state = inference.state
    total = (state[STOP] - state[BEGIN]) * inference.epochs
    while state[EPOCH] < inference.epochs:
        done = state[READ]
        read = fill_block(block, source, rng)
        # A block may read nothing and still have centres: the last words of the document waited for their contexts.
        if read > 0 or block.cursor[FIRST] < block.cursor[LAST]:
            state[READ] += read
            rate = inference.learning_rate * (1 - done / total)
            return rate if rate > inference.min_learning_rate else inference.min_learning_rate
        state[EPOCH] += 1
        rewind_document(block, state)
    return FINISHED


@inline
def rewind_document(block: Block, state: np.ndarray) -> None:
    """Move an emptied block to the start of the document."""
    block.cursor[:] = 0
    block.cursor[POSITION], block.cursor[END], block.cursor[LINE] = state[BEGIN], state[STOP], state[NEXT_LINE]
