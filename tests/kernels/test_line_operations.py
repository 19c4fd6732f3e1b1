"""Kernels on lines touch nothing outside of their arrays, whatever the boundaries are.

The arrays are parts of larger ones, so an access outside of them reads or overwrites a known number.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_helpers import MARGIN, OUTSIDE, block_source, within

from embeddings.kernels.block import fill_block, new_block, rewind
from embeddings.kernels.line_operations import gather_lines, look_up_ids, mark_documents_with_words

SIZE = 12
BORDERS = st.lists(st.integers(-MARGIN, SIZE + MARGIN), min_size=1, max_size=6)


@given(BORDERS, BORDERS, st.integers(0, 20))
def test_gathering_stays_within_its_arrays(starts, stops, room):
    size = min(len(starts), len(stops))
    ids, _ = within(range(SIZE), np.int32)
    output, whole = within(np.full(room, -1), np.int32)
    lines, all_lines = within(np.zeros(size + 1))
    gather_lines(ids, np.array(starts[:size]), np.array(stops[:size]), output, lines)
    expected = [list(range(SIZE))[max(a, 0) : max(b, 0)] for a, b in zip(starts[:size], stops[:size], strict=True)]
    flat = [number for part in expected for number in part][:room]
    assert output.tolist() == flat + [-1] * (room - len(flat))
    assert lines.tolist() == [min(sum(map(len, expected[:i])), room) for i in range(size + 1)]
    for larger in (whole, all_lines):
        assert np.all(larger[:MARGIN] == OUTSIDE)
        assert np.all(larger[-MARGIN:] == OUTSIDE)


@given(BORDERS)
def test_documents_are_marked_by_their_own_words(lines):
    ids, larger = within([9] * SIZE, np.int32)  # 9 is not in the vocabulary
    larger[larger == OUTSIDE] = 1
    marks = np.zeros(len(lines), np.bool_)
    mark_documents_with_words(ids, np.array(lines), np.arange(len(lines) - 1), 5, marks)
    assert not marks.any()


def test_documents_of_words_beyond_the_last_line_exist():
    borders, _ = within([0, 4, 4])
    rows, _ = within([5, 6])
    source = block_source(range(SIZE), borders, SIZE)._replace(document_rows=rows)
    block = new_block(source.window, 2, documents=True)
    rewind(block, source, 0, SIZE)
    fill_block(block, source, np.array([1, 0], np.uint64))
    assert set(block.documents[:SIZE].tolist()) == {5, 6}


def test_ids_become_entries_of_the_table():
    rng = np.random.default_rng(1)
    table, ids = rng.permutation(50).astype(np.int32), rng.integers(0, 50, 1000, dtype=np.int32)
    expected = table[ids]
    found = look_up_ids(table, ids)
    assert found is ids
    np.testing.assert_array_equal(found, expected)
