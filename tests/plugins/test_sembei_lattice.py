"""Lattice blocks and sembei's steps on them, against their twins."""

from collections import Counter
from itertools import chain, pairwise

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_helpers import BLOCK_TOLERANCE, line_bounds, read_share, rows
from ngram_search import trie_of

from embeddings.compilation.jit import allocating_entry_point
from embeddings.kernels.block import FIRST, LAST, POSITION, keep_thresholds, rewind
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, UNTIL_SAMPLE
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.plugins.sembei import sembei
from embeddings.plugins.sembei.sembei import (
    LatticeSource,
    adjacent_ngrams,
    fill_lattice,
    fill_targets,
    new_lattice,
    new_lattice_buffers,
    ngrams_within,
    noise_groups,
)

TOKENS = 4


def random_ngrams(rng, longest=4, share=0.7):
    """Some of all n-grams of a few tokens, {tokens: word}."""
    every = [(a,) for a in range(TOKENS)]
    for n in range(1, longest):
        every += [(*ngram, a) for ngram in every if len(ngram) == n for a in range(TOKENS)]
    chosen = [ngram for ngram in every if len(ngram) == longest or rng.random() < share]
    chosen = [every[0], *chosen[:60]] if longest > 1 else every
    return {ngram: word for word, ngram in enumerate(dict.fromkeys([*chosen, every[-1]]))}


def lattice_source(ids, lines, ngrams, *, keep=1.0, windows_per_draw=1):
    thresholds = keep_thresholds(np.broadcast_to(np.asarray(keep, np.float64), len(ngrams)))
    trie = trie_of([list(ngram) for ngram in ngrams], list(ngrams.values()), TOKENS, max(map(len, ngrams)))
    noise = alias_table(np.arange(1.0, len(ngrams) + 1))
    return LatticeSource(np.asarray(ids, np.int32), lines, trie, thresholds, noise, windows_per_draw)


@allocating_entry_point
def read_adjacent(block, buffers, i):
    """`adjacent_ngrams`."""
    return adjacent_ngrams(block, buffers, i)


def adjacent_of(block):
    """(lefts, rights, noise) of each position of a block with adjacent n-grams, as the kernel reads them."""
    adjacent, longest = [], block.starts.shape[1]
    buffers = new_lattice_buffers(longest, 1, 16)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        count, _ = read_adjacent(block, buffers, i)
        lefts = buffers.contexts[:count].tolist()
        rights = [int(w) for w in block.starts[i] if w >= 0]
        if lefts and rights:
            adjacent.append((lefts, rights, block.noise[i].tolist()))
    return adjacent


def fill_all(source, begin, end, key, size, negatives):
    """The adjacent n-grams of each block of a share, and the number of tokens reported as read."""
    block = new_lattice(source.trie.longest, negatives, size)
    return read_share(block, fill_lattice, adjacent_of, source, begin, end, key)


@settings(deadline=None, max_examples=100)
@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=8),
    longest=st.integers(1, 6),
    size=st.integers(7, 50),
    key=st.integers(0, 2**64 - 1),
    keep=st.sampled_from([1.0, 0.5, 0.1]),
    windows_per_draw=st.sampled_from([1, 2, 8]),
    cut=st.floats(0, 1),
)
def test_blocks_equal_the_twins(lengths, longest, size, key, keep, windows_per_draw, cut):
    """N-grams, subsampling and negative samples are equal block for block; some tokens are in no n-gram."""
    count = sum(lengths)
    rng = np.random.default_rng(count)
    ids, ngrams = rng.integers(0, TOKENS + 1, count), random_ngrams(rng, longest)
    source = lattice_source(ids, line_bounds(*lengths), ngrams, keep=keep, windows_per_draw=windows_per_draw)
    begin, size = int(cut * count), max(size, source.trie.longest + 1)
    blocks, read = fill_all(source, begin, count, key, size, 3)
    assert blocks == list(naive.lattice(source, ngrams, begin, count, key, size, 3))
    assert read == count - begin


