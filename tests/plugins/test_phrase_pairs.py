"""Examples of phrases, and their division into parts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from embeddings.plugins.tensor_indexing.phrase_pairs import DEV, TEST, TRAIN, split


@given(st.lists(st.integers(0, 40), max_size=80), st.sampled_from([0.05, 0.1, 0.3, 0.4]), st.integers(0, 1000))
def test_all_examples_of_a_phrase_are_in_one_part(phrases, share, seed):
    rows = np.array(phrases, np.int64)
    parts = split(rows, share, seed)
    of = {phrase: set(parts[rows == phrase].tolist()) for phrase in phrases}
    assert all(len(found) == 1 for found in of.values())
    each = round(len(of) * share)
    sizes = [sum(found == {one} for found in of.values()) for one in (TRAIN, DEV, TEST)]
    assert sizes == [len(of) - 2 * each, each, each]
    np.testing.assert_array_equal(parts, split(rows, share, seed))
    shuffled = np.random.default_rng(0).permutation(len(rows))
    np.testing.assert_array_equal(parts[shuffled], split(rows[shuffled], share, seed))


def test_the_seed_changes_the_split():
    rows = np.arange(200)
    assert (split(rows, 0.1, 1) != split(rows, 0.1, 2)).any()
