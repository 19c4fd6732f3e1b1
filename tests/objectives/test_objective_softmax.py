"""Probabilities of words sum to one, and those of single words equal those of all."""

import numpy as np
import pytest
from kernel_helpers import SMALL_DIM
from test_objective_steps import COUNTS, OBJECTIVES, WIDTH, Trial

EXACT = ["huffman", "adaptive", "full softmax"]
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
    monkeypatch.setattr("embeddings.objectives.objective.MAX_SCORES", max_scores)
    trial, rng = Trial(name, 3, **shape), np.random.default_rng(4)
    hidden = rng.normal(size=(6, SMALL_DIM * (shape["slots"] if "is_concatenated" in shape else 1))) * 30
    tables = saved_tables(trial)
    for slot in ([], [1]) if shape == {"slots": 2} else ([],):  # by default the first
        expected = trial.objective.log_probabilities(hidden, tables, *slot)
        for count in (0, 1, 40):
            rows, words = np.sort(rng.choice([0, 1, 3, 4], count)), rng.integers(len(COUNTS), size=count)
            logarithms = trial.objective.word_log_probabilities(hidden, tables, rows, words, *slot)
            np.testing.assert_allclose(logarithms, expected[rows, words], rtol=1e-12, atol=1e-12)
