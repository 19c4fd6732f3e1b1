"""Blocks and tables for the kernels of paragraph vectors."""

import numpy as np
from kernel_helpers import (
    DIM,
    block_source,
    line_bounds,
    positions_of,
    rows,
)

from embeddings.kernels.block import FIRST, LAST, fill_block, new_block, rewind
from embeddings.kernels.random_numbers import shared_noise_count
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import paragraph_dbow as dbow

WORDS, DOCUMENTS = 20, 4
LENGTHS = (40, 1, 0, 2, 100, 157)
ROWS = (3, 0, 1, 2, 3, 1)  # two tags occur twice


def filled_block(noise, **settings):
    """A block of all documents."""
    ids = np.random.default_rng(5).integers(0, WORDS, sum(LENGTHS))
    keep, weights = np.linspace(0.5, 1, WORDS), np.arange(1.0, WORDS + 1)
    source = block_source(ids, line_bounds(*LENGTHS), WORDS, keep=keep, weights=weights, **settings)
    source, block = source._replace(document_rows=np.array(ROWS)), new_block(5, noise, 400, documents=True)
    rewind(block, source, 0, sum(LENGTHS))
    fill_block(block, source, np.array([7, 0], np.uint64))
    return block


def random_tables(dtype, *counts):
    rng = np.random.default_rng(3)
    return [rows(rng, count, DIM, dtype, scale=0.4) for count in counts]


def groups_of(block, noise):
    """(document, words, noise) of the groups of a block."""
    groups, i = [], int(block.cursor[FIRST])
    while i < block.cursor[LAST]:
        document, p = int(block.documents[i]), 1
        while p < dbow.GROUP_SIZE and i + p < block.cursor[LAST] and block.documents[i + p] == document:
            p += 1
        samples = [int(word) for k in range(i, i + p) for word in block.noise[k, :noise]]
        groups.append((document, block.words[i : i + p].tolist(), samples))
        i += p
    return groups


def positions_with_documents(block):
    """(document, position) of each centre of a block."""
    return [(int(block.documents[position[0]]), position) for position in positions_of(block)]


def dbow_tables(documents, words, output, negatives):
    return dbow.WordGroups(
        documents.table,
        words.table,
        NegativeSamples(output.table, negatives),
        shared_noise_count(negatives),
        negatives,
    )


def small_block(negatives, line, first, last, noise, documents):
    """Centres first to last of one line, with the whole line as window."""
    block = new_block(len(line), negatives, documents=True)
    block.words[: len(line)] = line
    block.start[:], block.stop[:] = 0, len(line)
    block.noise[first:last] = noise
    block.documents[first:last] = documents
    block.cursor[FIRST], block.cursor[LAST] = first, last
    return block
