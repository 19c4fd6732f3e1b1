"""Ids are replaced in place by entries of a table."""

import numpy as np

from embeddings.kernels.id_lookup import look_up_ids


def test_ids_become_entries_of_the_table():
    rng = np.random.default_rng(1)
    table, ids = rng.permutation(50).astype(np.int32), rng.integers(0, 50, 1000, dtype=np.int32)
    expected = table[ids]
    found = look_up_ids(table, ids)
    assert found is ids
    np.testing.assert_array_equal(found, expected)
