"""Queries of the nearest words: terms and their weights, the search, and results; `Vectors` has the methods."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeGuard

import numpy as np

from embeddings.errors import S, SettingError
from embeddings.indexes.cosine_search import check_search
from embeddings.indexes.protocol import SearchMethod
from embeddings.settings import check_list
from embeddings.support import cosine
from embeddings.support.dots import Dot
from embeddings.support.logs import log
from embeddings.support.result_table import PlottedTable
from embeddings.vectors.index import Index, as_index, vectors_of
from embeddings.vectors.word_vectors import HasVectors, WordVectors

Term = str | np.ndarray | tuple[str | np.ndarray, float]
Query = Term | Sequence[Term]


class Neighbours(PlottedTable[tuple[str, float]]):
    """Words and their scores, as pairs, nearest first."""

    columns: Mapping[str, str] = {
        "neighbour": "",
        "cosine": "Cosine with the query, -1 to 1. With the method 3cosmul of analogies, a ratio of cosines.",
    }

    def dots(self) -> list[Dot]:
        """The words at their scores."""
        return [Dot(word, "cosine", score) for word, score in self]


def nearest(
    vectors: WordVectors,
    sums: Sequence[tuple[np.ndarray, list[int]]],
    top: int,
    restrict: int | None,
    index: Index | str | os.PathLike[str] | None,
    method: SearchMethod,
    others: HasVectors | WordVectors | None,
) -> list[Neighbours]:
    """The nearest words to each row, without its excluded rows; the search requests that many more rows."""
    check_search(top, restrict)
    rows, excluded_rows = np.array([row for row, _ in sums]), [set(ids) for _, ids in sums]
    if others is not None and method == "cosine":
        raise SettingError(f"{S.others} requires {S.method('csls')}")
    # An index cannot leave rows out: as many more are requested as are excluded.
    result = as_index(index, vectors).search(
        rows,
        top=top + max(map(len, excluded_rows)),
        restrict=restrict,
        method=method,
        others=None if others is None else as_index(None, vectors_of(others)),
    )
    has_direction = [bool(row.any()) for row in rows]
    if not all(has_direction):
        log.warning("%s of %s query vectors are zeros, which have no neighbours", has_direction.count(False), len(rows))
    found = [label_rows(vectors, *row, top) for row in zip(result.ids, result.similarities, excluded_rows, strict=True)]
    found = [one if is_usable else Neighbours() for one, is_usable in zip(found, has_direction, strict=True)]
    return found if method == "cosine" else [Neighbours(one, columns={"neighbour": "", method: ""}) for one in found]


def sum_terms(vectors: WordVectors, positive: Query, negative: Query) -> tuple[np.ndarray, list[int]]:
    """The query vector (dim,) float64, and the rows of its words, which are excluded from the results."""
    terms = [(term, 1.0) for term in as_terms(vectors, positive)]
    terms += [(term, -1.0) for term in as_terms(vectors, negative)]
    if not terms:
        raise SettingError("the query is empty: give a word or a vector")
    total, excluded_rows = np.zeros(vectors.dim), []
    for term, weight in terms:
        item, factor = term if is_weighted(term) else (term, 1.0)
        row, word = query_row(vectors, item), vectors.as_word(item)
        if word is not None:
            row = cosine.normalize(row)
            excluded_rows += [vectors.index(word)] if word in vectors else []
        total += weight * factor * row.astype(np.float64)
    return total, excluded_rows


def query_row(vectors: WordVectors, item: Any) -> np.ndarray:
    """The vector (dim,) of a word, or an array as it is."""
    if vectors.as_word(item) is not None:
        return vectors[item]
    row = np.asarray(item)
    if row.shape != (vectors.dim,) or row.dtype.kind not in "fiu":
        expected = f"a word or a vector ({vectors.dim},), or a list of them"
        raise SettingError(f"a query must be {expected}, got {row.shape} of {row.dtype}: {item!r:.80}")
    return row


def as_terms(vectors: WordVectors, query: Any) -> Sequence[Any]:
    """A single word, vector or pair as a list of one."""
    is_vector = isinstance(query, np.ndarray) and query.ndim == 1 and query.dtype.kind not in "OUT"
    is_list = isinstance(query, Iterable) and not isinstance(query, str | bytes) and not is_vector
    return check_list("positive", query, "words", ordered=False) if is_list and not is_weighted(query) else [query]


def is_weighted(term: object) -> TypeGuard[tuple[str | np.ndarray, float]]:
    """Whether a term is a pair of a word or vector and its weight."""
    if not isinstance(term, tuple) or len(term) != 2 or not isinstance(term[0], str | np.ndarray):
        return False
    return isinstance(term[1], Real) and not isinstance(term[1], bool)


def label_rows(
    vectors: WordVectors, ids: np.ndarray, scores: np.ndarray, exclude: Collection[int] = (), top: int | None = None
) -> Neighbours:
    """The words and scores of rows, the first `top` that are not excluded; ids of -1 are skipped."""
    pairs = zip(ids.tolist(), scores.tolist(), strict=True)
    return Neighbours([(vectors.words[row], score) for row, score in pairs if row >= 0 and row not in exclude][:top])


def word_list(vectors: WordVectors, words: Iterable[str], *, ordered: bool = False) -> list[str]:
    """Words as a list; raises SettingError for what `check_list` refuses, and for items that are not words."""
    words = check_list("words", words, "words", ordered=ordered)
    if invalid := [word for word in words if vectors.as_word(word) is None]:
        raise SettingError(f"words must be strings, got {invalid[0]!r:.80}")
    return words


def word_rows(vectors: WordVectors, words: Sequence[str], *, normalize: bool) -> np.ndarray:
    """The vectors of words, (words, dim) float64, at least one."""
    words = word_list(vectors, words)
    if not words:
        raise SettingError("words must be a list of at least one word")
    return cosine.normalize(vectors[words]) if normalize else vectors[words].astype(np.float64)
