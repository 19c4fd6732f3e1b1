"""Where n-grams meet: blocks of the lattice, and sembei's steps on them, against their twins."""

from collections import Counter
from itertools import chain, pairwise

import naive
import numpy as np
import pytest
from compiled import lines_of, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from test_ngram_table import table_of

from embeddings.kernels.block import FIRST, LAST, POSITION, keep_thresholds, rewind
from embeddings.kernels.jit import allocating_entry_point
from embeddings.kernels.noise_sampling import alias_table
from embeddings.kernels.row_operations import TARGETS
from embeddings.kernels.step_buffers import LOSS, UNTIL_SAMPLE, PAIRS, aligned_zeros
from embeddings.plugins.sembei import sembei
from embeddings.plugins.sembei.lattice import LatticeSource, fill_lattice, noise_groups, new_lattice, fill_targets, new_lattice_buffers
from embeddings.plugins.sembei.ngram_trie import ngrams_within

TOKENS = 4
TOLERANCE = {np.float32: 1e-3, np.float64: 1e-11}


def ngrams_of(rng, longest=4, share=0.7):
    """Some of all n-grams of few tokens, in any order, {tokens: word}."""
    every = [(a,) for a in range(TOKENS)]
    for n in range(1, longest):
        every += [(*ngram, a) for ngram in every if len(ngram) == n for a in range(TOKENS)]
    chosen = [ngram for ngram in every if len(ngram) == longest or rng.random() < share]
    chosen = [every[0], *chosen[:60]] if longest > 1 else every
    return {ngram: word for word, ngram in enumerate(dict.fromkeys([*chosen, every[-1]]))}


def source_of(ids, lines, ngrams, *, keep=1.0, windows_per_draw=1, both=False):
    chances = np.broadcast_to(np.asarray(keep, np.float64), len(ngrams))
    table = table_of([list(ngram) for ngram in ngrams], list(ngrams.values()), TOKENS, max(map(len, ngrams)))
    noise = alias_table(np.arange(1.0, len(ngrams) + 1))
    return LatticeSource(np.asarray(ids, np.int32), lines, table, keep_thresholds(chances), noise, windows_per_draw, both)


def choices(block):
    """What a filled block holds: (lefts, rights, noise) of each place where n-grams meet."""
    found = []
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        longest = block.starts.shape[1]
        lefts = [int(w) for w in (block.lefts[i - n, n - 1] for n in range(1, longest + 1)) if w >= 0]
        rights = [int(w) for w in block.starts[i] if w >= 0]
        if lefts and rights:
            found.append((lefts, rights, block.noise[i].tolist()))
    return found


def filled(text, begin, end, key, size, negatives):
    """The choices of each block of a share, and the tokens that `fill_lattice` says it read."""
    block, rng = new_lattice(text.table.longest, negatives, size), np.array([key, 0], np.uint64)
    rewind(block, text, begin, end)
    found, read = [], 0
    while block.cursor[POSITION] < end:
        tokens = fill_lattice(block, text, rng)
        assert tokens > 0
        read += tokens
        found.append(choices(block))
    assert fill_lattice(block, text, rng) == 0
    assert choices(block) == []
    return found, read


@settings(deadline=None, max_examples=200)
@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=8),
    longest=st.integers(1, 6),
    size=st.integers(7, 50),
    key=st.integers(0, 2**64 - 1),
    keep=st.sampled_from([1.0, 0.5, 0.1]),
    both=st.booleans(),
    windows_per_draw=st.sampled_from([1, 2, 8]),
    cut=st.floats(0, 1),
)
def test_blocks_are_those_of_the_twin(lengths, longest, size, key, keep, both, windows_per_draw, cut):
    """The same n-grams, coins and noise, block for block; some tokens are in no n-gram."""
    count = sum(lengths)
    rng = np.random.default_rng(count)
    ids, ngrams = rng.integers(0, TOKENS + 1, count), ngrams_of(rng, longest)
    text = source_of(ids, lines_of(*lengths), ngrams, keep=keep, windows_per_draw=windows_per_draw, both=both)
    begin = int(cut * count)
    found, read = filled(text, begin, count, key, size, 3)
    assert found == list(naive.lattice(text, ngrams, begin, count, key, size, 3))
    assert read == count - begin


