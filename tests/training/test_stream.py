"""Shuffled sentences: each is read once an epoch, whole, in an order of its own, in bounded memory."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_helpers import block_source, line_bounds

from embeddings.kernels.block import FIRST, LAST, fill_block, new_block, rewind
from embeddings.training import stream


def shuffled_chunks(text, begin, end, order):
    """The chunks of a share in a random order."""
    return stream.TokenStream(text, lambda: None).shuffled_chunks(begin, end, order)


def shuffled_sentences(text, begin, end, seed):
    """The sentences of a share in shuffled order, each a tuple of words."""
    sentences = []
    for chunk, start, stop in shuffled_chunks(text, begin, end, np.random.default_rng(seed)):
        borders = [start, *(int(at) for at in chunk.lines if start < at < stop), stop]
        sentences += [tuple(chunk.ids[a:b].tolist()) for a, b in pairwise(borders) if a < b]
    return sentences


def sentences_in_order(lengths, begin, end):
    """The sentences of a share in order."""
    borders = [begin, *(int(at) for at in line_bounds(*lengths) if begin < at < end), end]
    return [tuple(range(a, b)) for a, b in pairwise(borders) if a < b]


@settings(deadline=None, max_examples=100)
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=60),
    share=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    segment=st.integers(1, 20),
    segments_per_chunk=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_every_sentence_of_a_share_occurs_once(lengths, share, segment, segments_per_chunk, seed):
    """All words differ; the ends of a share may be within a sentence."""
    count = sum(lengths)
    begin, end = (int(part * count) for part in share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SEGMENT", segment)
        patch.setattr(stream, "SEGMENTS_PER_CHUNK", segments_per_chunk)
        sentences = shuffled_sentences(
            block_source(range(count), line_bounds(*lengths), max(count, 1), shrink=False), begin, end, seed
        )
    assert sorted(sentences) == sentences_in_order(lengths, begin, end)


def test_each_epoch_has_another_order(monkeypatch):
    monkeypatch.setattr(stream, "SEGMENT", 64)
    text, rng = block_source(range(10_000), line_bounds(*[2] * 5000), 10_000, shrink=False), np.random.default_rng(1)
    orders = [[p.ids[p.lines[:-1]] for p, *_ in shuffled_chunks(text, 0, 10_000, rng)] for _ in range(2)]
    first, second = (np.concatenate(pieces) for pieces in orders)
    assert not np.array_equal(first, second)
    assert np.array_equal(np.sort(first), np.arange(0, 10_000, 2))
    assert abs(np.corrcoef(first, np.arange(5000))[0, 1]) < 0.2
    assert (np.diff(first) == 2).mean() < 0.01
    first_again = np.concatenate(
        [p.ids[p.lines[:-1]] for p, *_ in shuffled_chunks(text, 0, 10_000, np.random.default_rng(1))]
    )
    assert np.array_equal(first, first_again)


def test_chunks_are_bounded(monkeypatch):
    monkeypatch.setattr(stream, "SEGMENT", 100)
    lengths = [99, 1, 5000, 30, 70, 0, 0, 100] * 50
    text = block_source(range(sum(lengths)), line_bounds(*lengths), sum(lengths), shrink=False)
    for chunk, start, stop in shuffled_chunks(text, 0, sum(lengths), np.random.default_rng(1)):
        if chunk.ids is text.ids:
            assert stop - start == 5000
        else:
            assert len(chunk.ids) <= 2 * 100 * stream.SEGMENTS_PER_CHUNK
            assert (start, stop) == (0, len(chunk.ids))


def test_windows_do_not_cross_shuffled_sentences():
    text = block_source([0, 1] * 50 + [2, 3] * 50, line_bounds(*[2] * 100), 4, window=3, shrink=False)
    (chunk,) = shuffled_chunks(text, 0, 200, np.random.default_rng(1))
    block = new_block(3, 1)
    rewind(block, *chunk)
    assert fill_block(block, chunk.source, np.array([1, 0], np.uint64)) == 200
    places = range(block.cursor[FIRST], block.cursor[LAST])
    found = {(i - block.start[i], *block.words[block.start[i] : block.stop[i]].tolist()) for i in places}
    assert found == {(0, 0, 1), (1, 0, 1), (0, 2, 3), (1, 2, 3)}
