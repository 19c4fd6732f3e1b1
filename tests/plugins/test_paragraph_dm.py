"""Kernels of PV-DM: blocks against naive versions, gradient steps, documents in blocks."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    BLOCK_TOLERANCE,
    block_source,
    check_gradients,
    line_bounds,
    small_table,
    tallying_buffers,
)
from paragraph_blocks import (
    DOCUMENTS,
    LENGTHS,
    WORDS,
    filled_block,
    positions_with_documents,
    random_tables,
    small_block,
)

from embeddings.kernels.block import FIRST, LAST, fill_block, new_block, rewind
from embeddings.kernels.document_kernels import learn_block
from embeddings.kernels.line_operations import mark_documents_with_words
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, UNTIL_SAMPLE
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import paragraph_dm as dm
from embeddings.plugins.paragraph_dbow import fill_sampled_block
from embeddings.plugins.paragraph_dm import ConcatenatedBatches


@pytest.mark.parametrize("negatives", [1, 5, 12])
@pytest.mark.parametrize("is_mean", [True, False], ids=["mean", "sum"])
@pytest.mark.parametrize("past_only", [False, True], ids=["both", "past"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dm_block_equals_the_twins(dtype, past_only, is_mean, negatives):
    documents, words, output = random_tables(dtype, DOCUMENTS, WORDS, WORDS)
    block = filled_block(negatives)
    buffers = tallying_buffers(1, 1 + negatives, output.width, dtype, contexts=11, rows=2)
    positions = positions_with_documents(block)
    if past_only:
        positions = [(d, (i, line, start, i + 1, noise)) for d, (i, line, start, _, noise) in positions]
    objective = NegativeSamples(output.table, negatives)
    operands = dm.CombinedContexts(documents.table, words.table, objective, is_mean, past_only)
    learn_block(block, operands, buffers, 0.05)
    settings = {"mean": is_mean}
    loss, pairs = naive.dm(documents.twin, words.twin, output.twin, positions, 0.05, **settings)
    for table in (documents, words, output):
        table.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs == block.cursor[LAST] - block.cursor[FIRST] > 200
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=BLOCK_TOLERANCE[dtype])


@pytest.mark.parametrize("windows_per_draw", [1, 8])
@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
def test_dm_block_of_concatenated_windows_equals_the_twins(dtype, negatives, windows_per_draw):
    """At a low rate: few words are in many windows at once, and large vectors amplify float32 errors."""
    documents, words, output = random_tables(dtype, DOCUMENTS, WORDS + 1, WORDS * 11)
    table, twin = output.table.reshape(WORDS, -1), output.twin.reshape(WORDS, -1)
    block = filled_block(negatives, windows_per_draw=windows_per_draw)
    weight = 5 / 3 if windows_per_draw > 1 else 1.0
    buffers = new_window_buffers(windows_per_draw, negatives, words.width, slots=11, weight=weight, dtype=dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    tables = ConcatenatedBatches(
        documents.table, words.table[:-1], words.table[-1:], NegativeSamples(table, negatives), 5, windows_per_draw
    )
    learn_block(block, tables, buffers, 0.01)
    settings = {"window": 5, "windows_per_draw": windows_per_draw, "weight": weight}
    positions = positions_with_documents(block)
    loss, pairs = naive.dm_concat(documents.twin, words.twin, twin, positions, 0.01, **settings)
    for table in (documents, words, output):
        table.check(5 * BLOCK_TOLERANCE[dtype])  # one float32 step for eight windows
    assert buffers.tally[EXAMPLES] == pairs == block.cursor[LAST] - block.cursor[FIRST] > 200
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=5 * BLOCK_TOLERANCE[dtype])


def test_sampled_words_are_drawn_from_windows():
    ids = np.arange(60)
    source = block_source(ids, line_bounds(30, 30), 60, weights=np.ones(60), window=4)
    source = source._replace(document_rows=np.array([0, 1]))
    block, rng = new_block(4, 1, 400, documents=True), np.array([7, 0], np.uint64)
    block = block._replace(inputs=np.zeros_like(block.words))
    distances = []
    for _ in range(300):
        rewind(block, source, 0, 60)
        assert fill_sampled_block(block, source, rng) == 60
        drawn = block.inputs[:60]
        starts, stops = block.start[:60], block.stop[:60]
        assert ((drawn >= starts) & (drawn < stops) & (drawn // 30 == ids // 30)).all()
        distances += [drawn[15] - 15]
    counts = np.bincount(np.array(distances) + 4, minlength=9)
    expected = [sum((abs(d) <= reach) / (2 * reach + 1) for reach in range(1, 5)) / 4 for d in range(-4, 5)]
    np.testing.assert_allclose(counts / 300, expected, atol=0.09)


@pytest.mark.parametrize("is_concat", [False, True], ids=["sum", "concat"])
def test_dm_steps_are_gradient_steps(is_concat):
    rng = np.random.default_rng(3)
    documents, words = small_table(rng, 3), small_table(rng, 9 + is_concat)
    output = small_table(rng, 9 * (7 if is_concat else 1)).reshape(9, -1)
    block = small_block(4, [1, 5, 3, 5], 2, 3, [[1, 3, 7, 7]], 1)
    block.stop[2] = 4
    if is_concat:
        buffers = new_window_buffers(1, 4, words.shape[1], slots=7, dtype=np.float64)
    else:
        buffers = new_step_buffers(1, 5, output.shape[1], contexts=7, rows=2, dtype=np.float64)
    positions = positions_with_documents(block)
    objective = NegativeSamples(output, block.noise.shape[1])
    if is_concat:
        operands = ConcatenatedBatches(documents, words[:9], words[9:], objective, 3)
    else:
        operands = dm.CombinedContexts(documents, words, objective, False)

    def loss():
        if is_concat:
            return naive.dm_concat(documents, words, output, positions, 0, window=3, windows_per_draw=1)[0]
        return naive.dm(documents, words, output, positions, 0, mean=False)[0]

    check_gradients(
        learn_block,
        block,
        operands,
        buffers,
        loss,
        (documents, words) if is_concat else (documents, words, output),
    )


@pytest.mark.parametrize("size", [23, 60, 400])
def test_each_centre_has_its_document(size):
    """Document d consists of the word d; blocks cut documents, and shares start anywhere."""
    ids = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    source = block_source(ids, line_bounds(*LENGTHS), len(LENGTHS))._replace(document_rows=np.array([5, 0, 4, 3, 2, 5]))
    for begin in (0, 39, 40, 41, 50, 142, 143, 299):
        block, rng, seen = new_block(5, 2, size, documents=True), np.array([1, 0], np.uint64), 0
        rewind(block, source, begin, sum(LENGTHS))
        while fill_block(block, source, rng) or block.cursor[FIRST] < block.cursor[LAST]:
            centres = slice(block.cursor[FIRST], block.cursor[LAST])
            assert block.documents[centres].tolist() == source.document_rows[block.words[centres]].tolist()
            seen += centres.stop - centres.start
        assert seen == sum(LENGTHS) - begin


def test_documents_with_a_known_word_are_marked():
    ids, has_words = np.array([9, 1, 9, 9, 2]), np.zeros(4, np.bool_)
    mark_documents_with_words(ids, np.array([0, 2, 2, 4, 5]), np.array([3, 2, 1, 0]), 3, has_words)
    assert has_words.tolist() == [True, False, False, True]
