"""Merging of replicas: the changes that several replicas made to a row become one change of the merged row.

A change is the difference between a replica's row and the merged row that all replicas started from. n of R replicas
changed the row, by d_1 ... d_n; the rules differ in the change of the merged row:

    mean          (d_1 + ... + d_n) / R: averaging of parameters (McDonald, Hall and Mann 2010)
    mean-changed  (d_1 + ... + d_n) / n
    sum           d_1 + ... + d_n
    coherence     (d_1 + ... + d_n) times c^(5/8) n^(-1/4), c = min(1, (|d_1|^2 + ... + |d_n|^2) / |d_1 + ... + d_n|^2)

coherence adds orthogonal changes times n^(-1/4), and averages equal ones times n^(1/8); its exponents were chosen by
measurement. A row that one replica changed is taken over as it is, except by `mean`. A row is merged in order of the
replicas, so the result does not depend on the number of threads.
"""

from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.row_operations import PADDING, address, copy_row, prefetch

RULES = ("mean", "mean-changed", "sum", "coherence")
MEAN, MEAN_CHANGED, SUM, COHERENCE = range(len(RULES))
MAX_ROW = 2**63 - 1
AHEAD = 4  # rows of a replica that are prefetched
COHERENCE_EXPONENT, DAMPING_EXPONENT = np.float32(0.625), np.float32(-0.25)


@entry_point
def merge_rows(
    merged: np.ndarray, replicas: np.ndarray, first: int, last: int, rule: int, changes: np.ndarray,
    changed: np.ndarray,
) -> int:  # fmt: skip
    """Merge rows first to last of a table, and set the rows of all replicas to the merged ones.

    Rows that no replica changed are only read. Returns the number of changed rows, summed over the replicas.

    Arguments:
        merged: float32 (rows, width).
        replicas: float32 (replicas, rows, width).
        rule: index in `RULES`.
        changes: scratch, float32 (replicas, width).
        changed: scratch, int64 (replicas,).
    """
    count, total = replicas.shape[0], 0
    for row in range(first, last):
        n = 0
        for r in range(count):
            if differs(merged[row], replicas[r, row]):
                changed[n] = r
                n += 1
        total += n
        # Most rows of a large vocabulary did not change since the last merge: they are not written, so their lines stay
        # shared.
        if n == 0:
            continue
        # One replica alone: its row is the result by every rule but the mean, which counts the unchanged replicas.
        if n == 1 and rule != MEAN:
            copy_numbers(replicas[changed[0], row], merged[row])
        else:
            for i in range(n):
                subtract(replicas[changed[i], row], merged[row], changes[i])
            add_changes(changes, n, count, rule, merged[row])
        for r in range(count):
            copy_numbers(merged[row], replicas[r, row])
    return total


class SentRows(NamedTuple):
    """Rows that several replicas changed.

    Arguments:
        numbers: those of the rows of each replica are consecutive and ascending, int64 (total,).
        cursors, ends: where the numbers of a replica begin and end, int64 (replicas,); cursors are moved to the ends.
        values: addresses, int64 (replicas,): of the replica's table, or of where the values of row 0 of `numbers` would
            be, if those of the replica's rows are consecutive.
        is_table: whether a replica has a table here, bool (replicas,).
    """

    numbers: np.ndarray
    cursors: np.ndarray
    ends: np.ndarray
    values: np.ndarray
    is_table: np.ndarray


@entry_point
def merge_sent_rows(
    base: np.ndarray, copies: np.ndarray, sent: SentRows, rule: int, changes: np.ndarray, numbers: np.ndarray,
    merged: np.ndarray,
) -> int:  # fmt: skip
    """Merge the rows that replicas changed as `merge_rows`; returns how many there are.

    Arguments:
        base: the table that all replicas started from, float32 (rows, width).
        copies: the tables of some replicas, float32 (their number, rows, width).
        rule, changes: as for `merge_rows`.
        numbers, merged: set to the numbers of merged rows, int64 (room,), and to the rows, float32 (room, width).
    """
    count = 0
    while True:
        row, n = next_row(base, copies, sent, changes)
        if n == 0:
            return count
        copy_numbers(base[row], merged[count])
        merge_values(changes, n, sent.ends.shape[0], rule, merged[count])
        numbers[count] = row
        count += 1


