"""Declared tables: sizes, initial values, saved form, and impossible declarations."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import DeclarationError, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.models.table import Table, word_vectors
from embeddings.testing.trainer_contract import synonym_corpus


def test_slots_are_rows_or_parts_of_a_row():
    table = Table(rows=3, dim=5, axis="words", slots=2)
    joined = Table(rows=3, dim=5, axis="words", slots=2, is_concatenated=True)
    assert table.allocate(1).shape == (6, padded(5))
    assert joined.allocate(1).shape == (3, 2 * padded(5))
    assert table.saved_shape == joined.saved_shape == (3, 2, 5)


@pytest.mark.parametrize("is_concatenated", [False, True])
def test_set_rows_and_unpad_are_inverse(is_concatenated):
    declared = Table(rows=4, dim=5, axis="words", slots=2, is_concatenated=is_concatenated)
    values = np.random.default_rng(1).random((4, 2, 5), np.float32)
    table = declared.allocate(1)
    declared.set_rows(table, slice(None), values)
    assert table.sum() == pytest.approx(values.sum())
    np.testing.assert_array_equal(declared.unpad(table), values)


@pytest.mark.parametrize(
    ("axis", "expected"),
    [("words", "grow"), ("subwords", "copy"), ("documents", "restart"), ("labels", "refuse"), ("other", "refuse")],
)
def test_continuation_follows_from_the_axis(axis, expected):
    assert Table(rows=1, dim=1, axis=axis).continuation == expected
    assert Table(rows=1, dim=1, axis=axis, on_continue="copy").continuation == "copy"
    assert Table(rows=1, dim=1, axis=axis, saved_as=None).continuation == "restart"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axis": "sentences"}, "axis.*words.*'sentences'"),
        ({"on_continue": "keep"}, "on_continue.*grow"),
        ({"rows": 2.5}, "rows.*2.5"),
        ({"dim": 0}, "dim.*0"),
        ({"rows": -1}, "rows.*-1"),
    ],
)
def test_impossible_tables_are_refused(changes, message):
    with pytest.raises((DeclarationError, SettingError), match=message):
        Table(**{"rows": 1, "dim": 1, "axis": "words", **changes})


ROWS, DIM = 70_000, 20


def test_word_vectors_fill_their_range_and_depend_on_the_seed():
    table = word_vectors(ROWS, DIM).allocate(1)
    assert not table[:, DIM:].any()
    for rows in (table[:1000, :DIM], table[-1000:, :DIM]):
        assert -1 / DIM <= rows.min() < -0.99 / DIM
        assert 0.99 / DIM < rows.max() <= 1 / DIM
        assert rows.std() == pytest.approx(1 / DIM / np.sqrt(3), rel=0.02)
    same, other = (word_vectors(9, 5).allocate(seed) for seed in (3, 4))
    assert np.array_equal(same, word_vectors(9, 5).allocate(3))
    assert not np.array_equal(same, other)
    assert word_vectors(0, 5).allocate(1).shape == (0, padded(5))


@pytest.mark.parametrize(
    ("trainer", "settings"), [("skipgram", {}), ("fasttext", {"buckets": 99}), ("paragraph-dm", {})]
)
def test_models_start_from_such_values(trainer, settings):
    """With a tiny learning rate the vectors of words, or of documents, are still the initial ones."""
    still = {"dim": 8, "min_count": 1, "epochs": 1, "threads": 1, "learning_rate": 1e-9, **settings}
    model = em.train(trainer, synonym_corpus(), **still)
    assert 0 < np.abs(model.tables.get("documents", model.vectors.matrix)).max() <= 1 / 8
