"""Slow, obvious versions of what indexes compute."""

from itertools import combinations

import numpy as np


def signature(row, normals, offsets):
    """The bits of a row, one plane after another."""
    return [bool(np.float64(p) @ np.float64(row) > o) for p, o in zip(normals, offsets, strict=True)]


def bits_of(words, row, bits):
    """The bits of a row as packed words hold them."""
    return [bool((int(words[j // 64, row]) >> (j % 64)) & 1) for j in range(bits)]


def distance(a, b):
    """How many bits differ."""
    return sum(x != y for x, y in zip(a, b, strict=True))


def probes(margins, count):
    """All sets of planes by the sum of their margins, the best first."""
    places = range(len(margins))
    sets = [chosen for size in range(len(margins) + 1) for chosen in combinations(places, size)]
    return sorted(sets, key=lambda chosen: sum(margins[j] for j in chosen))[:count]


def buckets(signatures, bits, tables):
    """For each table, the rows of each code."""
    found = [{} for _ in range(tables)]
    for row, signed in enumerate(signatures):
        for table in range(tables):
            own = signed[table * bits : (table + 1) * bits]
            found[table].setdefault(tuple(own), []).append(row)
    return found


def candidates(query, normals, offsets, found, bits, count):
    """The rows in the best `count` buckets of each table."""
    products = [float(np.float64(p) @ np.float64(query)) for p in normals]
    rows = set()
    for table, own in enumerate(found):
        planes = range(table * bits, (table + 1) * bits)
        code = [products[j] > offsets[j] for j in planes]
        margins = [(products[j] - offsets[j]) ** 2 for j in planes]
        for flips in probes(margins, count):
            crossed = tuple(bit != (j in flips) for j, bit in enumerate(code))
            rows |= set(own.get(crossed, []))
    return rows


def best(units, query, rows, top):
    """Rows by cosine, a tie to the lower one."""
    cosines = [(-float(np.clip(np.float64(units[row]) @ query, -1, 1)), row) for row in rows]
    return [row for _, row in sorted(cosines)[:top]]