@inline
def next_row(base: np.ndarray, copies: np.ndarray, sent: SentRows, changes: np.ndarray) -> tuple[int, int]:
    """Copy the values of the next row to `changes`; returns its number, and how many replicas changed it.

    Prefetches what is needed for rows that come soon.
    """
    width, row, n = changes.shape[1], MAX_ROW, 0
    for r in range(sent.cursors.shape[0]):
        if sent.cursors[r] < sent.ends[r]:
            row = min(row, sent.numbers[sent.cursors[r]])
    for r in range(sent.cursors.shape[0]):
        cursor = sent.cursors[r]
        if cursor < sent.ends[r] and sent.numbers[cursor] == row:
            place = row if sent.is_table[r] else cursor
            copy_row(changes, address(changes, n), sent.values[r] + place * width * changes.itemsize, width)
            sent.cursors[r] = cursor + 1
            n += 1
            if cursor + AHEAD < sent.ends[r]:
                later = sent.numbers[cursor + AHEAD]
                prefetch(address(base, later), width * changes.itemsize)
                if not sent.is_table[r]:
                    prefetch(sent.values[r] + (cursor + AHEAD) * width * changes.itemsize, width * changes.itemsize)
                for i in range(copies.shape[0]):
                    prefetch(address(copies[i], later), width * changes.itemsize)
    return row, n


@inline
def merge_values(changes: np.ndarray, n: int, count: int, rule: int, row: np.ndarray) -> None:
    """Merge n values of a row of `count` replicas into the row that they started from; overwrites `changes`."""
    if n == 1 and rule != MEAN:
        copy_numbers(changes[0], row)
        return
    for i in range(n):
        subtract(changes[i], row, changes[i])
    add_changes(changes, n, count, rule, row)


@entry_point
def set_rows(table: np.ndarray, numbers: np.ndarray, values: np.ndarray, first: int, last: int) -> None:
    """Set rows of a table, float32 (rows, width), to values first to last; numbers and values are read-only arrays."""
    for i in range(first, last):
        copy_numbers(values[i], table[numbers[i]])


@entry_point
def find_changed_rows(
    merged: np.ndarray, replica: np.ndarray, first: int, last: int, own: int, counts: np.ndarray, numbers: np.ndarray,
    values: np.ndarray,
) -> None:  # fmt: skip
    """Find and copy the rows from first to last that a replica changed, divided into parts: row i is of part i % parts.

    Arguments:
        merged, replica: float32 (rows, width).
        own: the part whose rows are not copied.
        counts: set to the changed rows of each part, int64 (parts,).
        numbers, values: set to their numbers, int64 (parts, room), and values, float32 (parts, room, width).
    """
    parts = counts.shape[0]
    part = first % parts
    counts[:] = 0
    for row in range(first, last):
        if differs(merged[row], replica[row]):
            count = counts[part]
            numbers[part, count] = row
            if part != own:
                copy_numbers(replica[row], values[part, count])
            counts[part] = count + 1
        part = part + 1 if part + 1 < parts else 0


@inline
def differs(row: np.ndarray, other: np.ndarray) -> bool:
    """Whether two rows differ in any bit; those that do mostly differ in the first numbers."""
    bits, other_bits, difference = row.view(np.int32), other.view(np.int32), np.int32(0)
    for k in range(PADDING):
        difference |= bits[k] ^ other_bits[k]
    if difference == 0:
        for k in range(bits.shape[0]):
            difference |= bits[k] ^ other_bits[k]
    return difference != 0  # type: ignore[no-any-return]


@inline
def add_changes(changes: np.ndarray, n: int, count: int, rule: int, row: np.ndarray) -> None:
    """Add the first n changes to a row, combined by a rule; overwrites `changes`."""
    factor = combine(changes, n, count, rule)
    add_scaled(changes[0], factor, row)


@inline
def combine(changes: np.ndarray, n: int, count: int, rule: int) -> np.float32:
    """Combine the first n changes into `changes[0]`; returns the factor by which it is added."""
    squares = np.float32(0)
    if rule == COHERENCE:
        for i in range(n):
            squares += product(changes[i], changes[i])
    for i in range(1, n):
        add_scaled(changes[i], np.float32(1), changes[0])
    if rule == MEAN:
        return np.float32(1) / np.float32(count)
    if rule == MEAN_CHANGED:
        return np.float32(1) / np.float32(n)
    if rule == COHERENCE:
        # Below 1 the changes agree: their sum is longer than that of orthogonal ones, and adding them in full would
        # overshoot.
        square = product(changes[0], changes[0])
        damping = np.float32(n) ** DAMPING_EXPONENT
        return damping * (squares / square) ** COHERENCE_EXPONENT if square > squares else damping
    return np.float32(1)


@inline
def product(first: np.ndarray, second: np.ndarray) -> np.float32:
    """The scalar product of two rows."""
    total = np.float32(0)
    for k in range(first.shape[0]):
        total += first[k] * second[k]
    return total


@inline
def subtract(row: np.ndarray, other: np.ndarray, output: np.ndarray) -> None:
    """The difference of two rows."""
    for k in range(row.shape[0]):
        output[k] = row[k] - other[k]


@inline
def add_scaled(row: np.ndarray, factor: np.float32, output: np.ndarray) -> None:
    """Add a row times a factor to another one."""
    for k in range(row.shape[0]):
        output[k] += factor * row[k]


@inline
def copy_numbers(row: np.ndarray, output: np.ndarray) -> None:
    """Copy a row."""
    for k in range(row.shape[0]):
        output[k] = row[k]