@pytest.mark.parametrize("shares", [1, 2, 3, 7])
def test_shares_partition_the_edges_of_the_lattice(shares):
    """N-grams that cross the border of a share or a block are adjacent to what follows exactly once."""
    rng = np.random.default_rng(shares)
    lines, ids, ngrams = line_bounds(30, 1, 0, 57, 2, 110), rng.integers(0, TOKENS, 200), random_ngrams(rng)
    source, pairs = lattice_source(ids, lines, ngrams), Counter()
    for begin, end in pairwise([200 * k // shares for k in range(shares + 1)]):
        blocks, _ = fill_all(source, begin, end, 1, 9, 2)
        for lefts, rights, _ in chain.from_iterable(blocks):
            pairs.update((left, right) for left in lefts for right in rights)
    expected = Counter()
    for begin, end in pairwise(lines.tolist()):
        line = ids[begin:end].tolist()
        for i in range(len(line)):
            for n, left in naive.ngrams_at(line, ngrams, i, len(line)).items():
                expected.update((left, w) for w in naive.ngrams_at(line, ngrams, i + n, len(line)).values())
    assert pairs == expected
    assert pairs.total() > 500


def lattice_and_tables(dtype, negatives, dim=13):
    """A block of lines of all lengths over few tokens, so that rows repeat everywhere; three tables; parts."""
    rng = np.random.default_rng(negatives)
    ids, ngrams = rng.integers(0, TOKENS, 300), random_ngrams(rng)
    keep = np.linspace(0.5, 1, len(ngrams))
    source = lattice_source(ids, line_bounds(40, 1, 0, 2, 100, 157), ngrams, keep=keep)
    block = new_lattice(4, negatives, 400)
    rewind(block, source, 0, 300)
    fill_lattice(block, source, np.array([7, 0], np.uint64))
    tokens, bounds = np.concatenate(list(map(list, ngrams))), line_bounds(*map(len, ngrams))
    parts = ngrams_within(source.trie, tokens.astype(np.int32), bounds)
    tables = [rows(rng, len(ngrams), dim, dtype, scale=0.3) for _ in range(3)]
    return block, tables, parts, ngrams


def parts_by_search(ngrams):
    """All n-grams within each, with repetitions."""
    parts = {word: [] for word in ngrams.values()}
    for ngram, word in ngrams.items():
        for i in range(len(ngram)):
            parts[word] += naive.ngrams_at(ngram, ngrams, i, len(ngram)).values()
    return parts


def test_parts_are_all_ngrams_within():
    _, _, parts, ngrams = lattice_and_tables(np.float32, 2)
    lists = [parts.words[begin:end].tolist() for begin, end in pairwise(parts.offsets.tolist())]
    assert lists == list(parts_by_search(ngrams).values())
    assert max(map(len, lists)) == 10


def learn(block, tables, parts, buffers, rate, *, summed):
    """Run sembei's kernel on the tables."""
    arrays = [table.table for table in tables]
    operands = sembei.SummedOperands(*arrays, parts=parts) if summed else sembei.LatticeOperands(*arrays)
    sembei.learn_block(block, operands, buffers, rate)


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sembei_equals_the_twin(dtype, summed, negatives):
    block, tables, parts, ngrams = lattice_and_tables(dtype, negatives)
    rate = 0.002 if summed else 0.01  # sums make larger steps
    buffers = new_lattice_buffers(4, negatives, tables[0].width, max_parts=10 * summed, dtype=dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    learn(block, tables, parts, buffers, rate, summed=summed)
    twins, within = [table.twin for table in tables], parts_by_search(ngrams) if summed else None
    loss, pairs = naive.sembei(*twins, adjacent_of(block), rate, negatives, parts=within)
    for table in tables:
        table.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs > 500
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("summed", [False, True])
def test_steps_are_gradient_steps(summed):
    rate = 1e-7
    block, tables, parts, ngrams = lattice_and_tables(np.float64, 2, dim=3)
    block.cursor[LAST] = block.cursor[FIRST] + 12
    buffers = new_lattice_buffers(4, 2, tables[0].width, max_parts=10 * summed, dtype=np.float64)
    twins = [table.twin for table in tables]
    adjacent, within = adjacent_of(block), parts_by_search(ngrams) if summed else None

    def loss():
        return naive.sembei(*twins, adjacent, 0, 2, parts=within)[0]

    gradients = [naive.numerical_gradient(loss, twin[:, :3]) for twin in twins]
    learn(block, tables, parts, buffers, rate, summed=summed)
    for table, gradient in zip(tables, gradients, strict=True):
        step = (table.table - table.twin)[:, :3] / rate
        np.testing.assert_allclose(step, -gradient, rtol=0, atol=2e-5 * abs(gradient).max())
        assert abs(gradient).max() > 0.1
        assert (table.table[:, 3:] == 0).all()


@allocating_entry_point
def count_targets(output, buffers, positives, noise):
    return fill_targets(output, buffers, positives, noise)


@pytest.mark.parametrize("positives", range(1, 9))
def test_weights_of_shared_negative_samples(positives):
    """The weights add up to the negatives of every pair, except for a negative sample that is a positive."""
    output, words = separate_zeros((101, 16), np.float64), np.arange(positives)
    for sample in (100, 0):
        noise, buffers = np.full(5 * noise_groups(8), 100), new_lattice_buffers(8, 5, 16, dtype=np.float64)
        noise[0] = sample
        n = count_targets(output, buffers, words, noise)
        weights = buffers.weights[positives:n]
        assert (buffers.weights[:positives] == 1).all()
        assert n == positives + 5 * noise_groups(positives)
        missing = (sample == 0) / noise_groups(positives)
        assert weights.sum() == pytest.approx(5 * positives - missing)
        assert weights.max() <= 2


BROKEN_LINES = [[0, 0, 0], [5], [0, -9, -9, 4], [0, 30, 0, 3], [0, 99, -3], [0, -5, 10**12], [0, 0, 0, 2**62]]


@pytest.mark.parametrize("lines", BROKEN_LINES)
@pytest.mark.parametrize("invalid", [2, 2**31 - 1, -1])
def test_broken_boundaries_and_ids_end_nothing_early(lines, invalid):
    """The boundaries are part of a larger array, whose other numbers are no boundaries."""
    larger, ids = np.full(100, 7), np.arange(30) % TOKENS
    larger[40 : 40 + len(lines)] = lines
    ids[::7] = invalid
    text = lattice_source(ids, larger[40 : 40 + len(lines)], random_ngrams(np.random.default_rng(1)))
    block, rng, read = new_lattice(4, 2, 16), np.array([1, 0], np.uint64), 0
    rewind(block, text, 0, 30)
    while count := fill_lattice(block, text, rng):
        read += count
    assert read == 30
    assert block.cursor[POSITION] == 30
