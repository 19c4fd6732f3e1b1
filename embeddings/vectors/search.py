"""Nearest neighbours and analogies of words, and similarities and distances between words and sets of words.

Cosines that float32 cannot separate are compared in float64.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

import numpy as np

from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import S, SettingError, marked
from embeddings.indexes.cosine_search import check_search, exact_cosines, product_error, search_multiplicative
from embeddings.indexes.protocol import SearchMethod, as_indexed_vectors
from embeddings.settings import Positive
from embeddings.support import cosine
from embeddings.support.imports import import_extra, import_library
from embeddings.support.result_table import ResultTable
from embeddings.vectors.base_vectors import BaseVectors, refuse_other_names

if TYPE_CHECKING:
    from embeddings.indexes.index import Index
    from embeddings.vectors.vectors import HasVectors

Term = str | np.ndarray | tuple[str | np.ndarray, float]
Query = Term | Sequence[Term]


class Neighbours(ResultTable[tuple[str, float]]):
    """Words and their scores, as pairs, nearest first."""

    columns: Mapping[str, str] = {
        "neighbour": "",
        "cosine": "Cosine with the query, -1 to 1. With the method 3cosmul of analogies, a ratio of cosines.",
    }


class SearchMixin(BaseVectors):
    """Nearest neighbours, analogies, similarities and distances."""

    @refuse_other_names
    def most_similar(
        self,
        positive: Query,
        negative: Query = (),
        *,
        top: Positive = 10,
        restrict: Positive | None = None,
        exclude: Collection[str] = (),
        index: "Index | str | os.PathLike[str] | None" = None,
        method: SearchMethod = "cosine",
        others: "HasVectors | BaseVectors | None" = None,
    ) -> Neighbours:
        """The words nearest to a weighted sum of unit vectors, each with its cosine, nearest first.

        Query words are never among the results. Ties go to the more frequent word.

        Arguments:
            positive: a word, an array (dim,), or a list of either. A pair such as ("king", 0.5) weights one. The
                vectors of words are normalised, arrays are not (as in gensim).
            negative: the same, subtracted.
            top: number of results.
            restrict: search only the N most frequent words. In Python None searches all.
            exclude: further words to leave out of the results.
            index: an index of these vectors, the path of one, or a kind with its settings to build now, such as
                "lsh:bits=512". None compares with every word. Saved indexes of FAISS are loaded with `load_index`.
            method: how results are scored: cosine, or csls or inverted-softmax, which lower the scores of hubs: words
                that are near to many others.
            others: with csls and inverted-softmax, the vectors that queries come from, if they come from another space
                mapped onto this one (see `align`): then their words decide which words are hubs.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: `method` is unknown, `top` or `restrict` is below 1, the query is empty, an array has the
                wrong length, or the index belongs to other vectors.
        """
        row, excluded_rows = sum_terms(self, positive, negative)
        excluded_rows += [self.index(word) for word in word_list(self, exclude) if word in self]
        return nearest(self, [(row, excluded_rows)], top, restrict, index, method, others)[0]

    @refuse_other_names
    def most_similar_many(
        self,
        queries: Iterable[Query],
        *,
        top: int = 10,
        restrict: int | None = None,
        index: "Index | str | os.PathLike[str] | None" = None,
        method: SearchMethod = "cosine",
        others: "HasVectors | BaseVectors | None" = None,
    ) -> list[Neighbours]:
        """`most_similar` for each query, searched as one batch."""
        check_search(top, restrict)
        if isinstance(queries, str) or not isinstance(queries, Iterable):
            raise SettingError(f"queries must be a list of queries, got {queries!r:.80}")
        sums = [sum_terms(self, query, ()) for query in queries]
        return nearest(self, sums, top, restrict, index, method, others) if sums else []

    @refuse_other_names
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

        Arguments:
            method: add or multiply cosines.
            top, restrict: as in `most_similar`.

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

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words, -1 to 1; 0 where a vector is zero."""
        return float(np.clip(cosine.normalize(self._vector(a)) @ cosine.normalize(self._vector(b)), -1, 1))

    @refuse_other_names
    def n_similarity(self, words_a: Sequence[str], words_b: Sequence[str]) -> float:
        """The cosine of the means of two lists of words, whose vectors are not normalised first (as in gensim).

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: a list is empty.
        """
        a, b = (self.get_mean_vector(words, normalize=False) for words in (words_a, words_b))
        return float(np.clip(cosine.normalize(a) @ cosine.normalize(b), -1, 1))

    @refuse_other_names
    def get_mean_vector(
        self, words: Sequence[str], weights: Sequence[float] | np.ndarray | None = None, *, normalize: bool = True
    ) -> np.ndarray:
        """The mean vector (dim,) float32 of words: the weighted sum divided by the sum of the absolute weights.

        Arguments:
            weights: one number for each word; all 1 if not given.
            normalize: bring each vector to length one first.

        Raises:
            UnknownWordError: a word has no vector (gensim leaves such words out).
            SettingError: there are no words, the weights are not one finite number for each, or all are 0.
        """
        rows = word_rows(self, words, normalize=normalize)
        factors = np.ones(len(words)) if weights is None else np.asarray(weights, dtype=np.float64)
        if factors.shape != (len(words),) or not np.isfinite(factors).all() or not factors.any():
            raise SettingError(
                f"weights must be a finite number for each of {len(words)} words, not all 0, got {weights}"
            )
        return np.asarray(factors @ rows / np.abs(factors).sum(), dtype=np.float32)

    @refuse_other_names
    def relative_cosine_similarity(self, a: str, b: str, top: int = 10) -> float:
        """The cosine of two words divided by the summed cosines of a's `top` neighbours; synonyms exceed 1 / top.

        Equation 1 of Leeuwenberg et al. (2016).

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: `top` is below 1, or a has no neighbours, or their cosines sum to 0.
        """
        total = sum(similarity for _, similarity in self.most_similar(a, top=top))
        if not total:
            raise SettingError(f"the cosines of the {top} words nearest to {a!r} sum to 0")
        return self.similarity(a, b) / total

    @refuse_other_names
    def wmdistance(self, document_a: Sequence[str], document_b: Sequence[str], *, normalize: bool = True) -> float:
        """The Word Mover's Distance of two lists of words (Kusner et al., 2015), by POT.

        It is the minimum total Euclidean distance that the words of one document, weighted by relative frequency, must
        travel to reach those of the other. Words without a vector are ignored; if none are left in a
        document, the distance is infinite (as in gensim).

        Arguments:
            normalize: bring each vector to length one first.

        Raises:
            SettingError: a document is a string, not a list of words.
            EmbeddingsError: the package POT is not installed.
        """
        cdist = import_library("scipy.spatial.distance").cdist

        emd2 = import_extra("ot", "wmd", "wmdistance").emd2
        documents = [word_list(self, document) for document in (document_a, document_b)]
        a, b = (Counter(word for word in document if word in self) for document in documents)
        if not a or not b:
            return float("inf")
        costs = cdist(*(word_rows(self, list(words), normalize=normalize) for words in (a, b)))
        shares = (np.array(list(words.values())) / words.total() for words in (a, b))
        return float(emd2(*shares, costs)) if costs.any() else 0.0

    def doesnt_match(self, words: Sequence[str]) -> str:
        """The word furthest, by cosine, from the mean of the unit vectors of all; the first of several that tie.

        Raises:
            UnknownWordError: a word has no vector (gensim leaves such words out).
            SettingError: there are no words.
        """
        rows = word_rows(self, words, normalize=True)
        return str(words[int((rows * cosine.normalize(rows.mean(axis=0))).sum(axis=1).argmin())])

    def distances(self, word: str | np.ndarray, others: Sequence[str] | None = None) -> np.ndarray:
        """1 - cosine of a word, or an array (dim,), to each of `others` or to all words in order; (others,) float64.

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: an array has the wrong length.
        """
        query = query_row(self, word)
        if others is None:
            cosines = exact_cosines(self.unit_rows, cosine.normalize(query))(np.arange(len(self)))
        else:
            rows = cosine.normalize(self[word_list(self, others)])
            cosines = np.clip((rows * cosine.normalize(query)).sum(axis=1), -1, 1)
        return np.asarray(1 - cosines)

    def closer_than(self, a: str, b: str) -> list[str]:
        """The words nearer to a than b is, in order of frequency, without a itself.

        Raises:
            UnknownWordError: a word has no vector.
        """
        row, other, query = self.index(a), self.index(b), cosine.normalize(self[a])
        rough = self.unit_rows @ query.astype(np.float32)
        margin, exact = product_error(self.unit_rows), exact_cosines(self.unit_rows, query)
        closer = rough > rough[other] + margin
        close_calls = np.flatnonzero(np.abs(rough - rough[other]) <= margin)
        closer[close_calls] = exact(close_calls) > exact(np.array([other]))
        closer[row] = False
        return [self.words[index] for index in np.flatnonzero(closer)]

    def rank(self, a: str, b: str) -> int:
        """The rank of b among the neighbours of a: 1 for the nearest; equally near words share the best rank.

        Raises:
            UnknownWordError: a word has no vector.
        """
        return len(self.closer_than(a, b)) + 1


