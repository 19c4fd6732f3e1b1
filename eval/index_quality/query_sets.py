"""Vectors to search and queries to search them with."""

import re
from dataclasses import dataclass

import numpy as np

from embeddings.errors import SettingError
from embeddings.vectors.vectors import Vectors

RANDOM_NAME = re.compile(r"random:(\d{1,9})x(\d{1,5})")
MAX_NUMBERS, MAX_QUERIES = 1 << 28, 1_000_000


@dataclass(frozen=True)
class QuerySet:
    """Vectors, and queries (queries, dim) for them.

    `query_rows` (queries,) are the queries' own rows, which do not count as neighbours; None if the queries
    are not rows.
    """

    name: str
    vectors: Vectors
    queries: np.ndarray
    query_rows: np.ndarray | None


def random_query_set(rows: int, dim: int, *, queries: int, seed: int) -> QuerySet:
    """Independent normal points and queries: the worst case for hashing, as no point is much nearer than another."""
    check_random_size(rows, dim)
    check_queries(queries)
    points = np.random.default_rng(seed).standard_normal((rows + queries, dim), dtype=np.float32)
    vectors = Vectors([str(row) for row in range(rows)], points[:rows])
    return QuerySet(f"random:{rows}x{dim}", vectors, points[rows:], None)


def sample_query_set(vectors: Vectors, name: str, *, queries: int, seed: int) -> QuerySet:
    """Vectors, with a uniform sample of their own words as queries; all of them if there are fewer."""
    check_queries(queries)
    if len(vectors) < 2:
        raise SettingError(f"{name} must have at least two words, got {len(vectors)}")
    rows = np.random.default_rng(seed).choice(len(vectors), min(queries, len(vectors)), replace=False)
    return QuerySet(name, vectors, vectors.unit_rows[rows], rows)


def parse_random_name(name: str) -> tuple[int, int] | None:
    """The rows and components of a name such as random:10000x128; None for any other name."""
    match = RANDOM_NAME.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def check_random_size(rows: int, dim: int) -> None:
    """Refuse too few random points, or more than memory may hold."""
    if rows < 2 or dim < 1 or rows * dim > MAX_NUMBERS:
        raise SettingError(f"random points must be at least 2x1 and at most {MAX_NUMBERS} numbers, got {rows}x{dim}")


def check_queries(queries: int) -> None:
    """Refuse no queries, or more than memory may hold."""
    if not 1 <= queries <= MAX_QUERIES:
        raise SettingError(f"queries must be from 1 to {MAX_QUERIES}, got {queries}")
