"""Rows that a thread keeps for itself: the same steps, and nothing of what others did is undone."""

import numpy as np
import pytest
from compiled import give_back_rows, kept_row
from test_models import block_and_tables
from test_models import bundle_for as plain_bundle
from test_paragraph_kernels import CONCAT, DOCUMENTS, MEAN, WORDS, bundle_for, dbow_tables, filled, tables
from test_places import wide

from embeddings.kernels.row_cache import SYNC_INTERVAL
from embeddings.kernels.row_cache import WORDS as KEPT
from embeddings.kernels.step_buffers import with_frozen_rows, with_row_cache, new_row_cache, new_step_buffers
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.plugins import cbow, continuous_window
from embeddings.plugins import paragraph_dbow as dbow
from embeddings.plugins import paragraph_dm as dm
from embeddings.training.parameters import copy_tables, parameter_arrays


def of_cbow():
    block, words, output = block_and_tables(np.float64, 5)
    buffers = with_row_cache(plain_bundle(1, 5, words), 2, inputs=words.table, outputs=output.table)
    return cbow.learn_block, block, cbow.Tables(words.table, output.table, True, False), buffers


def of_continuous_window():
    block, words, _ = block_and_tables(np.float64, 5, windows_per_draw=4)
    table = wide(np.random.default_rng(1), 10, np.float64)[0].table.reshape(20, -1)
    buffers = new_window_buffers(4, 5, words.width, slots=10, dtype=np.float64)
    buffers = with_row_cache(buffers, 2, inputs=words.table, outputs=table)
    return continuous_window.learn_block, block, continuous_window.Tables(words.table, table, 5, 4), buffers


def of_dm():
    documents, words, output = tables(np.float64, DOCUMENTS, WORDS, WORDS)
    buffers = bundle_for(6, words.width, np.float64, contexts=11)
    buffers = with_row_cache(buffers, 2, inputs=words.table, outputs=output.table)
    return dm.learn_block, filled(5), dm.Tables(documents.table, words.table, output.table, MEAN, 1), buffers


def of_dm_side_by_side():
    documents, words = tables(np.float64, DOCUMENTS, WORDS + 1)
    table = wide(np.random.default_rng(1), 11, np.float64)[0].table.reshape(WORDS, -1)
    buffers = new_window_buffers(4, 3, words.width, slots=11, weight=5 / 3, dtype=np.float64)
    buffers = with_row_cache(buffers, 2, inputs=words.table, outputs=table)
    made = dm.Tables(documents.table, words.table, table, CONCAT, 4)
    return dm.learn_concatenated, filled(3, windows_per_draw=4), made, buffers


def of_dbow(*, both=False):
    documents, words, output = tables(np.float64, DOCUMENTS, WORDS, WORDS)
    noise = dbow.noise_words(5)
    buffers = bundle_for(4 * (1 + noise), words.width, np.float64, inputs=10, contexts=10)
    buffers = with_row_cache(buffers, 2, outputs=output.table)
    learn = dbow.learn_both if both else dbow.learn_block
    return learn, filled(5), dbow_tables(documents, words if both else output, output, 5), buffers


def of_dbow_and_words():
    return of_dbow(both=True)


@pytest.mark.parametrize("made", [of_cbow, of_continuous_window, of_dm, of_dm_side_by_side, of_dbow, of_dbow_and_words])
def test_steps_are_the_same(made):
    """By a thread that nobody disturbs, whose rows were given back and read again many times."""
    learn, block, its, buffers = made()
    begun, shared = copy_tables(its), copy_tables(its)
    none = new_row_cache(0, buffers.hidden_rows.shape[1], np.float64)
    assert len(buffers.output_cache.uses) == WORDS
    learn(block, shared, buffers._replace(inputs=none, outputs=none, tally=buffers.tally.copy()), 0.05)
    learn(block, its, buffers, 0.05)
    for name, table in parameter_arrays(its).items():
        assert np.abs(table - getattr(begun, name)).max() > 1e-3
        assert table == pytest.approx(getattr(shared, name), abs=1e-12)
    for room in (buffers.input_cache, buffers.output_cache):
        assert not room.uses.any()
        assert np.all(room.rows[:-1:2] == room.rows[1::2])


def test_what_others_did_stays():
    table = np.arange(48.0).reshape(3, 16)
    one, other = (new_row_cache(2, 16, np.float64) for _ in range(2))
    first = kept_row(table, one, 1)
    second = kept_row(table, other, 1)
    first[:] += 1
    table[1] += 10  # who keeps no row
    second[:] += 100
    give_back_rows(table, one)
    assert table[1].tolist() == (np.arange(16.0, 32) + 11).tolist()
    give_back_rows(table, other)
    assert table[1].tolist() == (np.arange(16.0, 32) + 111).tolist()
    assert table[[0, 2]].tolist() == np.arange(48.0).reshape(3, 16)[[0, 2]].tolist()


def test_after_some_uses_it_goes_on_with_what_stands_there():
    table, room = np.zeros((2, 16)), new_row_cache(1, 16, np.float64)
    for use in range(1, 2 * SYNC_INTERVAL + 1):
        row = kept_row(table, room, 0)
        if use in (1, SYNC_INTERVAL + 1):
            assert row[0] == table[0, 0]
        row[:] += 1
        table[0] += 0.5
    assert table[0, 0] == 1.5 * 2 * SYNC_INTERVAL - SYNC_INTERVAL  # the last uses are not given yet
    assert kept_row(table, room, 1).ctypes.data == table[1].ctypes.data


def test_one_thread_keeps_none_and_frozen_ones_neither():
    words, output = np.zeros((50, 16), np.float32), np.zeros((20, 32), np.float32)
    made = new_step_buffers(1, 6, 16, rows=2)
    assert with_row_cache(made, 1, inputs=words, outputs=output) is made
    many = with_row_cache(made, 2, inputs=words, outputs=output)
    assert many.inputs.rows.shape == (2 * KEPT, 16)
    assert many.outputs.rows.shape == (40, 32)
    assert len(with_row_cache(made, 2, outputs=output).inputs.uses) == 0
    still = with_frozen_rows(many, words, np.ones(50, np.bool_))
    assert len(still.inputs.uses) == len(still.outputs.uses) == 0
