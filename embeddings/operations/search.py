"""The nearest words to words, vectors and sums of them."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.neighbours import check_search, search, search_multiplicative, unit
from embeddings.vectors import Neighbours, Query, Vectors


def most_similar(
    vectors: Vectors, positive: Query, negative: Query = (), *, top: int = 10, restrict: int | None = None
) -> Neighbours:
    """See `Vectors.most_similar`."""
    query, exclude = summed(vectors, positive, negative)
    found = search(vectors.units, query[None], top, restrict=restrict, exclude=[exclude])
    return named(vectors, *next(found))


def most_similar_many(
    vectors: Vectors, queries: Iterable[Query], *, top: int = 10, restrict: int | None = None
) -> list[Neighbours]:
    """See `Vectors.most_similar_many`."""
    check_search(top, restrict)
    asked = [summed(vectors, query, ()) for query in queries]
    if not asked:
        return []
    rows, exclude = np.array([row for row, _ in asked]), [words for _, words in asked]
    return [named(vectors, *hit) for hit in search(vectors.units, rows, top, restrict=restrict, exclude=exclude)]


def analogy(
    vectors: Vectors,
    a: str,
    b: str,
    c: str,
    *,
    method: Literal["3cosadd", "3cosmul"] = "3cosadd",
    top: int = 10,
    restrict: int | None = None,
) -> Neighbours:
    """See `Vectors.analogy`."""
    if method == "3cosadd":
        return most_similar(vectors, [b, c], [a], top=top, restrict=restrict)
    if method != "3cosmul":
        raise SettingError(f"method must be 3cosadd or 3cosmul, not {method!r}")
    exclude = [vectors.index(word) for word in (a, b, c) if word in vectors]
    three = vectors[[a, b, c]]
    return named(vectors, *search_multiplicative(vectors.units, three, top, restrict=restrict, exclude=exclude))


def summed(vectors: Vectors, positive: Query, negative: Query) -> tuple[np.ndarray, list[int]]:
    """The sum to search with (dim,), float64, and the rows that must not answer.

    Raises:
        UnknownWordError: a word has no vector.
        SettingError: nothing is asked, or an array has another length, a NaN or an infinity.
    """
    terms = [(item, 1) for item in listed(positive)] + [(item, -1) for item in listed(negative)]
    if not terms:
        raise SettingError("nothing to search with: give a word or a vector")
    total, exclude = np.zeros(vectors.dim), []
    for item, sign in terms:
        if isinstance(item, str):
            total += sign * unit(vectors[item])
            exclude += [vectors.index(item)] if item in vectors else []
        elif np.shape(item) != (vectors.dim,):
            raise SettingError(f"a vector to search with must be ({vectors.dim},), not {np.shape(item)}")
        else:
            total += sign * np.asarray(item, dtype=np.float64)
    if not np.isfinite(total).all():
        raise SettingError("a vector to search with holds NaN or infinity")
    return total, exclude


def listed(query: Query) -> Sequence[str | np.ndarray]:
    """One word or vector as a list of one; several as they are."""
    if isinstance(query, str) or (isinstance(query, np.ndarray) and query.ndim == 1):
        return [query]
    return list(query)


def named(vectors: Vectors, indices: np.ndarray, scores: np.ndarray) -> Neighbours:
    """Rows as words with their scores."""
    return [(vectors.words[index], float(score)) for index, score in zip(indices, scores, strict=True)]
