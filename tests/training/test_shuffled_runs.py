"""Shuffled sentences: each is read once an epoch, whole, in an order of its own, in bounded memory."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import embeddings as em
from embeddings.kernels.block import FIRST, LAST, BlockSource, fill_block, keep_thresholds, new_block, rewind
from embeddings.kernels.noise_sampling import alias_table
from embeddings.plugins import skipgram as plugin
from embeddings.training import shuffle
from embeddings.training.parameters import zero_rows
from embeddings.training.shuffle import shuffled_chunks
from embeddings.training.task import prepare


def lines_of(*lengths):
    """Borders of lines of these lengths."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def source(ids, lines, vocabulary, window=5):
    """What `fill` reads; every word is kept."""
    keep, noise = keep_thresholds(np.ones(vocabulary)), alias_table(np.ones(vocabulary))
    return BlockSource(np.asarray(ids, np.int32), lines, keep, noise, window, False, 1)


def read(text, begin, end, seed):
    """The sentences of a share as they come, each a tuple of words."""
    found = []
    for piece, start, stop in shuffled_chunks(text, begin, end, np.random.default_rng(seed)):
        borders = [start, *(int(at) for at in piece.lines if start < at < stop), stop]
        found += [tuple(piece.ids[a:b].tolist()) for a, b in pairwise(borders) if a < b]
    return found


def cut(lengths, begin, end):
    """The sentences of a share in their order."""
    borders = [begin, *(int(at) for at in lines_of(*lengths) if begin < at < end), end]
    return [tuple(range(a, b)) for a, b in pairwise(borders) if a < b]


@settings(deadline=None, max_examples=200)
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=60),
    share=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    run=st.integers(1, 20),
    together=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_every_sentence_of_a_share_comes_once_and_whole(lengths, share, run, together, seed):
    """Words are all different here; the ends of a share may lie within a sentence."""
    count = sum(lengths)
    begin, end = (int(part * count) for part in share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "RUN", run)
        patch.setattr(shuffle, "TOGETHER", together)
        found = read(source(range(count), lines_of(*lengths), max(count, 1)), begin, end, seed)
    assert sorted(found) == cut(lengths, begin, end)


def test_orders_differ_from_the_corpus_and_from_epoch_to_epoch_and_mix_far(monkeypatch):
    monkeypatch.setattr(shuffle, "RUN", 64)
    text, rng = source(range(10_000), lines_of(*[2] * 5000), 10_000), np.random.default_rng(1)
    orders = [[p.ids[p.lines[:-1]] for p, *_ in shuffled_chunks(text, 0, 10_000, rng)] for _ in range(2)]
    first, second = (np.concatenate(pieces) for pieces in orders)
    assert not np.array_equal(first, second)
    assert np.array_equal(np.sort(first), np.arange(0, 10_000, 2))
    assert abs(np.corrcoef(first, np.arange(5000))[0, 1]) < 0.2
    assert (np.diff(first) == 2).mean() < 0.01
    first_again = np.concatenate([p.ids[p.lines[:-1]] for p, *_ in shuffled_chunks(text, 0, 10_000, np.random.default_rng(1))])
    assert np.array_equal(first, first_again)


def test_memory_is_that_of_some_runs(monkeypatch):
    monkeypatch.setattr(shuffle, "RUN", 100)
    lengths = [99, 1, 5000, 30, 70, 0, 0, 100] * 50
    text = source(range(sum(lengths)), lines_of(*lengths), sum(lengths))
    for piece, start, stop in shuffled_chunks(text, 0, sum(lengths), np.random.default_rng(1)):
        if piece.ids is text.ids:
            assert stop - start == 5000
        else:
            assert len(piece.ids) <= 2 * 100 * shuffle.TOGETHER
            assert (start, stop) == (0, len(piece.ids))


def test_windows_do_not_cross_sentences_that_are_mixed():
    text = source([0, 1] * 50 + [2, 3] * 50, lines_of(*[2] * 100), 4, window=3)
    (piece,) = shuffled_chunks(text, 0, 200, np.random.default_rng(1))
    block = new_block(3, 1)
    rewind(block, *piece)
    assert fill_block(block, piece.source, np.array([1, 0], np.uint64)) == 200
    places = range(block.cursor[FIRST], block.cursor[LAST])
    found = {(i - block.start[i], *block.words[block.start[i] : block.stop[i]].tolist()) for i in places}
    assert found == {(0, 0, 1), (1, 0, 1), (0, 2, 3), (1, 2, 3)}


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_word_is_read_once_in_every_epoch(threads, monkeypatch):
    monkeypatch.setattr(shuffle, "RUN", 500)
    rng = np.random.default_rng(threads)
    lines = [[f"w{i}" for i in rng.integers(0, 50, n)] for n in (30_000, 1, 7, 9_000, 2, 800, *range(90))]
    made = em.SkipGram(dim=8, min_count=1, subsample=0, epochs=3, window=4, shuffle=True)
    task = prepare("skipgram", made, em.Corpus(lines), threads=threads)
    seen = []

    def learn_block(block, tables, buffers, rate):
        seen.append(block.words[block.cursor[FIRST] : block.cursor[LAST]].copy())

    tables = plugin.Tables(words=zero_rows(len(task.vocabulary), 8), output=zero_rows(len(task.vocabulary), 8))
    model = task.run(learn_block, tables, lambda: plugin.new_bundle(8, 6, 16))
    counts = np.bincount(np.concatenate(seen), minlength=len(task.vocabulary))
    assert counts.tolist() == (3 * task.vocabulary.counts).tolist()
    assert model.record["words"] == 3 * len(task.encoded.ids)


def test_one_thread_and_a_seed_settle_every_byte_and_the_order_matters():
    lines = [[f"w{i}" for i in np.random.default_rng(n).integers(0, 20, 9)] for n in range(200)]

    def learned(**options):
        return em.train("skipgram", lines, dim=8, min_count=1, epochs=2, **options).vectors.matrix.tobytes()

    assert learned(threads=1, shuffle=True) == learned(threads=1, shuffle=True)
    assert learned(threads=1, shuffle=True) != learned(threads=1)
    assert learned(threads=1, shuffle=True) != learned(threads=1, shuffle=True, seed=2)
