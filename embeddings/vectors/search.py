"""The nearest words to words, vectors and sums of them."""

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import numpy as np

from embeddings.errors import SettingError
from embeddings.indexes import Index, index_of
from embeddings.support.cosine import check_search, search_multiplicative, unit
from embeddings.vectors.vectors import Neighbours, Query, Vectors

IndexLike = Index | str | os.PathLike[str] | None


def most_similar(
    vectors: Vectors,
    positive: Query,
    negative: Query = (),
    *,
    top: int = 10,
    restrict: int | None = None,
    index: IndexLike = None,
) -> Neighbours:
    """See `Vectors.most_similar`."""
    asked = summed(vectors, positive, negative)
    return answers(vectors, [asked], top=top, restrict=restrict, index=index)[0]


def most_similar_many(
    vectors: Vectors,
    queries: Iterable[Query],
    *,
    top: int = 10,
    restrict: int | None = None,
    index: IndexLike = None,
) -> list[Neighbours]:
    """See `Vectors.most_similar_many`."""
    check_search(top, restrict)
    asked = [summed(vectors, query, ()) for query in queries]
    return answers(vectors, asked, top=top, restrict=restrict, index=index) if asked else []


def answers(
    vectors: Vectors,
    asked: Sequence[tuple[np.ndarray, list[int]]],
    *,
    top: int,
    restrict: int | None,
    index: IndexLike,
) -> list[Neighbours]:
    """The nearest words to each sum, without the rows that must not answer.

    As many more are asked for as must not answer, so that `top` are left.
    """
    check_search(top, restrict)
    rows, excluded = np.array([row for row, _ in asked]), [set(words) for _, words in asked]
    chosen = index_of(index, vectors)
    found = chosen.search(rows, top=top + max(map(len, excluded)), restrict=restrict)
    return [
        named(vectors, ids, similarities, barred, top)
        for ids, similarities, barred in zip(found.ids, found.similarities, excluded, strict=True)
    ]


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
    found = search_multiplicative(vectors.units, three, top, restrict=restrict, exclude=exclude)
    return named(vectors, *found)


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


def named(
    vectors: Vectors, ids: np.ndarray, scores: np.ndarray, barred: Collection[int] = (), top: int | None = None
) -> Neighbours:
    """Rows as words with their scores, the first `top` of those that are not barred; an id of -1 is none."""
    pairs = zip(ids.tolist(), scores.tolist(), strict=True)
    return [(vectors.words[row], score) for row, score in pairs if row >= 0 and row not in barred][:top]
