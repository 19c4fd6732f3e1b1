"""Gradients of text vectors from pairs, in float64: through the objective, norms, weights and sums."""

from types import SimpleNamespace

import naive_pairs
import numpy as np
import pytest
from naive import numerical_gradient

from embeddings.compilation.jit import entry_point
from embeddings.kernels.block import LAST, new_cursor
from embeddings.kernels.loss_tally import LOSS
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins.text_pairs.learn_pairs import PairOperands, learn_text_pairs, new_subword_batch
from embeddings.plugins.text_pairs.pair_objectives import (
    BatchShape,
    CoSENT,
    InBatchNegatives,
    learn_units,
)
from embeddings.plugins.text_pairs.pair_stream import PairBlock, PairTexts
from embeddings.plugins.text_pairs.pair_training import new_text_batch
from embeddings.testing.gradient_rows import GradientRows

WORDS, DIM, WIDTH, PAIRS = 12, 5, 16, 9
NO_NGRAMS = np.zeros(WORDS + 1, np.int64), np.zeros(0, np.int32)
SETTINGS, UNRATED = SimpleNamespace(value_of={"temperature": 0.3}.get), np.empty(0)


@entry_point
def units_loss(operand, batch, block, size, sides):
    return learn_units(operand, batch, block, size, sides)


def new_block(numbers):
    cursor = new_cursor()
    cursor[LAST] = len(numbers)
    return PairBlock(cursor, np.array(numbers), np.arange(len(numbers), dtype=np.uint64))


def random_texts(rng, sides, pairs=PAIRS):
    """Texts with repeated words, and some equal ones; the id of an unknown word is not below the number of words."""
    texts = [tuple(rng.integers(0, WORDS + 1, rng.integers(2, 6)).tolist()) for _ in range(pairs * sides)]
    texts[sides] = texts[0]  # left texts of the first two pairs
    texts[3 * sides + 1] = texts[2 * sides + 1]  # right texts of the third and the fourth
    texts[5 * sides + 1] = texts[4 * sides + 2 * sides]  # right of the sixth and left of the seventh
    return [text if min(text) < WORDS else (0, *text) for text in texts]


def pair_texts(texts, sides, dropout=0):
    ids = np.array([word for text in texts for word in text], np.int32)
    return PairTexts(ids, np.cumsum([0, *map(len, texts)]), sides, WORDS, 1 << 40, dropout)


def by_side(texts, sides, numbers):
    """Known words of the texts of a batch, in the order of the kernel."""
    return [tuple(w for w in texts[p * sides + side] if w < WORDS) for side in range(sides) for p in numbers]


def run_kernel(texts, sides, numbers, operand, tables, dropout=0, ngrams=NO_NGRAMS, *, weights=UNRATED):
    """Gradients of all tables by name, and the loss; `ngrams` are the offsets of words, and the buckets."""
    shape = BatchShape(len(numbers), sides, WIDTH)
    batch = new_text_batch(shape, sum(map(len, texts)) * 2, len(tables["words"]), np.float64)
    tables = {"ngrams": np.zeros((0, WIDTH)), **tables}
    rows = {name: GradientRows(table, np.zeros_like(table)) for name, table in tables.items()}
    buffers = new_step_buffers(1, 1, 16, dtype=np.float64)
    source = pair_texts(texts, sides, dropout)._replace(weights=weights)
    subwords = new_subword_batch(rows["ngrams"], *ngrams, sum(map(len, texts)) * 2)
    operands = PairOperands(source, batch, rows["words"], subwords, DIM, operand)
    learn_text_pairs(new_block(numbers), operands, buffers, 1.0)
    return {name: row.moments for name, row in rows.items()}, buffers.tally[LOSS]


def padded(values):
    table = separate_zeros((len(values), WIDTH), np.float64)
    table[:, : values.shape[1]] = values
    return table


@pytest.mark.parametrize("has_pair_weights", [False, True])
@pytest.mark.parametrize("sides", [2, 3])
def test_gradients_of_in_batch_negatives(sides, has_pair_weights):
    rng = np.random.default_rng(sides)
    words, texts, numbers = rng.normal(size=(WORDS, DIM)), random_texts(rng, sides), rng.permutation(PAIRS)
    operand = InBatchNegatives.operand(SETTINGS, BatchShape(PAIRS, sides, WIDTH), UNRATED)
    pair_weights = rng.uniform(0, 3, PAIRS) if has_pair_weights else np.ones(PAIRS)
    given = pair_weights if has_pair_weights else UNRATED
    gradients, loss = run_kernel(texts, sides, numbers, operand, {"words": padded(words)}, weights=given)
    batch_texts = by_side(texts, sides, numbers)

    def mean_loss():
        units = naive_pairs.unit(naive_pairs.text_vectors(batch_texts, words))
        return naive_pairs.in_batch_loss(units, batch_texts, PAIRS, 0.3, pair_weights[numbers]) / PAIRS

    assert loss / PAIRS == pytest.approx(mean_loss(), rel=1e-9)
    np.testing.assert_allclose(gradients["words"][:, :DIM], numerical_gradient(mean_loss, words), atol=1e-8)


