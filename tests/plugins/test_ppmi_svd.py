"""Factorised PPMI against a naive dense version, and what is refused."""

import numpy as np
import pytest

from embeddings.errors import CorpusError
from embeddings.plugins import ppmi_svd
from embeddings.training import ShiftedPPMI

WORDS = [f"w{i}" for i in range(30)]


def random_lines(count=300, seed=1):
    """Lines of words, some of them far more frequent than others."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 31)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 12), p=weights / weights.sum())) for _ in range(count)]


def naive_vectors(lines, words, settings):
    """The vectors of words by dense matrices, one pair of words at a time."""
    ids, size = {word: i for i, word in enumerate(words)}, len(words)
    counts = np.zeros((size, size))
    for line in lines:
        row = [ids[word] for word in line.split() if word in ids]
        for i, word in enumerate(row):
            for j, context in enumerate(row):
                distance = abs(i - j)
                if 0 < distance <= settings.window:
                    share = (settings.window + 1 - distance) / settings.window if settings.shrink_window else 1
                    counts[word, context] += share
    context_counts = counts.sum(axis=0) ** settings.context_exponent
    expected = np.outer(counts.sum(axis=1) / counts.sum(), context_counts / context_counts.sum())
    scores = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            if counts[i, j]:
                scores[i, j] = max(np.log(counts[i, j] / counts.sum() / expected[i, j] / settings.shift), 0)
    left, values, _ = np.linalg.svd(scores)
    return (left * values**settings.singular_value_exponent)[:, : settings.dim]


@pytest.mark.parametrize("max_dense", [0, 500], ids=["sparse", "dense"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"shrink_window": False, "window": 3},
        {"context_exponent": 1.0, "singular_value_exponent": 1.0},
        {"shift": 1.5, "singular_value_exponent": 0.0},
        {"min_count": 60},
    ],
    ids=str,
)
def test_vectors_are_those_of_the_naive_version(settings, max_dense, monkeypatch):
    monkeypatch.setattr(ppmi_svd, "MAX_DENSE", max_dense)
    trainer = ShiftedPPMI(**{"dim": 5, "min_count": 1, **settings})
    lines = random_lines()
    model = trainer.train(lines, seed=3)
    assert (len(model.vectors) == 30) == ("min_count" not in settings)
    expected = naive_vectors(lines, model.vectors.words, trainer)
    signs = np.sign((model.vectors.matrix * expected).sum(axis=0))
    np.testing.assert_allclose(model.vectors.matrix * signs, expected, atol=1e-4)


def test_a_seed_makes_the_vectors_reproducible(monkeypatch):
    monkeypatch.setattr(ppmi_svd, "MAX_DENSE", 0)
    models = [ShiftedPPMI(dim=5, min_count=1).train(random_lines(), seed=seed) for seed in (1, 1, 2)]
    rows = [model.vectors.matrix for model in models]
    assert rows[0].tobytes() == rows[1].tobytes()
    np.testing.assert_allclose(rows[0] @ rows[0].T, rows[2] @ rows[2].T, atol=1e-4)


def test_components_beyond_the_rank_are_zeros_and_announced(caplog):
    model = ShiftedPPMI(dim=40, min_count=1).train(random_lines())
    assert model.vectors.matrix.shape == (30, 40)
    assert model.vectors.matrix[:, 0].all()
    assert not model.vectors.matrix[:, 30:].any()
    assert "dim=40" in caplog.text
    assert "30 words" in caplog.text


@pytest.mark.parametrize(
    ("lines", "settings", "message"),
    [
        (["a", "b"], {}, "no score is positive"),
        (["a b"] * 3, {"shift": 1000.0}, "no score is positive.*shift"),
    ],
)
def test_texts_of_which_nothing_can_be_learned(lines, settings, message):
    with pytest.raises(CorpusError, match=message):
        ShiftedPPMI(dim=2, min_count=1, **settings).train(lines)
