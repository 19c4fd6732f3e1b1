"""Sampled softmax approaches full softmax."""

import numpy as np
import pytest
from kernel_helpers import position_and_block
from test_objective_steps import COUNTS, WIDTH, Trial, random_rows

from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins import skipgram


def steps_of_window(name, noise, tables=None, **more):
    """The changes of the first inputs and of the output rows over the rate, for one window."""
    trial, words = Trial(name, len(noise)), random_rows(len(COUNTS))
    for table, values in (tables or {}).items():
        trial.tables[table][:, : values.shape[1]] = values
    block, _ = position_and_block([3, 6, 0], 1, 0, 3, noise)
    buffers = new_step_buffers(2, trial.objective.max_targets, WIDTH, dtype=np.float64)
    before = words.copy(), trial.tables["output"].copy()
    skipgram.learn_block(block, skipgram.SkipGramOperands(words, trial.operand), buffers, 1e-7)
    return (words - before[0]) / 1e-7, (trial.tables["output"] - before[1]) / 1e-7


def draw(trial_name, count, seed):
    return np.random.default_rng(seed).choice(len(COUNTS), size=count, p=Trial(trial_name, 1).q).tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["sampled softmax", "log-uniform"])
def test_sampled_softmax_approaches_full_softmax(name, seed):
    """With 1,000 proposals of 9 words all words are candidates, and the correction is 1."""
    expected = steps_of_window("full softmax", [1])
    for steps, full in zip(steps_of_window(name, draw(name, 1000, seed)), expected, strict=True):
        np.testing.assert_allclose(steps, full, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_sampled_softmax_is_nearer_with_more_proposals(seed):
    expected = steps_of_window("full softmax", [1])[1]

    def error(proposals):
        drawn = [draw("sampled softmax", proposals, 20 * seed + n) for n in range(8)]
        return np.mean([abs(steps_of_window("sampled softmax", noise)[1] - expected).max() for noise in drawn])

    assert error(2) > error(10) > error(100)
