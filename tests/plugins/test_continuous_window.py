"""Continuous window: blocks against the twin, steps against numerical gradients."""

import naive
import numpy as np
import pytest
from kernel_helpers import (
    BLOCK_TOLERANCE,
    DIM,
    POSITIONS,
    SMALL_VOCABULARY,
    VOCABULARY,
    block_and_tables,
    check_gradients,
    position_and_block,
    positions_of,
    rows,
    small_table,
)

from embeddings.kernels.loss_tally import EXAMPLES, LOSS, UNTIL_SAMPLE
from embeddings.kernels.row_operations import UPDATE_TILE
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins.continuous_window import ContinuousWindowOperands, learn_block


@pytest.mark.parametrize("windows_per_draw", [1, 8])
@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_block_equals_the_twins(dtype, negatives, windows_per_draw):
    block, words, _ = block_and_tables(dtype, negatives, windows_per_draw=windows_per_draw)
    output = rows(np.random.default_rng(1), VOCABULARY * 10, DIM, dtype, scale=0.4)
    table, twin = output.table.reshape(VOCABULARY, -1), output.twin.reshape(VOCABULARY, -1)
    buffers = new_window_buffers(windows_per_draw, negatives, words.width, slots=10, dtype=dtype)
    buffers.tally[UNTIL_SAMPLE] = -1e9
    learn_block(
        block,
        ContinuousWindowOperands(words.table, NegativeSamples(table, negatives), 5, windows_per_draw),
        buffers,
        0.05,
    )
    settings = {"windows_per_draw": windows_per_draw, "tile": UPDATE_TILE}
    loss, pairs = naive.continuous_window(words.twin, twin, positions_of(block), 5, 0.05, **settings)
    words.check(BLOCK_TOLERANCE[dtype])
    output.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs > 100
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=BLOCK_TOLERANCE[dtype])


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_steps_are_gradient_steps(position):
    rng = np.random.default_rng(3)
    words, output = small_table(rng, SMALL_VOCABULARY), small_table(rng, SMALL_VOCABULARY * 10)
    concatenated = output.reshape(SMALL_VOCABULARY, -1)
    block, position = position_and_block(*position)
    check_gradients(
        learn_block,
        block,
        ContinuousWindowOperands(words, NegativeSamples(concatenated, 4), 5, 1),
        new_window_buffers(1, 4, words.shape[1], slots=10, dtype=np.float64),
        lambda: naive.continuous_window_loss(words, concatenated, [position], 5),
        (words, output),
    )


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("windows_per_draw", [1, 8])
def test_the_tallied_loss_of_a_batch_covers_all_its_windows(windows_per_draw, first):
    """With zero output vectors each target costs log 2: the centre, and negative samples other than the centre."""
    block, words, _ = block_and_tables(np.float64, 5, windows_per_draw=windows_per_draw)
    buffers = new_window_buffers(windows_per_draw, 5, words.width, slots=10, dtype=np.float64)
    buffers.tally[UNTIL_SAMPLE] = first
    output = separate_zeros((VOCABULARY, 10 * words.width), np.float64)
    learn_block(
        block, ContinuousWindowOperands(words.table, NegativeSamples(output, 5), 5, windows_per_draw), buffers, 0.0
    )
    noise = np.mean([(row != word).sum() for row, word in zip(block.noise, block.words, strict=True)])
    assert buffers.tally[EXAMPLES] >= windows_per_draw
    assert buffers.tally[LOSS] / buffers.tally[EXAMPLES] == pytest.approx((1 + noise) * np.log(2), rel=0.2)
