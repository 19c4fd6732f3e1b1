"""The average over the last share of training is the mean of the tables at 20 points, also in a resumed run."""

from unittest.mock import patch

import numpy as np
import pytest
from interrupted_runs import corpus, interrupted_at_check, learn, table_bytes

import embeddings as em
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.average import BLOCK, POINTS, Average


def test_mean_of_arrays():
    rng = np.random.default_rng(1)
    arrays = rng.normal(size=(7, BLOCK + 5)).astype(np.float32)
    average = Average(1.0)
    for array in arrays:
        average.add({"words": array})
    np.testing.assert_allclose(average.tables["words"], arrays.mean(axis=0), atol=1e-6)


def test_points_divide_the_last_share():
    average, due = Average(0.4), []
    while average.due is not None:
        due.append(average.due)
        average.add({"a": np.zeros(1, np.float32)})
    np.testing.assert_allclose(due, [0.6 + 0.4 * k / POINTS for k in range(1, POINTS)])
    assert Average(None).due is None


@pytest.mark.parametrize("threads", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_average_of_a_run_is_the_mean_of_its_tables(threads):
    tables = []

    def add(self, values):
        tables.append(values["words"].copy())
        original(self, values)

    original = Average.add
    with patch.object(Average, "add", add):
        model = learn("skipgram", corpus("skipgram"), {"epochs": 9, "average_last": 0.5}, threads=threads)
    assert len(tables) == POINTS
    assert len({table.tobytes() for table in tables}) > 3  # a block can pass several points
    np.testing.assert_allclose(model.vectors.matrix, np.mean(tables, axis=0)[:, :8], atol=1e-6)
    assert model.record["average"] == {"share": 0.5, "points": POINTS}
    plain = learn("skipgram", corpus("skipgram"), {"epochs": 9}, threads=threads)
    assert "average" not in plain.record
    if threads == 1:
        assert plain.vectors.matrix.tobytes() == np.ascontiguousarray(tables[-1][:, :8]).tobytes()


def test_resumed_run_has_the_same_average(tmp_path):
    text, settings = corpus("cbow"), {"average_last": 0.7, "epochs": 4, "shuffle": True}
    whole = learn("cbow", text, settings)
    for checks in range(1, 40, 6):
        checkpoints = em.Checkpoints(tmp_path / str(checks))
        for number in range(2):
            with interrupted_at_check(checks if number == 0 else 2), pytest.raises(em.training.Interrupted):
                learn("cbow", text, settings, checkpoints=checkpoints, resume=number > 0)
        resumed = learn("cbow", text, settings, checkpoints=checkpoints, resume=True)
        assert table_bytes(resumed) == table_bytes(whole), checks
        assert resumed.record["average"] == whole.record["average"]


def scores_by_words(scores, average):
    """A score function by the number of epochs that the model has read; `average` is that of an averaged model."""
    return lambda model: average if "average" in model.record else scores[model.record["words"] // 2400 - 1]


@pytest.mark.parametrize(("score", "returned"), [(4.0, "average"), (3.0, "epoch 2"), (2.0, "epoch 2")])
def test_the_better_of_average_and_best_epoch_is_returned(score, returned):
    stopping = em.EarlyStopping(score=scores_by_words([1.0, 3.0, 2.0, 2.5], score))
    model = learn("cbow", synonym_corpus(), {"epochs": 4, "average_last": 0.4}, callbacks=[stopping])
    assert model.record["early_stopping"] == {
        "scores": [1.0, 3.0, 2.0, 2.5], "best_epoch": 2, "patience": 2, "average_score": score, "returned": returned,
    }  # fmt: skip
    assert ("average" in model.record) == (returned == "average")
    best = learn("cbow", synonym_corpus(), {"epochs": 4}, callbacks=[stopping])
    assert (table_bytes(model) == table_bytes(best)) == (returned == "epoch 2")


def test_a_run_that_stops_before_the_last_share_has_no_average():
    stopping = em.EarlyStopping(score=scores_by_words([3.0, 2.0, 1.0], 9.0), patience=1)
    model = learn("cbow", synonym_corpus(), {"epochs": 9, "average_last": 0.5}, callbacks=[stopping])
    assert model.record["early_stopping"] == {"scores": [3.0, 2.0], "best_epoch": 1, "patience": 1}
