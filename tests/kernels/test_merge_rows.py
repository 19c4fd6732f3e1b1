"""Merge rules, compared with float64 implementations."""

import numpy as np
import pytest

from embeddings.compilation.checked_build import register_rows
from embeddings.kernels.merge_rows import RULES, SentRows, find_changed_rows, merge_rows, merge_sent_rows
from embeddings.kernels.separate_arrays import separate_zeros

KEPT = []  # arrays that kernels get by address


def merged_row(row, replicas, rule):
    """The merged row of a row and its replicas, in float64."""
    changes = [replica.astype(np.float64) - row for replica in replicas if replica.tobytes() != row.tobytes()]
    n = len(changes)
    if n == 0 or (n == 1 and rule != "mean"):
        return row + sum(changes, np.zeros(len(row)))
    total = np.sum(changes, axis=0)
    factors = {"mean": 1 / len(replicas), "mean-changed": 1 / n, "sum": 1.0}
    if rule == "coherence":
        coherence = min(1.0, sum(change @ change for change in changes) / (total @ total or 1.0))
        factors[rule] = coherence**0.625 * n**-0.25
    return row + factors[rule] * total


def merge(merged, replicas, rule, first=0, last=None):
    """Merge rows by the kernel; returns how many were changed."""
    count, _, width = replicas.shape
    scratch = separate_zeros((count, width)), separate_zeros(count, np.int64)
    last = len(merged) if last is None else last
    return merge_rows(merged, replicas, first, last, RULES.index(rule), *scratch)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_rows_are_merged_by_the_rule(rule, count):
    rng = np.random.default_rng(count)
    before = rng.standard_normal((40, 32), np.float32)
    replicas = np.repeat(before[None], count, axis=0)
    common = rng.standard_normal((40, 32), np.float32)
    for replica in replicas:
        changed = rng.random(40) < 0.6
        replica[changed] += (0.1 * (common + rng.standard_normal((40, 32))))[changed].astype(np.float32)
    expected = np.array([merged_row(row, replicas[:, i], rule) for i, row in enumerate(before)])
    number = sum(replica[i].tobytes() != before[i].tobytes() for replica in replicas for i in range(40))
    merged = before.copy()
    assert merge(merged, replicas, rule) == number
    np.testing.assert_allclose(merged, expected, rtol=1e-5, atol=1e-6)
    assert all(replica.tobytes() == merged.tobytes() for replica in replicas)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "mean"])
def test_a_row_that_one_replica_changed_is_taken_over(rule):
    rng = np.random.default_rng(2)
    merged = rng.standard_normal((3, 16), np.float32)
    replicas = np.repeat(merged[None], 3, axis=0)
    replicas[1, 2] = own = rng.standard_normal(16).astype(np.float32)
    merge(merged, replicas, rule)
    assert merged[2].tobytes() == own.tobytes()


@pytest.mark.parametrize("rule", RULES)
def test_changes_of_the_last_bit_and_of_signs_of_zero_are_merged(rule):
    """Otherwise replicas would differ after a resume, which starts them from the merged tables."""
    merged = np.array([[0.0] * 16, [1.0] * 16], np.float32)
    replicas = np.repeat(merged[None], 2, axis=0)
    replicas[0, 0, 15] = -0.0
    replicas[1, 0, 3] = 1e-45  # whose square is 0
    replicas[1, 1, 0] = np.nextafter(np.float32(1), np.float32(2))
    assert merge(merged, replicas, rule) == 3
    assert all(replica.tobytes() == merged.tobytes() for replica in replicas)
    assert np.isfinite(merged).all()


@pytest.mark.parametrize("rule", RULES)
def test_other_rows_stay_as_they_are(rule):
    rng = np.random.default_rng(4)
    merged = rng.standard_normal((10, 16), np.float32)
    replicas = rng.standard_normal((3, 10, 16), np.float32)
    before, replicas_before = merged.copy(), replicas.copy()
    merge(merged, replicas, rule, 2, 5)
    outside = [0, 1, *range(5, 10)]
    np.testing.assert_array_equal(merged[outside], before[outside])
    np.testing.assert_array_equal(replicas[:, outside], replicas_before[:, outside])
    assert not (merged[2:5] == before[2:5]).all(axis=1).any()


@pytest.mark.parametrize("rule", RULES)
def test_numbers_that_are_not_finite_remain(rule):
    """A run that diverges must not look as if it had not."""
    merged = np.zeros((1, 16), np.float32)
    replicas = np.repeat(merged[None], 2, axis=0)
    replicas[0, 0, 0], replicas[1, 0, 1] = np.nan, 1
    merge(merged, replicas, rule)
    assert np.isnan(merged[0, 0])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("count", "width"), [(1, 16), (2, 112), (3, 16), (5, 304), (8, 112)])
def test_rows_that_are_sent_are_merged_to_the_same_bytes(rule, count, width):
    rng = np.random.default_rng(count)
    base = rng.standard_normal((200, width), np.float32)
    replicas = np.repeat(base[None], count, axis=0)
    common = rng.standard_normal((200, width), np.float32)
    for replica in replicas:
        rows = np.flatnonzero(rng.random(200) < 0.5)
        replica[rows] += (0.1 * (common + rng.standard_normal((200, width))))[rows].astype(np.float32)
    expected, copies = base.copy(), replicas[:1].copy()
    merge(expected, replicas.copy(), rule)  # in place
    changed = np.flatnonzero((replicas != base).any(axis=(0, 2)))
    numbers, merged, scratch = np.zeros(200, np.int64), np.zeros((200, width), np.float32), np.zeros((count, width))
    scratch = scratch.astype(np.float32)
    n = merge_sent_rows(base, copies, sent(base, replicas, copies), RULES.index(rule), scratch, numbers, merged)
    assert numbers[:n].tolist() == changed.tolist()
    assert merged[:n].tobytes() == expected[changed].tobytes()


def sent(base, replicas, copies):
    """The rows that replicas changed, of which the first one is in `copies`."""
    numbers = [np.flatnonzero((replica != base).any(axis=1)) for replica in replicas]
    ends = np.cumsum([len(rows) for rows in numbers])
    values = np.concatenate([replica[rows] for replica, rows in zip(replicas, numbers, strict=True)])
    register_rows(values, base)
    register_rows(copies[0], base)
    addresses = np.full(len(replicas), values.ctypes.data)
    addresses[0] = copies.ctypes.data
    KEPT.append(values)
    starts = np.append(0, ends[:-1])
    return SentRows(np.concatenate(numbers), starts, ends, addresses, np.arange(len(replicas)) == 0)


@pytest.mark.parametrize(("parts", "own"), [(1, -1), (3, 1)])
def test_changed_rows_are_found_by_part(parts, own):
    rng = np.random.default_rng(parts)
    base = rng.standard_normal((100, 48), np.float32)
    replica = base.copy()
    changed = np.flatnonzero(rng.random(100) < 0.5)
    replica[changed, rng.integers(0, 48, len(changed))] += 1
    counts, numbers = np.ones(parts, np.int64), np.zeros((parts, 90), np.int64)
    values = np.zeros((parts, 90, 48), np.float32)
    find_changed_rows(base, replica, 10, 95, own, counts, numbers, values)
    for part in range(parts):
        rows = [row for row in changed if 10 <= row < 95 and row % parts == part]
        assert numbers[part, : counts[part]].tolist() == rows
        assert (values[part, : len(rows)] == (0 if part == own else replica[rows])).all()
