"""Gradients of a distribution over ratings."""

from types import SimpleNamespace

import naive_pairs
import numpy as np
import pytest

from embeddings.compilation.jit import entry_point
from embeddings.kernels.block import LAST, new_cursor
from embeddings.kernels.sparse_steps import step_rates
from embeddings.plugins.text_pairs.pair_objectives import (
    BatchShape,
    RatingDistribution,
    learn_units,
)
from embeddings.plugins.text_pairs.pair_stream import PairBlock
from embeddings.plugins.text_pairs.pair_training import new_text_batch
from embeddings.testing.gradient_rows import GradientRows

WORDS, DIM, WIDTH, PAIRS = 12, 5, 16, 9


@entry_point
def units_loss(operand, batch, block, size, sides):
    return learn_units(operand, batch, block, size, sides, step_rates(1.0, 1))


def new_block(numbers):
    cursor = new_cursor()
    cursor[LAST] = len(numbers)
    return PairBlock(cursor, np.array(numbers), np.arange(len(numbers), dtype=np.uint64))


def test_gradients_of_a_distribution_over_ratings():
    rng = np.random.default_rng(8)
    size, classes, width = 7, 4, 16
    ratings = np.concatenate([[0.0, 3.0], rng.uniform(0, 3, PAIRS - 2)])
    hidden, output = 0.2 * rng.normal(size=(size, 2 * width + 1)), rng.normal(size=(classes, size + 1))
    units, numbers = naive_pairs.unit(rng.normal(size=(2 * PAIRS, width))), rng.permutation(PAIRS)
    hidden_table, output_table = np.zeros((size, 2 * width + 16)), np.zeros((classes, 16 + 16))
    hidden_table[:, : 2 * width + 1], output_table[:, :size], output_table[:, 16] = (
        hidden,
        output[:, :-1],
        output[:, -1],
    )
    tables = [GradientRows(table, np.zeros_like(table)) for table in (hidden_table, output_table)]
    shape = BatchShape(PAIRS, 2, width)
    operand = RatingDistribution.operand(SimpleNamespace(hidden_size=size), shape, ratings, *tables)
    batch = new_text_batch(shape, 1, WORDS, has_map=False, dtype=np.float64)
    batch.units[:] = units
    batch.weights[:] = rng.uniform(0, 3, PAIRS)
    loss = units_loss(operand, batch, new_block(numbers), PAIRS, 2)

    def mean_loss():
        return naive_pairs.divergence_loss(units, ratings[numbers], hidden, output, batch.weights) / PAIRS

    assert loss / PAIRS == pytest.approx(mean_loss(), rel=1e-9)
    expected = naive_pairs.numerical_gradient(mean_loss, units)
    np.testing.assert_allclose(batch.unit_gradients, expected, atol=1e-7)
    expected = naive_pairs.numerical_gradient(mean_loss, hidden)
    np.testing.assert_allclose(tables[0].moments[:, : 2 * width + 1], expected, atol=1e-7)
    expected = naive_pairs.numerical_gradient(mean_loss, output)
    np.testing.assert_allclose(tables[1].moments[:, [*range(size), 16]], expected, atol=1e-7)
