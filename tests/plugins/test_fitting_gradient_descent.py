"""Gradient descent on composition functions."""

from types import SimpleNamespace

import numpy as np

from embeddings.plugins.tensor_indexing import fitting
from embeddings.plugins.tensor_indexing.functions import PhraseVectors


def part(seed, n=60, dim=4):
    return PhraseVectors(*np.random.default_rng(seed).normal(size=(3, n, dim)))


class Counting(fitting.Adam):
    """Adds one at every step, whatever the learning rate."""

    def step(self, parameters, gradient, rate):
        parameters["steps"] += 1


def test_early_stopping_restores_the_best(monkeypatch):
    """The function improves for three epochs, then gets worse; its parameter counts updates."""
    monkeypatch.setattr(fitting, "Adam", Counting)
    monkeypatch.setattr(fitting, "tensor_indexing", lambda parameters, x, y: x * 0 + abs(3.0 - parameters["steps"][0]))
    monkeypatch.setattr(
        fitting, "tensor_indexing_gradient", lambda parameters, x, y, z: (z * 0, {"steps": np.array([-1.0])})
    )
    target = PhraseVectors(*np.zeros((3, 1, 1)))
    how = SimpleNamespace(fit_learning_rate=0.1, fit_epochs=100, fit_batch=8, penalty=0, patience=4)
    start, reports = {"steps": np.zeros(1)}, []
    one = target._replace(z=target.z + 1e-3)
    best, epochs = fitting.descend(
        start,
        one,
        one,
        how,
        np.random.default_rng(0),
        lambda number, epoch: reports.append((number, epoch)),
    )
    assert best["steps"] == [3]
    assert start["steps"] == [0]
    assert [epoch.learning_rate for epoch in epochs] == [0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.025, 0.0125]
    assert min(epochs, key=lambda epoch: epoch.dev) is epochs[3]
    assert [number for number, _ in reports] == [1, 2, 3, 4, 5, 6, 7]
    assert epochs[0].train is None


def test_overflow_restores_the_best():
    train, dev = part(0), part(1)
    start = {name: np.ones((2, 4, 4), np.float32) for name in ("left", "right")} | {"identity": np.zeros(2, np.float32)}
    how = SimpleNamespace(fit_learning_rate=1e20, fit_epochs=50, fit_batch=8, penalty=0, patience=3)
    best, epochs = fitting.descend(start, train, dev, how, np.random.default_rng(0))
    assert len(epochs) == 4
    np.testing.assert_array_equal(best["left"], start["left"])


def test_penalty_keeps_parameters_near_the_start():
    train = part(0)
    start = {name: np.full((2, 4, 4), 0.5) for name in ("left", "right")} | {"identity": np.zeros(2)}
    how = SimpleNamespace(fit_learning_rate=0.01, fit_epochs=300, fit_batch=60, penalty=1e5, patience=300)
    best, _ = fitting.descend(start, train, train, how, np.random.default_rng(0))
    np.testing.assert_allclose(best["left"], 0.5, atol=0.011)
    free, _ = fitting.descend(
        start, train, train, SimpleNamespace(**{**vars(how), "penalty": 0}), np.random.default_rng(0)
    )
    assert abs(free["left"] - 0.5).max() > 0.1