@pytest.mark.parametrize("shares", [1, 2, 3, 7])
def test_shares_together_are_every_edge_of_the_lattice(shares):
    """An n-gram that reaches over the border of a share, or of a block, meets what follows it once."""
    rng = np.random.default_rng(shares)
    lengths = [30, 1, 0, 57, 2, 110]
    ids, lines, ngrams = rng.integers(0, TOKENS, 200), lines_of(*lengths), ngrams_of(rng)
    text, found = source_of(ids, lines, ngrams), Counter()
    for begin, end in pairwise([200 * k // shares for k in range(shares + 1)]):
        blocks, _ = filled(text, begin, end, 1, 9, 2)
        for lefts, rights, _ in chain.from_iterable(blocks):
            found.update((left, right) for left in lefts for right in rights)
    expected = Counter()
    for begin, end in pairwise(lines.tolist()):
        line = ids[begin:end].tolist()
        for i in range(len(line)):
            for n, left in naive.starts_of(line, ngrams, i, len(line)).items():
                expected.update((left, w) for w in naive.starts_of(line, ngrams, i + n, len(line)).values())
    assert found == expected
    assert found.total() > 500


def test_broken_borders_and_ids_do_no_harm():
    ngrams = {(0,): 0, (0, 1): 1}
    for lines in ([0, 50, 20, 90], [0, -5, 10**12], [0, 0, 0, 2**62]):
        text = source_of([0, 1, 2**31 - 1, -1] * 10, np.array(lines, np.int64), ngrams)
        block = new_lattice(2, 2, 9)
        rewind(block, text, 0, 40)
        assert sum(fill_lattice(block, text, np.array([1, 0], np.uint64)) for _ in range(50)) <= 40


def block_and_tables(dtype, negatives, dim=13):
    """A block of lines of all lengths over few tokens, so that rows repeat everywhere; three tables; parts."""
    rng = np.random.default_rng(negatives)
    ids, ngrams = rng.integers(0, TOKENS, 300), ngrams_of(rng)
    chances = np.linspace(0.5, 1, len(ngrams))
    text = source_of(ids, lines_of(40, 1, 0, 2, 100, 157), ngrams, keep=chances)
    block = new_lattice(4, negatives, 400)
    rewind(block, text, 0, 300)
    fill_lattice(block, text, np.array([7, 0], np.uint64))
    flat, borders = np.concatenate(list(map(list, ngrams))), lines_of(*map(len, ngrams))
    parts = ngrams_within(text.table, flat.astype(np.int32), borders)
    tables = [rows(rng, len(ngrams), dim, dtype, scale=0.3) for _ in range(3)]
    return block, tables, parts, ngrams


def parts_by_search(ngrams):
    """Every n-gram within each, as often as it is there."""
    found = {word: [] for word in ngrams.values()}
    for ngram, word in ngrams.items():
        for i in range(len(ngram)):
            found[word] += naive.starts_of(ngram, ngrams, i, len(ngram)).values()
    return found


def test_parts_are_all_ngrams_within():
    _, _, parts, ngrams = block_and_tables(np.float32, 2)
    found = [parts.words[begin:end].tolist() for begin, end in pairwise(parts.offsets.tolist())]
    assert found == list(parts_by_search(ngrams).values())
    assert max(map(len, found)) == 10


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sembei(dtype, summed, negatives):
    block, tables, parts, ngrams = block_and_tables(dtype, negatives)
    rate = 0.002 if summed else 0.01  # sums make larger steps
    buffers = new_lattice_buffers(4, negatives, tables[0].width, most=10 * summed, dtype=dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    arrays = [table.table for table in tables]
    if summed:
        sembei.learn_summed(block, sembei.SummedTables(*arrays, parts), buffers, rate)
    else:
        sembei.learn_block(block, sembei.Tables(*arrays), buffers, rate)
    given = {"at_once": TARGETS, "parts": parts_by_search(ngrams) if summed else None}
    twins = [table.twin for table in tables]
    lost, pairs = naive.sembei(*twins, choices(block), rate, negatives, **given)
    for table in tables:
        table.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs > 500
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=1e-4)


@pytest.mark.parametrize("summed", [False, True])
def test_steps_are_minus_the_slope_of_the_loss(summed):
    rate = 1e-7
    block, tables, parts, ngrams = block_and_tables(np.float64, 2, dim=3)
    block.cursor[LAST] = block.cursor[FIRST] + 12
    buffers = new_lattice_buffers(4, 2, tables[0].width, most=10 * summed, dtype=np.float64)
    twins = [table.twin for table in tables]
    chosen, within = choices(block), parts_by_search(ngrams) if summed else None
    slopes = [naive.slope(lambda: naive.sembei_loss(*twins, chosen, 2, parts=within), twin[:, :3]) for twin in twins]
    arrays = [table.table for table in tables]
    made = sembei.SummedTables(*arrays, parts) if summed else sembei.Tables(*arrays)
    (sembei.learn_summed if summed else sembei.learn_block)(block, made, buffers, rate)
    for table, slope in zip(tables, slopes, strict=True):
        step = (table.table - table.twin)[:, :3] / rate
        np.testing.assert_allclose(step, -slope, rtol=0, atol=2e-5 * abs(slope).max())
        assert abs(slope).max() > 0.1
        assert (table.table[:, 3:] == 0).all()


@allocating_entry_point
def against(output, buffers, positives, noise):
    return fill_targets(output, buffers, positives, noise)


@pytest.mark.parametrize("positives", range(1, 9))
def test_noise_is_owed_for_every_positive(positives):
    """The weights of noise add up to the negatives of every pair, but for a noise word that is a positive."""
    output, words = aligned_zeros(101, 16, np.float64), np.arange(positives)
    for drawn in (100, 0):
        noise, buffers = np.full(5 * noise_groups(8), 100), new_lattice_buffers(8, 5, 16, dtype=np.float64)
        noise[0] = drawn
        n = against(output, buffers, words, noise)
        weights = buffers.weights[positives:n]
        assert (buffers.weights[:positives] == 1).all()
        assert n == positives + 5 * noise_groups(positives)
        missing = (drawn == 0) / noise_groups(positives)
        assert weights.sum() == pytest.approx(5 * positives - missing)
        assert weights.max() <= 2