def test_gradients_of_words_composed_of_ngrams():
    """Some n-grams are of several words, or twice of one; some words have none."""
    rng = np.random.default_rng(6)
    words, rows = rng.normal(size=(WORDS, DIM)), rng.normal(size=(7, DIM))
    counts = np.array([0, 1, 3, 2, 0, 4, 1, 1, 2, 3, 5, 2])
    offsets, buckets = np.cumsum([0, *counts]), rng.integers(0, 7, counts.sum()).astype(np.int32)
    buckets[offsets[2] : offsets[3]] = 5, 1, 5
    texts, numbers = random_texts(rng, 2), rng.permutation(PAIRS)
    operand = InBatchNegatives.operand(SETTINGS, BatchShape(PAIRS, 2, WIDTH), UNRATED)
    tables = {"words": padded(words), "ngrams": padded(rows)}
    gradients, loss = run_kernel(texts, 2, numbers, operand, tables, ngrams=(offsets, buckets))
    batch_texts = by_side(texts, 2, numbers)

    def mean_loss():
        parts = [rows[buckets[offsets[w] : offsets[w + 1]]] for w in range(WORDS)]
        composed = words + np.array([part.mean(axis=0) if len(part) else np.zeros(DIM) for part in parts])
        vectors = naive_pairs.text_vectors(batch_texts, composed)
        return naive_pairs.in_batch_loss(naive_pairs.unit(vectors), batch_texts, PAIRS, 0.3) / PAIRS

    assert loss / PAIRS == pytest.approx(mean_loss(), rel=1e-9)
    for name, table in (("words", words), ("ngrams", rows)):
        expected = numerical_gradient(mean_loss, table)
        np.testing.assert_allclose(gradients[name][:, : table.shape[1]], expected, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("has_weights", [False, True])
def test_gradients_of_cosent(has_weights):
    rng = np.random.default_rng(7)
    ratings, numbers = rng.integers(0, 4, PAIRS) / 3, rng.permutation(PAIRS)
    shape, units = BatchShape(PAIRS, 2, WIDTH), naive_pairs.unit(rng.normal(size=(PAIRS * 2, DIM)))
    batch = new_text_batch(shape, 1, WORDS, np.float64)
    batch.units[:, :DIM] = units
    if has_weights:
        batch.weights[:] = rng.uniform(0, 3, PAIRS)
    loss = units_loss(CoSENT.operand(SETTINGS, shape, ratings), batch, new_block(numbers), PAIRS, 2)

    def naive_loss():
        return naive_pairs.cosent_loss(units, ratings[numbers], 0.3, batch.weights)

    assert loss == pytest.approx(naive_loss(), rel=1e-12)
    expected = numerical_gradient(lambda: naive_loss() / PAIRS, units)
    np.testing.assert_allclose(batch.unit_gradients[:, :DIM], expected, atol=1e-8)


def test_dropped_words_have_no_gradient_and_no_text_loses_all_of_them():
    rng = np.random.default_rng(5)
    texts = [tuple(row) for row in np.arange(WORDS).reshape(6, 2).tolist()]
    operand = InBatchNegatives.operand(SETTINGS, BatchShape(3, 2, WIDTH), UNRATED)
    tables = {"words": padded(rng.normal(size=(WORDS, DIM)))}
    counts = []
    for _ in range(20):
        gradients, _ = run_kernel(texts, 2, rng.permutation(3), operand, tables, int(0.5 * 2**32))
        has_gradient = gradients["words"].any(axis=1).reshape(6, 2)
        assert has_gradient.any(axis=1).all()
        counts.append(has_gradient.sum())
    assert 6 < np.mean(counts) < 12


def test_equal_texts_alone_have_no_loss():
    texts = [(1, 2), (3,)] * 4
    operand = InBatchNegatives.operand(SETTINGS, BatchShape(4, 2, WIDTH), UNRATED)
    words = padded(np.random.default_rng(1).normal(size=(WORDS, DIM)))
    gradients, loss = run_kernel(texts, 2, np.arange(4), operand, {"words": words})
    assert loss == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(gradients["words"], 0, atol=1e-12)
