"""Structured and directional skip-gram: blocks against the twin, steps against numerical gradients."""

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
    tallying_buffers,
)

import embeddings as em
from embeddings.kernels.loss_tally import EXAMPLES, LOSS
from embeddings.kernels.row_operations import UPDATE_TILE
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins.structured_skipgram import SlotOperands, learn_block

REACHES = {
    "structured": np.array([[offset, offset] for offset in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)]),
    "directional": np.array([[-5, -1], [1, 5]]),
}


@pytest.mark.parametrize("negatives", [1, 5, 20])
@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_block_equals_the_twins(dtype, reach, negatives):
    block, words, _ = block_and_tables(dtype, negatives)
    output = rows(np.random.default_rng(1), VOCABULARY * len(reach), DIM, dtype, scale=0.4)
    twin = output.twin.reshape(VOCABULARY, len(reach), -1)
    buffers = tallying_buffers(5, 1 + negatives, words.width, dtype)
    learn_block(
        block, SlotOperands(words.table, NegativeSamples(output.table, block.noise.shape[1]), reach), buffers, 0.05
    )
    loss, pairs = naive.structured_skipgram(words.twin, twin, positions_of(block), reach, 0.05, tile=UPDATE_TILE)
    words.check(BLOCK_TOLERANCE[dtype])
    output.check(BLOCK_TOLERANCE[dtype])
    assert buffers.tally[EXAMPLES] == pairs > 500
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=BLOCK_TOLERANCE[dtype])


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_steps_are_gradient_steps(reach, position):
    rng, slots = np.random.default_rng(3), len(reach)
    words, output = small_table(rng, SMALL_VOCABULARY), small_table(rng, SMALL_VOCABULARY * slots)
    by_slot = output.reshape(SMALL_VOCABULARY, slots, -1)
    block, position = position_and_block(*position)
    check_gradients(
        learn_block,
        block,
        SlotOperands(words, NegativeSamples(output, block.noise.shape[1]), reach),
        new_step_buffers(5, 5, words.shape[1], dtype=np.float64),
        lambda: naive.structured_skipgram_loss(words, by_slot, [position], reach),
        (words, output),
    )


@pytest.mark.parametrize("name", ["structured-skipgram", "directional-skipgram"])
def test_left_and_right_neighbours_differ(name):
    """After training on 'a x b', x has a higher score as the right neighbour of a than as its left one."""
    settings = {"dim": 8, "min_count": 1, "subsample": 0, "window": 1, "epochs": 20, "learning_rate": 0.1}
    model = em.train(name, [["a", "x", "b"]] * 400, threads=1, seed=1, **settings)
    output = model.tables["output"]
    assert output.shape == (3, 2, 8)
    left_of_centre, right_of_centre = output[model.vocabulary.index("x")]
    assert model.vectors["a"] @ left_of_centre > model.vectors["a"] @ right_of_centre + 1
    assert model.vectors["b"] @ right_of_centre > model.vectors["b"] @ left_of_centre + 1
