"""Batches of sentences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from embeddings.kernels.block import LAST
from embeddings.kernels.sentence_block import new_sentence_block
from embeddings.plugins.neural.trained_networks import batches, groups_of_similar_length, pad, reading_order


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 100))
def test_groups_hold_each_sentence_once_and_are_small(lengths, most):
    groups = list(groups_of_similar_length(np.array(lengths, np.int64), most))
    assert sorted(np.concatenate(groups).tolist() if groups else []) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[row] for row in group) <= most


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=7), min_size=1, max_size=6))
def test_readers_see_the_words_before_and_after_each_word(sentences):
    ids, lengths = pad([np.array(one) for one in sentences])
    forward, backward, known = reading_order(ids, lengths, 99)
    for row, sentence in enumerate(sentences):
        for place in range(len(sentence)):
            assert forward[row, : place + 1].tolist() == [99, *sentence[:place]]
            assert backward[row, : known[row, place] + 1].tolist() == [99, *sentence[:place:-1]]


def test_batches_hold_all_words_of_a_block():
    block, lengths = new_sentence_block(40, 0), [3, 9, 1, 4, 4, 2]
    block.starts[1 : len(lengths) + 1] = np.cumsum(lengths)
    block.cursor[LAST] = len(lengths)
    seen = []
    for batch, sizes in batches(block, 10):
        for places, length in zip(batch, sizes, strict=True):
            seen += places[:length].tolist()
    assert sorted(seen) == list(range(sum(lengths)))
