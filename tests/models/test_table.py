"""Declared tables: sizes, initial values, saved form, and impossible declarations."""

import numpy as np
import pytest

from embeddings.errors import DeclarationError, SettingError
from embeddings.kernels.row_operations import padded
from embeddings.models.table import Table


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
        ({"on_continue": "grow", "saved_as": None}, "on_continue='grow'.*saved"),
        ({"on_continue": "copy", "saved_as": None}, "on_continue='copy'.*saved"),
        ({"rows": 2.5}, "rows.*2.5"),
        ({"dim": 0}, "dim.*0"),
        ({"rows": -1}, "rows.*-1"),
    ],
)
def test_impossible_tables_are_refused(changes, message):
    with pytest.raises((DeclarationError, SettingError), match=message):
        Table(**{"rows": 1, "dim": 1, "axis": "words", **changes})