def nearest(
    vectors: BaseVectors,
    sums: Sequence[tuple[np.ndarray, list[int]]],
    top: int,
    restrict: int | None,
    index: "Index | str | os.PathLike[str] | None",
    method: SearchMethod,
    others: "HasVectors | BaseVectors | None",
) -> list[Neighbours]:
    """The nearest words to each row, without its excluded rows; the search requests that many more rows."""
    from embeddings.indexes.index_spec import as_index

    check_search(top, restrict)
    rows, excluded_rows = np.array([row for row, _ in sums]), [set(ids) for _, ids in sums]
    if others is not None and method == "cosine":
        raise SettingError(f"{S.others} requires {S.method('csls')} or {S.method('inverted-softmax')}")
    result = as_index(index, vectors).search(
        rows,
        top=top + max(map(len, excluded_rows)),
        restrict=restrict,
        method=method,
        others=None if others is None else as_index(None, as_indexed_vectors(others)),
    )
    found = [label_rows(vectors, *row, top) for row in zip(result.ids, result.similarities, excluded_rows, strict=True)]
    return found if method == "cosine" else [Neighbours(one, columns={"neighbour": "", method: ""}) for one in found]


def sum_terms(vectors: BaseVectors, positive: Query, negative: Query) -> tuple[np.ndarray, list[int]]:
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
    if not np.isfinite(total).all():
        raise SettingError("a vector or weight of the query holds NaN or infinity")
    return total, excluded_rows


