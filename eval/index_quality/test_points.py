"""What is searched, and what is searched for."""

import re
from dataclasses import dataclass

import numpy as np

from embeddings.errors import SettingError
from embeddings.vectors.vectors import Vectors

RANDOM = re.compile(r"random:(\d{1,9})x(\d{1,5})")
MOST_NUMBERS, MOST_QUERIES = 1 << 28, 1_000_000


@dataclass(frozen=True)
class Points:
    """Vectors, and queries (queries, dim) for them.

    `own` (queries,) is the row of each query that is a row itself and no answer; None where queries are no rows.
    """

    name: str
    vectors: Vectors
    queries: np.ndarray
    own: np.ndarray | None


def random_points(rows: int, dim: int, *, queries: int, seed: int) -> Points:
    """Independent normal points, the worst case for hashing: none is much nearer than another. Queries are others.

    Raises:
        SettingError: fewer than two rows, no component or query, or more than 2^28 numbers.
    """
    check_random(rows, dim)
    check_queries(queries)
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((rows + queries, dim), dtype=np.float32)
    return Points(f"random:{rows}x{dim}", Vectors([str(row) for row in range(rows)], drawn[:rows]), drawn[rows:], None)


def points_of(vectors: Vectors, name: str, *, queries: int, seed: int) -> Points:
    """Vectors, and so many of their own words, each as likely as another, as queries; all of them if there are fewer.

    Raises:
        SettingError: no query, or fewer than two words.
    """
    check_queries(queries)
    if len(vectors) < 2:
        raise SettingError(f"{name} has {len(vectors)} words: neighbours need two")
    own = np.random.default_rng(seed).choice(len(vectors), min(queries, len(vectors)), replace=False)
    return Points(name, vectors, vectors.units[own], own)


def named_points(text: str) -> tuple[int, int] | None:
    """The rows and components of a name such as random:10000x128; None for any other name."""
    found = RANDOM.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None


def check_random(rows: int, dim: int) -> None:
    """Refuse too few random points, or more than memory may hold.

    Raises:
        SettingError: saying so.
    """
    if rows < 2 or dim < 1 or rows * dim > MOST_NUMBERS:
        raise SettingError(f"random points must be at least 2x1, and at most {MOST_NUMBERS} numbers, not {rows}x{dim}")


def check_queries(queries: int) -> None:
    """Refuse to ask nothing, or more than memory may hold.

    Raises:
        SettingError: naming the setting.
    """
    if not 1 <= queries <= MOST_QUERIES:
        raise SettingError(f"queries must be at least 1 and at most {MOST_QUERIES}, not {queries}")
