"""Row caches: the same steps as without, and no update of another thread is lost."""

from copy import deepcopy

import numpy as np
import pytest
from kernel_helpers import (
    DIM,
    VOCABULARY,
    block_and_tables,
    cached_row_view,
    rows,
    tallying_buffers,
)
from paragraph_blocks import DOCUMENTS, WORDS, dbow_tables, filled_block, random_tables

from embeddings.kernels.document_kernels import learn_block
from embeddings.kernels.random_numbers import shared_noise_count
from embeddings.kernels.row_cache import MAX_CACHED_ROWS, SYNC_INTERVAL, cache_of, flush, new_row_cache
from embeddings.kernels.step_buffers import new_step_buffers, with_frozen_rows, with_row_caches
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import cbow, continuous_window
from embeddings.plugins import paragraph_dbow as dbow
from embeddings.plugins.paragraph_dm import CombinedContexts, ConcatenatedBatches


def concatenated_output(slots):
    return rows(np.random.default_rng(1), VOCABULARY * slots, DIM, np.float64, scale=0.4).table.reshape(VOCABULARY, -1)


def cbow_case():
    block, words, output = block_and_tables(np.float64, 5)
    buffers = tallying_buffers(1, 6, words.width, np.float64, contexts=10, rows=2)
    buffers = with_row_caches(buffers, words.table, output.table)
    return (
        cbow.learn_block,
        block,
        cbow.CBOWOperands(words.table, NegativeSamples(output.table, 5), True, False),
        buffers,
    )


def continuous_window_case():
    block, words, _ = block_and_tables(np.float64, 5, windows_per_draw=4)
    output = concatenated_output(10)
    buffers = new_window_buffers(4, 5, words.width, slots=10, dtype=np.float64)
    buffers = with_row_caches(buffers, words.table, output)
    operands = continuous_window.ContinuousWindowOperands(words.table, NegativeSamples(output, 5), 5, 4)
    return continuous_window.learn_block, block, operands, buffers


def dm_case():
    documents, words, output = random_tables(np.float64, DOCUMENTS, WORDS, WORDS)
    buffers = tallying_buffers(1, 6, words.width, np.float64, contexts=11, rows=2)
    buffers = with_row_caches(buffers, words.table, output.table)
    operands = CombinedContexts(documents.table, words.table, NegativeSamples(output.table, 5), True)
    return learn_block, filled_block(5), operands, buffers


def dm_concat_case():
    documents, words, nothing = random_tables(np.float64, DOCUMENTS, WORDS, 1)
    output = concatenated_output(11)
    buffers = new_window_buffers(4, 3, words.width, slots=11, weight=5 / 3, dtype=np.float64)
    buffers = with_row_caches(buffers, words.table, output)
    operands = ConcatenatedBatches(documents.table, words.table, nothing.table, NegativeSamples(output, 3), 5, 4)
    return learn_block, filled_block(3, windows_per_draw=4), operands, buffers


def dbow_case(*, train_words=False):
    documents, words, output = random_tables(np.float64, DOCUMENTS, WORDS, WORDS)
    targets = 4 * (1 + shared_noise_count(5))
    buffers = tallying_buffers(10, targets, words.width, np.float64, contexts=10, rows=2)
    buffers = with_row_caches(buffers, None, output.table)
    learn = dbow.learn_documents_and_words if train_words else learn_block
    return learn, filled_block(5), dbow_tables(documents, words if train_words else output, output, 5), buffers


def dbow_with_words_case():
    return dbow_case(train_words=True)


CASES = [cbow_case, continuous_window_case, dm_case, dm_concat_case, dbow_case, dbow_with_words_case]


def arrays_of(operands):
    """The tables in operands and in the objective among them, without empty ones."""
    for value in operands:
        if isinstance(value, tuple):
            yield from arrays_of(value)
        elif isinstance(value, np.ndarray) and len(value):
            yield value


@pytest.mark.parametrize("case", CASES)
def test_steps_are_the_same_with_and_without_cache(case):
    """In a single thread, although cached rows are synchronised many times."""
    learn, block, cached, buffers = case()
    before, plain = deepcopy(cached), deepcopy(cached)
    empty = new_row_cache(0, buffers.hidden_rows.shape[1], np.float64)
    assert len(buffers.output_cache.uses) == WORDS
    learn(block, plain, buffers._replace(input_cache=empty, output_cache=empty, tally=buffers.tally.copy()), 0.05)
    learn(block, cached, buffers, 0.05)
    flush(buffers.input_cache)
    flush(buffers.output_cache)
    for table, initial, expected in zip(arrays_of(cached), arrays_of(before), arrays_of(plain), strict=True):
        assert np.abs(table - initial).max() > 1e-3
        assert table == pytest.approx(expected, abs=1e-12)
    for cache in (buffers.input_cache, buffers.output_cache):
        assert not cache.uses.any()
        assert np.all(cache.rows[:-1:2] == cache.rows[1::2])


def test_updates_of_other_threads_are_not_lost():
    table = np.arange(48.0).reshape(3, 16)
    one, other = cache_of(table[:2]), cache_of(table[:2])
    first = cached_row_view(table, one, 1)
    second = cached_row_view(table, other, 1)
    first[:] += 1
    table[1] += 10  # a thread without cache
    second[:] += 100
    flush(one)
    assert table[1].tolist() == (np.arange(16.0, 32) + 11).tolist()
    flush(other)
    assert table[1].tolist() == (np.arange(16.0, 32) + 111).tolist()
    assert table[[0, 2]].tolist() == np.arange(48.0).reshape(3, 16)[[0, 2]].tolist()


def test_cached_rows_are_synchronised_after_some_uses():
    table = np.zeros((2, 16))
    cache = cache_of(table[:1])
    for use in range(1, 2 * SYNC_INTERVAL + 1):
        row = cached_row_view(table, cache, 0)
        if use in (1, SYNC_INTERVAL + 1):
            assert row[0] == table[0, 0]
        row[:] += 1
        table[0] += 0.5
    assert table[0, 0] == 1.5 * 2 * SYNC_INTERVAL - SYNC_INTERVAL  # the last uses are not flushed yet
    assert cached_row_view(table, cache, 1).ctypes.data == table[1].ctypes.data


def test_frozen_tables_are_not_cached():
    words, output = np.zeros((50, 16), np.float32), np.zeros((20, 32), np.float32)
    buffers = new_step_buffers(1, 6, 16, rows=2)
    cached = with_row_caches(buffers, words, output)
    assert cached.input_cache.rows.shape == (2 * MAX_CACHED_ROWS, 16)
    assert cached.output_cache.rows.shape == (40, 32)
    assert len(with_row_caches(buffers, None, output).input_cache.uses) == 0
    frozen = with_frozen_rows(cached, words, np.ones(50, np.bool_))
    assert len(frozen.input_cache.uses) == len(frozen.output_cache.uses) == 0
