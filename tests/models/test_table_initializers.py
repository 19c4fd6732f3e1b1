"""Initialisers: ranges and moments; the padding stays zero and seeds differ."""

import numpy as np
import pytest

import embeddings as em
from embeddings.models.table import BLOCK_ROWS, INITIALIZERS, word_vectors, zero_rows
from embeddings.testing.trainer_contract import synonym_corpus

ROWS, DIM = BLOCK_ROWS + 1000, 20


def table_of(name, rows=ROWS, dim=DIM, seed=1):
    table = zero_rows(rows, dim)
    INITIALIZERS[name](table, dim, seed)
    assert not table[:, dim:].any()
    return table[:, :dim]


def test_uniform_numbers_fill_their_range():
    table, bound = table_of("uniform"), 1 / DIM
    assert np.abs(table).max() <= bound * (1 + 1e-6)
    for rows in (table[:1000], table[-1000:]):
        assert rows.min() < -0.99 * bound
        assert rows.max() > 0.99 * bound
        assert rows.std() == pytest.approx(bound / np.sqrt(3), rel=0.02)


def test_normal_numbers():
    table = table_of("normal")
    for rows in (table[:1000], table[-1000:]):
        assert rows.std() == pytest.approx(1 / DIM, rel=0.02)
        assert abs(rows.mean()) < 0.02 / DIM
        assert np.mean(np.abs(rows) < 1 / DIM) == pytest.approx(0.683, abs=0.01)


@pytest.mark.parametrize("name", INITIALIZERS)
def test_seeds_decide(name):
    assert np.array_equal(table_of(name, 100), table_of(name, 100))
    assert not np.array_equal(table_of(name, 100), table_of(name, 100, seed=2))
    assert table_of(name, 0).shape == (0, DIM)


def test_the_default_is_uniform():
    assert np.array_equal(word_vectors(9, 5).allocate(3)[:, :5], table_of("uniform", 9, 5, 3))


@pytest.mark.parametrize(
    ("trainer", "settings"),
    [("skipgram", {}), ("fasttext", {"buckets": 99}), ("paragraph-dm", {})],
)
def test_models_start_from_the_chosen_values(trainer, settings):
    """With a tiny learning rate the vectors of words, or of documents, are still the initial ones."""
    still = {"dim": 8, "min_count": 1, "epochs": 1, "threads": 1, "learning_rate": 1e-9, **settings}
    models = [em.train(trainer, synonym_corpus(), initializer=name, **still) for name in ("uniform", "normal")]
    tables = [model.tables.get("documents", model.vectors.matrix).astype(np.float64) for model in models]
    assert np.abs(tables[0]).max() <= 1 / 8
    assert trainer == "fasttext" or np.abs(tables[1]).max() > 1 / 8  # whose vectors are means
