"""Paragraph vectors: blocks against twins, steps against slopes, the balance of noise, documents in blocks."""

import naive
import numpy as np
import pytest
from compiled import lines_of, places, rows, source
from test_gradient import RATE, assert_gradient
from test_models import TOLERANCE

from embeddings.kernels.block import FIRST, LAST, fill_block, new_block, rewind
from embeddings.kernels.line_operations import mark_documents_with_words
from embeddings.kernels.row_operations import TARGETS, padded
from embeddings.kernels.step_buffers import LOSS, UNTIL_SAMPLE, PAIRS, aligned_zeros, new_step_buffers
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.plugins import paragraph_dbow as dbow
from embeddings.plugins import paragraph_dm as dm

WORDS, DOCUMENTS, DIM = 20, 4, 13
LENGTHS = (40, 1, 0, 2, 100, 157)
ROWS = (3, 0, 1, 2, 3, 1)  # two tags stand twice
SUM, MEAN, CONCAT = dm.SUM, dm.MEAN, dm.CONCAT


def text(**more):
    ids = np.random.default_rng(5).integers(0, WORDS, sum(LENGTHS))
    keep, weights = np.linspace(0.5, 1, WORDS), np.arange(1.0, WORDS + 1)
    found = source(ids, lines_of(*LENGTHS), WORDS, keep=keep, weights=weights, **more)
    return found._replace(rows=np.array(ROWS))


def filled(noise, **more):
    """A block of all the documents."""
    made, block = text(**more), new_block(5, noise, 400, documents=True)
    rewind(block, made, 0, sum(LENGTHS))
    fill_block(block, made, np.array([7, 0], np.uint64))
    return block


def tables(dtype, *counts):
    rng = np.random.default_rng(3)
    return [rows(rng, count, DIM, dtype, scale=0.4) for count in counts]


def bundle_for(targets, width, dtype, inputs=1, contexts=0):
    """A bundle that tallies every step."""
    made = new_step_buffers(inputs, targets, width, contexts=contexts, rows=2, dtype=dtype)
    made.tally[UNTIL_SAMPLE] = -1e9
    return made


def groups(block, noise):
    """(document, words, noise words) of the groups of a block that are scored at once."""
    found, i = [], int(block.cursor[FIRST])
    while i < block.cursor[LAST]:
        document, p = int(block.documents[i]), 1
        while p < dbow.GROUP_SIZE and i + p < block.cursor[LAST] and block.documents[i + p] == document:
            p += 1
        drawn = [int(word) for k in range(i, i + p) for word in block.noise[k, :noise]]
        found.append((document, block.words[i : i + p].tolist(), drawn))
        i += p
    return found


def dbow_tables(documents, words, output, negatives):
    return dbow.Tables(documents.table, words.table, output.table, dbow.noise_words(negatives), negatives)


