"""Slow, obvious versions of what indexes compute."""

import numpy as np


def signature(row, normals, offsets):
    """The bits of a row, one plane after another."""
    return [bool(np.float64(p) @ np.float64(row) > o) for p, o in zip(normals, offsets, strict=True)]


def unpack_bits(words, row, bits):
    """The bits of a row in packed words."""
    return [bool((int(words[j // 64, row]) >> (j % 64)) & 1) for j in range(bits)]


def distance(a, b):
    """How many bits differ."""
    return sum(x != y for x, y in zip(a, b, strict=True))


def best_rows(units, query, rows, top):
    """Rows by cosine, a tie to the lower one."""
    cosines = [(-float(np.clip(np.float64(units[row]) @ query, -1, 1)), row) for row in rows]
    return [row for _, row in sorted(cosines)[:top]]
