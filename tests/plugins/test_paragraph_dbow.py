"""Kernels of PV-DBOW against naive versions."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    BLOCK_TOLERANCE,
    check_gradients,
    positions_of,
    small_table,
    tallying_buffers,
)
from paragraph_blocks import DOCUMENTS, WORDS, dbow_tables, filled_block, groups_of, random_tables, small_block

from embeddings.kernels.block import FIRST, LAST
from embeddings.kernels.document_kernels import learn_block
from embeddings.kernels.loss_tally import EXAMPLES, LOSS
from embeddings.kernels.random_numbers import shared_noise_count
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import paragraph_dbow as dbow


@pytest.mark.parametrize("negatives", [1, 5, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dbow_block_equals_the_twins(dtype, negatives):
    documents, output = random_tables(dtype, DOCUMENTS, WORDS)
    noise = shared_noise_count(negatives)
    block, buffers = filled_block(noise), tallying_buffers(1, 4 * (1 + noise), documents.width, dtype)
    learn_block(block, dbow_tables(documents, output, output, negatives), buffers, 0.05)
    groups = groups_of(block, noise)
    loss, pairs = naive.dbow(documents.twin, output.twin, groups, 0.05, negatives=negatives)
    documents.check(BLOCK_TOLERANCE[dtype])
    output.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs == block.cursor[LAST] - block.cursor[FIRST] > 200
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=BLOCK_TOLERANCE[dtype])
    assert {len(words) for _, words, _ in groups} == {1, 2, 4}


@pytest.mark.slow
@pytest.mark.parametrize("negatives", [5, 12])
def test_dbow_with_words_is_dbow_followed_by_skipgram(negatives):
    documents, words, output = random_tables(np.float64, DOCUMENTS, WORDS, WORDS)
    noise = shared_noise_count(negatives)
    block = filled_block(negatives)
    buffers = tallying_buffers(10, max(4 * (1 + noise), 1 + negatives), documents.width, np.float64)
    dbow.learn_documents_and_words(block, dbow_tables(documents, words, output, negatives), buffers, 0.05)
    naive.dbow(documents.twin, output.twin, groups_of(block, noise), 0.05, negatives=negatives)
    windows = [
        (line[i], [*line[start:i], *line[i + 1 : stop]], samples)
        for i, line, start, stop, samples in positions_of(block)
    ]
    naive.skipgram(words.twin, output.twin, windows, 0.05)
    for table in (documents, words, output):
        table.check(1e-11)


def test_dbow_predicts_sampled_words():
    documents, output = random_tables(np.float64, DOCUMENTS, WORDS)
    noise = shared_noise_count(5)
    block, buffers = filled_block(noise), tallying_buffers(1, 4 * (1 + noise), documents.width, np.float64)
    sampled = np.random.default_rng(1).integers(0, WORDS, len(block.words)).astype(np.int32)
    learn_block(block._replace(inputs=sampled), dbow_tables(documents, output, output, 5), buffers, 0.05)
    groups = groups_of(block._replace(words=sampled), noise)
    naive.dbow(documents.twin, output.twin, groups, 0.05, negatives=5)
    documents.check(1e-11)
    output.check(1e-11)


def test_dbow_steps_are_gradient_steps():
    """One group with a repeated word, a negative sample that is a word of it, and a repeated one."""
    rng = np.random.default_rng(3)
    documents, output = small_table(rng, 3), small_table(rng, 9)
    noise = [[4, 4, 7], [2, 8, 8], [3, 1, 0], [4, 6, 2]]
    block = small_block(3, [4, 2, 4, 1], 0, 4, noise, 2)
    group = [(2, [4, 2, 4, 1], [word for row in noise for word in row])]
    check_gradients(
        learn_block,
        block,
        dbow.WordGroups(documents, output, NegativeSamples(output, 5), 3, 5),
        new_step_buffers(1, 16, documents.shape[1], dtype=np.float64),
        lambda: naive.dbow(documents, output, group, 0, negatives=5)[0],
        (documents, output),
    )