@pytest.mark.parametrize("negatives", [1, 5, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dbow(dtype, negatives):
    documents, output = tables(dtype, DOCUMENTS, WORDS)
    noise = dbow.noise_words(negatives)
    block, buffers = filled(noise), bundle_for(4 * (1 + noise), documents.width, dtype)
    dbow.learn_block(block, dbow_tables(documents, output, output, negatives), buffers, 0.05)
    found = groups(block, noise)
    lost, pairs = naive.dbow(documents.twin, output.twin, found, 0.05, negatives=negatives, at_once=TARGETS)
    documents.check(TOLERANCE[dtype])
    output.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs == block.cursor[LAST] - block.cursor[FIRST] > 200
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=TOLERANCE[dtype])
    assert {len(words) for _, words, _ in found} == {1, 2, 4}


@pytest.mark.slow
@pytest.mark.parametrize("negatives", [5, 12])
def test_dbow_with_words_is_followed_by_skipgram(negatives):
    documents, words, output = tables(np.float64, DOCUMENTS, WORDS, WORDS)
    noise = dbow.noise_words(negatives)
    block = filled(negatives)
    buffers = bundle_for(max(4 * (1 + noise), 1 + negatives), documents.width, np.float64, inputs=10)
    dbow.learn_both(block, dbow_tables(documents, words, output, negatives), buffers, 0.05)
    naive.dbow(documents.twin, output.twin, groups(block, noise), 0.05, negatives=negatives, at_once=TARGETS)
    windows = [(line[i], [*line[start:i], *line[i + 1 : stop]], drawn) for i, line, start, stop, drawn in places(block)]
    naive.skipgram(words.twin, output.twin, windows, 0.05, at_once=TARGETS)
    for table in (documents, words, output):
        table.check(1e-11)


@pytest.mark.parametrize("negatives", [1, 5, 12])
@pytest.mark.parametrize("combine", [MEAN, SUM], ids=["mean", "sum"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dm(dtype, combine, negatives):
    documents, words, output = tables(dtype, DOCUMENTS, WORDS, WORDS)
    block, buffers = filled(negatives), bundle_for(1 + negatives, output.width, dtype, contexts=11)
    dm.learn_block(block, dm.Tables(documents.table, words.table, output.table, combine, 1), buffers, 0.05)
    how = {"mean": combine == MEAN, "at_once": TARGETS}
    lost, pairs = naive.dm(documents.twin, words.twin, output.twin, owned(block), 0.05, **how)
    for made in (documents, words, output):
        made.check(TOLERANCE[dtype])
    assert buffers.tally[PAIRS] == pairs == block.cursor[LAST] - block.cursor[FIRST] > 200
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=TOLERANCE[dtype])


@pytest.mark.parametrize("windows_per_draw", [1, 8])
@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
def test_dm_concat(dtype, negatives, windows_per_draw):
    """At a small rate: so few words are in many windows at once, and what is large makes errors of float32 grow."""
    documents, words, output = tables(dtype, DOCUMENTS, WORDS + 1, WORDS * 11)
    table, twin = output.table.reshape(WORDS, -1), output.twin.reshape(WORDS, -1)
    block = filled(negatives, windows_per_draw=windows_per_draw)
    weight = 5 / 3 if windows_per_draw > 1 else 1.0
    buffers = new_window_buffers(windows_per_draw, negatives, words.width, slots=11, weight=weight, dtype=dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    dm.learn_concatenated(block, dm.Tables(documents.table, words.table, table, CONCAT, windows_per_draw), buffers, 0.01)
    how = {"reach": 5, "windows_per_draw": windows_per_draw, "at_once": TARGETS, "weight": weight}
    lost, pairs = naive.dm_concat(documents.twin, words.twin, twin, owned(block), 0.01, **how)
    for made in (documents, words, output):
        made.check(5 * TOLERANCE[dtype])  # a step of float32 for eight windows at once
    assert buffers.tally[PAIRS] == pairs == block.cursor[LAST] - block.cursor[FIRST] > 200
    assert buffers.tally[LOSS] == pytest.approx(lost, rel=5 * TOLERANCE[dtype])


def owned(block):
    """(document, place) of each centre of a block."""
    return [(int(block.documents[place[0]]), place) for place in places(block)]


@pytest.mark.parametrize("negatives", [1, 5, 12])
def test_noise_keeps_the_balance(negatives):
    """Every pair of document and word is owed `negatives` noise terms that are not the word itself, shared or not."""
    documents, output = tables(np.float64, DOCUMENTS, WORDS)
    noise = dbow.noise_words(negatives)
    block, buffers = filled(noise), bundle_for(4 * (1 + noise), documents.width, np.float64)
    first, last = block.cursor[FIRST], block.cursor[LAST]
    for words in {1: [3], 2: [3, 3], 4: [1, 3, 1, 2]}.values():
        p = len(words)
        block.cursor[FIRST], block.cursor[LAST] = first, first + p
        block.words[first : first + p], block.documents[first : first + p] = words, 0
        block.noise[first : first + p] = 5
        block.noise[first, 0] = 3
        dbow.learn_block(block, dbow_tables(documents, output, output, negatives), buffers, 0.01)
        positive, weights = buffers.weights[:p], buffers.weights[p : p + p * noise]
        assert (positive == 1).all()
        per_word = negatives / noise / p
        assert weights[0] == pytest.approx(per_word * sum(word != 3 for word in words))
        assert weights[1:] == pytest.approx(per_word * p)
    assert last > first + 4


def float64(rng, count, width=None):
    table = aligned_zeros(count, padded(5) if width is None else width, np.float64)
    table[:, :5] = rng.normal(size=(count, 5)) * 0.7
    return table


def small_block(negatives, line, first, last, noise, documents):
    """Centres first to last of one line, with its whole as window; every row of noise words is given."""
    block = new_block(len(line), negatives, documents=True)
    block.words[: len(line)] = line
    block.start[:], block.stop[:] = 0, len(line)
    block.noise[first:last] = noise
    block.documents[first:last] = documents
    block.cursor[FIRST], block.cursor[LAST] = first, last
    return block


def check_slopes(learn_block, block, made, lost, buffers, moved):
    before = [table.copy() for table in moved]
    slopes = [naive.slope(lost, table[:, :5]) for table in moved]
    learn_block(block, made, buffers, RATE)
    for table, old, slope in zip(moved, before, slopes, strict=True):
        assert_gradient((table - old) / RATE, slope)


def test_dbow_steps_are_slopes():
    """Words twice, noise that is a word, and noise twice: one group, one step of the rows they are."""
    rng = np.random.default_rng(3)
    documents, output = float64(rng, 3), float64(rng, 9)
    noise = [[4, 4, 7], [2, 8, 8], [3, 1, 0], [4, 6, 2]]
    block = small_block(3, [4, 2, 4, 1], 0, 4, noise, 2)
    group = [(2, [4, 2, 4, 1], [word for row in noise for word in row])]
    check_slopes(
        dbow.learn_block,
        block,
        dbow.Tables(documents, output, output, 3, 5),
        lambda: naive.dbow_loss(documents, output, group, negatives=5),
        new_step_buffers(1, 16, documents.shape[1], dtype=np.float64),
        (documents, output),
    )


@pytest.mark.parametrize("combine", [SUM, CONCAT], ids=["sum", "concat"])
def test_dm_steps_are_slopes(combine):
    rng, slots = np.random.default_rng(3), 7 if combine == CONCAT else 1
    documents, words = float64(rng, 3), float64(rng, 9 + (combine == CONCAT))
    output = float64(rng, 9 * slots).reshape(9, -1)
    block = small_block(4, [1, 5, 3, 5], 2, 3, [[1, 3, 7, 7]], 1)
    how = {"reach": 3 if combine == CONCAT else None, "mean": False}
    block.stop[2] = 4
    concat = combine == CONCAT
    buffers = (
        new_window_buffers(1, 4, words.shape[1], slots=7, dtype=np.float64)
        if concat
        else new_step_buffers(1, 5, output.shape[1], contexts=7, rows=2, dtype=np.float64)
    )
    learn = dm.learn_concatenated if combine == CONCAT else dm.learn_block
    parts = (documents, words) if combine == CONCAT else (documents, words, output)
    check_slopes(
        learn,
        block,
        dm.Tables(documents, words, output, combine, 1),
        lambda: naive.dm_loss(documents, words, output, owned(block), **how),
        buffers,
        parts,
    )


@pytest.mark.parametrize("size", [23, 60, 400])
def test_each_centre_has_its_document(size):
    """Words tell theirs: document d holds nothing but d; over blocks that cut documents, from any start."""
    ids = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    made = source(ids, lines_of(*LENGTHS), len(LENGTHS))._replace(rows=np.array([5, 0, 4, 3, 2, 5]))
    for begin in (0, 39, 40, 41, 50, 142, 143, 299):
        block, rng, seen = new_block(5, 2, size, documents=True), np.array([1, 0], np.uint64), 0
        rewind(block, made, begin, sum(LENGTHS))
        while fill_block(block, made, rng) or block.cursor[FIRST] < block.cursor[LAST]:
            centres = slice(block.cursor[FIRST], block.cursor[LAST])
            assert block.documents[centres].tolist() == made.document_rows[block.words[centres]].tolist()
            seen += centres.stop - centres.start
        assert seen == sum(LENGTHS) - begin


def test_documents_with_a_known_word():
    ids, known = np.array([9, 1, 9, 9, 2]), np.zeros(4, np.bool_)
    mark_documents_with_words(ids, np.array([0, 2, 2, 4, 5]), np.array([3, 2, 1, 0]), 3, known)
    assert known.tolist() == [True, False, False, True]
