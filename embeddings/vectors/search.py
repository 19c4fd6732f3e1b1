"""The words nearest to words, vectors and weighted sums of them."""

import os
from collections.abc import Collection, Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeGuard

import numpy as np

from embeddings.errors import S, SettingError
from embeddings.support.cosine import check_search, normalize, search_multiplicative
from embeddings.vectors.base_vectors import BaseVectors, hint_gensim_names

if TYPE_CHECKING:
    from embeddings.indexes.index import Index

Term = str | np.ndarray | tuple[str | np.ndarray, float]
Query = Term | Sequence[Term]
Neighbours = list[tuple[str, float]]


class SearchMixin(BaseVectors):
    """Nearest neighbours and analogies."""

    @hint_gensim_names
    def most_similar(
        self,
        positive: Query,
        negative: Query = (),
        *,
        top: int = 10,
        restrict: int | None = None,
        exclude: Collection[str] = (),
        index: "Index | str | os.PathLike[str] | None" = None,
    ) -> Neighbours:
        """The `top` words nearest to a weighted sum of unit vectors, each with its cosine, nearest first.

        Query words are never among the results. Ties go to the more frequent word.

        Arguments:
            positive: a word, an array (dim,), or a list of either. A pair such as ("king", 0.5) weights one. The
                vectors of words are normalised, arrays are not (as in gensim).
            negative: the same, subtracted.
            restrict: search only this many of the most frequent words; None searches all.
            exclude: further words to leave out of the results.
            index: an index of these vectors, the path of one, or a kind with its settings to build now, such as
                "lsh:bits=512". None compares with every word. Saved indexes of FAISS are loaded with `load_index`.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: `top` or `restrict` is below 1, the query is empty, an array has the wrong length, or the
                index belongs to other vectors.
        """
        row, excluded_rows = sum_terms(self, positive, negative)
        excluded_rows += [self.index(word) for word in exclude if word in self]
        return nearest(self, [(row, excluded_rows)], top, restrict, index)[0]

    @hint_gensim_names
    def most_similar_many(
        self,
        queries: Iterable[Query],
        *,
        top: int = 10,
        restrict: int | None = None,
        index: "Index | str | os.PathLike[str] | None" = None,
    ) -> list[Neighbours]:
        """`most_similar` for each query, searched as one batch."""
        check_search(top, restrict)
        sums = [sum_terms(self, query, ()) for query in queries]
        return nearest(self, sums, top, restrict, index) if sums else []

    @hint_gensim_names
    def analogy(
        self,
        a: str,
        b: str,
        c: str,
        *,
        method: Literal["3cosadd", "3cosmul"] = "3cosadd",
        top: int = 10,
        restrict: int | None = None,
    ) -> Neighbours:
        """The words that are to c as b is to a, best first; a, b and c are not among them.

        3cosadd scores by cos(x, b - a + c) of unit vectors (Mikolov et al., 2013); 3cosmul multiplies and
        divides cosines shifted to [0, 1] (Levy and Goldberg, 2014).

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: `method` is unknown, or `top` or `restrict` is below 1.
        """
        if method == "3cosadd":
            return self.most_similar([b, c], [a], top=top, restrict=restrict)
        if method != "3cosmul":
            raise SettingError(f"{S.method} must be 3cosadd or 3cosmul, got {method!r}")
        excluded_rows = [self.index(word) for word in (a, b, c) if word in self]
        ids, scores = search_multiplicative(
            self.unit_rows, self[[a, b, c]], top, restrict=restrict, exclude=excluded_rows
        )
        return label_rows(self, ids, scores)


def nearest(
    vectors: BaseVectors,
    sums: Sequence[tuple[np.ndarray, list[int]]],
    top: int,
    restrict: int | None,
    index: "Index | str | os.PathLike[str] | None",
) -> list[Neighbours]:
    """The nearest words to each row, without its excluded rows; the search requests that many more rows."""
    from embeddings.indexes.index_spec import as_index

    check_search(top, restrict)
    rows, excluded_rows = np.array([row for row, _ in sums]), [set(ids) for _, ids in sums]
    result = as_index(index, vectors).search(rows, top=top + max(map(len, excluded_rows)), restrict=restrict)
    return [label_rows(vectors, *row, top) for row in zip(result.ids, result.similarities, excluded_rows, strict=True)]


def sum_terms(vectors: BaseVectors, positive: Query, negative: Query) -> tuple[np.ndarray, list[int]]:
    """The query vector (dim,) float64, and the rows of its words, which are excluded from the results."""
    terms = [(term, 1.0) for term in as_terms(positive)] + [(term, -1.0) for term in as_terms(negative)]
    if not terms:
        raise SettingError("the query is empty: give a word or a vector")
    total, excluded_rows = np.zeros(vectors.dim), []
    for term, weight in terms:
        item, factor = term if is_weighted(term) else (term, 1.0)
        if isinstance(item, str):
            total += weight * factor * normalize(vectors[item])
            excluded_rows += [vectors.index(item)] if item in vectors else []
        elif (shape := np.shape(np.asarray(item))) != (vectors.dim,):
            raise SettingError(f"a query vector must be ({vectors.dim},), got {shape}")
        else:
            total += weight * factor * np.asarray(item, dtype=np.float64)
    if not np.isfinite(total).all():
        raise SettingError("a vector or weight of the query holds NaN or infinity")
    return total, excluded_rows


def as_terms(query: Query) -> Sequence[Term]:
    """A single word, vector or pair as a list of one."""
    if isinstance(query, str) or (isinstance(query, np.ndarray) and query.ndim == 1) or is_weighted(query):
        return [query]
    return list(query)


def is_weighted(term: object) -> TypeGuard[tuple[str | np.ndarray, float]]:
    """Whether a term is a pair of a word or vector and its weight."""
    if not isinstance(term, tuple) or len(term) != 2 or not isinstance(term[0], str | np.ndarray):
        return False
    return isinstance(term[1], Real) and not isinstance(term[1], bool)


def label_rows(
    vectors: BaseVectors, ids: np.ndarray, scores: np.ndarray, exclude: Collection[int] = (), top: int | None = None
) -> Neighbours:
    """The words and scores of rows, the first `top` that are not excluded; ids of -1 are skipped."""
    pairs = zip(ids.tolist(), scores.tolist(), strict=True)
    return [(vectors.words[row], score) for row, score in pairs if row >= 0 and row not in exclude][:top]
