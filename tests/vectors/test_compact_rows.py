"""Compact rows: exact shapes, bounded errors of each storage, pruned rows, and damaged arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.errors import FormatError, SettingError
from embeddings.vectors.compact_rows import CompactRows

RNG = np.random.default_rng(3)
MATRIX = (RNG.standard_normal((700, 7)) * RNG.pareto(2, (700, 1))).astype(np.float32)
STORAGES = ["codes", "int8", "float16"]


def cosines(left, right):
    return (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)


@pytest.mark.parametrize(("storage", "lowest"), [("codes", 0.98), ("int8", 0.9999), ("float16", 0.999999)])
def test_each_storage_keeps_directions_and_norms(storage, lowest):
    rows = CompactRows.encode(MATRIX, storage).matrix()
    assert rows.dtype == np.float32
    assert rows.shape == MATRIX.shape
    assert cosines(rows, MATRIX).min() > lowest
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), np.linalg.norm(MATRIX, axis=1), rtol=0.5, atol=0.1)


@pytest.mark.parametrize("storage", STORAGES)
def test_pruned_rows_are_zero_and_the_longest_remain(storage):
    whole, pruned = (CompactRows.encode(MATRIX, storage, cutoff=cutoff) for cutoff in (700, 300))
    assert whole.kept is None
    norms = np.linalg.norm(MATRIX, axis=1)
    is_kept = norms >= np.sort(norms)[-300]
    np.testing.assert_array_equal(pruned.kept, np.flatnonzero(is_kept))
    numbers = RNG.integers(0, 700, 50)
    taken = pruned.take(numbers)
    assert not taken[~is_kept[numbers]].any()
    np.testing.assert_allclose(taken[is_kept[numbers]], MATRIX[numbers][is_kept[numbers]], rtol=0.5, atol=1)
    np.testing.assert_array_equal(pruned.matrix()[numbers], taken)


@settings(max_examples=20, deadline=None)
@given(
    rows=st.integers(0, 5), dim=st.integers(1, 9), part_size=st.integers(1, 9), cutoff=st.none() | st.integers(1, 9),
    storage=st.sampled_from(STORAGES),
)  # fmt: skip
def test_saved_arrays_give_the_same_rows(rows, dim, part_size, cutoff, storage):
    matrix = RNG.standard_normal((rows, dim)).astype(np.float32)
    first = CompactRows.encode(matrix, storage, part_size=min(part_size, dim), cutoff=cutoff)
    again = CompactRows.from_tensors("table", first.tensors("table"))
    assert again.shape == (rows, dim)
    np.testing.assert_array_equal(again.matrix(), first.matrix())
    if storage == "codes":  # so few rows are their own centroids
        expected = first.take(np.arange(rows))
        is_kept = expected.any(axis=1)
        assert is_kept.sum() == (rows if cutoff is None else min(rows, cutoff))
        np.testing.assert_allclose(expected[is_kept], matrix[is_kept], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("storage", STORAGES)
def test_numbers_that_cannot_be_stored_are_refused(storage):
    matrix = MATRIX.copy()
    matrix[5, 2] = np.nan
    with pytest.raises(SettingError, match="NaN"):
        CompactRows.encode(matrix, storage)


def test_wrong_part_sizes_and_long_vectors_are_refused():
    for part_size in (0, 8):
        with pytest.raises(SettingError, match=r"\[1, 7\]"):
            CompactRows.encode(MATRIX, "codes", part_size=part_size)
    with pytest.raises(SettingError, match="float16"):
        CompactRows.encode(MATRIX * 1e6, "float16")


DAMAGES = {
    "no array": lambda t: t.pop("table.centroids"),
    "another array": lambda t: t.update({"table.more": np.zeros(1, np.uint8)}),
    "too few centroids": lambda t: t.update({"table.centroids": t["table.centroids"][:-1]}),
    "another type": lambda t: t.update({"table.norms": t["table.norms"].astype(np.float64)}),
    "too many parts": lambda t: t.update({"table.codes": np.zeros((300, 8), np.uint8)}),
    "unequal parts": lambda t: t.update({"table.codes": np.zeros((300, 5), np.uint8)}),
    "flat codes": lambda t: t.update({"table.codes": np.zeros(300, np.uint8)}),
    "fewer norms": lambda t: t.update({"table.norm_codes": np.zeros(299, np.uint8)}),
    "a row beyond the last": lambda t: t["table.kept"].__setitem__(-1, 700),
    "a negative row": lambda t: t["table.kept"].__setitem__(0, -1),
    "rows in another order": lambda t: t.update({"table.kept": t["table.kept"][::-1].copy()}),
    "more rows than kept": lambda t: t.pop("table.kept"),
    "a negative shape": lambda t: t.update({"table.shape": np.array([-1, 7])}),
    "no columns": lambda t: t.update({"table.shape": np.array([700, 0])}),
    "a flat shape": lambda t: t.update({"table.shape": np.array([700])}),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_arrays_are_refused(damage):
    tensors = CompactRows.encode(MATRIX, "codes", cutoff=300).tensors("table")
    damage(tensors)
    with pytest.raises(FormatError, match="'table'"):
        CompactRows.from_tensors("table", tensors)