def query_row(vectors: BaseVectors, item: Any) -> np.ndarray:
    """The vector (dim,) of a word, or an array as it is."""
    if vectors.as_word(item) is not None:
        return vectors[item]
    try:
        row = np.asarray(item)
    except ValueError:  # lists of several lengths
        row = np.asarray(None)
    if row.ndim == 0:
        raise SettingError(f"a query must be a word or a vector, or a list of them, got {item!r:.80}")
    if row.shape != (vectors.dim,) or row.dtype.kind not in "fiu":
        raise SettingError(f"a query vector must be ({vectors.dim},), got {row.shape} of {row.dtype}")
    return row


def as_terms(vectors: BaseVectors, query: Any) -> Sequence[Any]:
    """A single word, vector or pair as a list of one."""
    is_array = isinstance(query, np.ndarray) and query.ndim == 1
    is_list = isinstance(query, Iterable) and not isinstance(query, str | bytes) and not is_array
    return list(query) if is_list and not is_weighted(query) else [query]


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
    return Neighbours([(vectors.words[row], score) for row, score in pairs if row >= 0 and row not in exclude][:top])


def word_list(vectors: BaseVectors, words: Iterable[str]) -> list[str]:
    """Words as a list; raises SettingError for a string in place of a list, and for items that are not words."""
    if isinstance(words, str | bytes) or not isinstance(words, Iterable):
        raise SettingError(f"words must be a list of words, got {words!r:.80}")
    words = list(words)
    if invalid := [word for word in words if vectors.as_word(word) is None]:
        raise SettingError(f"words must be strings, got {invalid[0]!r:.80}")
    return words


def word_rows(vectors: BaseVectors, words: Sequence[str], *, normalize: bool) -> np.ndarray:
    """The vectors of words, (words, dim) float64, at least one."""
    words = word_list(vectors, words)
    if not words:
        raise SettingError("words must be a list of at least one word")
    try:
        rows = vectors[words]
    except UnknownWordError as error:
        advice = "to leave out such words, pass [word for word in words if word in vectors]"
        raise UnknownWordError(f"{marked(error)}; {advice}") from None
    return cosine.normalize(rows) if normalize else rows.astype(np.float64)
