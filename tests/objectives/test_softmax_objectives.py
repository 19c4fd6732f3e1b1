"""Noise-contrastive estimation and sampled softmax approach full softmax."""

import numpy as np
import pytest
from kernel_helpers import SMALL_DIM, position_and_block
from test_objective_steps import COUNTS, WIDTH, Trial, random_rows

from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins import skipgram


def steps_of_window(name, noise):
    """The changes of the first inputs and of the output rows over the rate, for one window."""
    trial, words = Trial(name, len(noise)), random_rows(len(COUNTS))
    block, _ = position_and_block([3, 6, 0], 1, 0, 3, noise)
    buffers = new_step_buffers(2, trial.objective.max_targets, WIDTH, dtype=np.float64)
    before = words.copy(), trial.tables["output"].copy()
    skipgram.learn_block(block, skipgram.SkipGramOperands(words, trial.operand), buffers, 1e-7)
    return (words - before[0]) / 1e-7, (trial.tables["output"] - before[1]) / 1e-7


def draw(trial_name, count, seed):
    return np.random.default_rng(seed).choice(len(COUNTS), size=count, p=Trial(trial_name, 1).q).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["sampled softmax", "log-uniform"])
def test_sampled_softmax_approaches_full_softmax(name, seed):
    """With 1,000 proposals of 9 words all words are candidates, and the correction is 1."""
    expected = steps_of_window("full softmax", [1])
    for steps, full in zip(steps_of_window(name, draw(name, 1000, seed)), expected, strict=True):
        np.testing.assert_allclose(steps, full, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_nce_approaches_full_softmax(seed):
    """With k noise words the gradient differs by about 1 / sqrt(k), if the biases normalise the scores of the input."""
    words, full = random_rows(len(COUNTS)), Trial("full softmax", 1)
    k, rows = 100_000, full.tables["output"][:, :SMALL_DIM]
    hidden = words[3, :SMALL_DIM]
    bias = np.full((len(COUNTS), 1), -np.log(np.exp(rows @ hidden).sum()))
    trial = Trial("nce", 1)
    trial.operand = trial.operand._replace(negatives=k, log_noise=np.log(k * trial.q))
    trial.tables["output"][:, :SMALL_DIM], trial.tables["bias"][:, :1] = rows, bias
    block, _ = position_and_block([3, 6], 1, 0, 2, draw("nce", k, seed))
    buffers = new_step_buffers(1, 1 + k, WIDTH, dtype=np.float64)
    before = trial.tables["output"].copy()
    skipgram.learn_block(block, skipgram.SkipGramOperands(words, trial.operand), buffers, 1e-7)
    change = (trial.tables["output"] - before)[:, :SMALL_DIM] / 1e-7
    probabilities = np.exp(rows @ hidden + bias[:, 0])
    expected = np.outer(np.eye(len(COUNTS))[6] - probabilities, hidden)
    np.testing.assert_allclose(change, expected, rtol=0, atol=0.02 * abs(expected).max())


def test_biases_of_nce_start_at_the_noise_distribution():
    """So that at first a word is data with probability 1 / (1 + k)."""
    trial = Trial("nce", 5)
    biases = trial.declared["bias"].allocate(1)[:, 0]
    np.testing.assert_allclose(np.exp(biases), trial.q, rtol=1e-6)
    assert np.exp(biases).sum() == pytest.approx(1)
