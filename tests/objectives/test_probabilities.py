"""Probabilities of words sum to one, exact objectives train on them, and estimates approach full softmax."""

import numpy as np
import pytest
from kernel_helpers import SMALL_DIM, position_and_block
from test_objective_steps import COUNTS, OBJECTIVES, WIDTH, Trial, random_rows

from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.objectives.adaptive_softmax import best_cutoffs, expected_cost
from embeddings.objectives.frequency_clusters import cluster_starts
from embeddings.plugins import skipgram

EXACT = ["huffman", "clusters", "adaptive", "full softmax"]
SHAPES = [{}, {"slots": 2}, {"slots": 3, "is_concatenated": True}]


def saved_tables(trial):
    return {name: trial.declared[name].unpad(table.copy()) for name, table in trial.tables.items()}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_probabilities_sum_to_one(name, shape):
    trial = Trial(name, 3, **shape)
    size = SMALL_DIM * (shape["slots"] if "is_concatenated" in shape else 1)
    hidden = np.random.default_rng(3).normal(size=(6, size))
    slot = 1 if shape == {"slots": 2} else 0
    logarithms = trial.objective.log_probabilities(hidden, saved_tables(trial), slot)
    assert logarithms.shape == (6, len(COUNTS))
    np.testing.assert_allclose(np.exp(logarithms).sum(axis=1), 1, rtol=1e-12)
    if name in EXACT:
        padded_hidden = np.zeros((6, size // SMALL_DIM, WIDTH))
        padded_hidden[:, :, :SMALL_DIM] = hidden.reshape(6, -1, SMALL_DIM)
        rows = padded_hidden.reshape(6, -1) if "is_concatenated" in shape else hidden
        losses = [[trial.loss(word, row, [], slot) for word in range(len(COUNTS))] for row in rows]
        np.testing.assert_allclose(-logarithms, losses, rtol=1e-12)


@pytest.mark.parametrize("max_scores", [10, 2**22])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_probabilities_of_single_words_equal_those_of_all(name, shape, max_scores, monkeypatch):
    monkeypatch.setattr("embeddings.objectives.softmax_probabilities.MAX_SCORES", max_scores)
    trial, rng = Trial(name, 3, **shape), np.random.default_rng(4)
    hidden = rng.normal(size=(6, SMALL_DIM * (shape["slots"] if "is_concatenated" in shape else 1))) * 30
    tables, slot = saved_tables(trial), 1 if shape == {"slots": 2} else 0
    expected = trial.objective.log_probabilities(hidden, tables, slot)
    for count in (0, 1, 40):
        rows, words = np.sort(rng.choice([0, 1, 3, 4], count)), rng.integers(len(COUNTS), size=count)
        logarithms = trial.objective.word_log_probabilities(hidden, tables, rows, words, slot)
        np.testing.assert_allclose(logarithms, expected[rows, words], rtol=1e-12, atol=1e-12)


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


def test_clusters_of_frequent_words_are_small():
    counts = (1e6 / np.arange(1, 10_001)).astype(np.int64)
    sizes = np.diff(cluster_starts(counts))
    assert sizes.sum() == 10_000
    assert 80 <= len(sizes) <= 100
    assert sizes[0] <= 3
    assert 100 < sizes.max() < 400
    assert cluster_starts(np.array([3])).tolist() == [0, 1]


def test_default_cutoffs():
    """The head has about 4 sqrt(n) words; no other tails cost less."""
    counts = (1e6 / np.arange(1, 30_001)).astype(np.int64)
    shares = np.append(0, np.cumsum(counts) / counts.sum())
    first, *others = cutoffs = best_cutoffs(counts, 100)
    assert first == 693
    assert 1 <= len(others) <= 4
    for rest in ([], [10_000], [5000, 20_000], [1000, 3000, 10_000], [others[0]], others[1:]):
        assert expected_cost(cutoffs, shares, 100) <= expected_cost((first, *rest), shares, 100)
    assert best_cutoffs(np.array([5]), 100) == best_cutoffs(np.array([5, 4]), 100) == ()
