"""How similar words and sets of words are: cosines, means, ranks, the odd one out, Word Mover's Distance.

Cosines that float32 cannot separate are compared in float64, as in the search for neighbours.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from embeddings.errors import SettingError
from embeddings.support import cosine
from embeddings.support.imports import import_extra
from embeddings.vectors.base_vectors import hint_gensim_names
from embeddings.vectors.search import SearchMixin


class SimilarityMixin(SearchMixin):
    """Similarities and distances between words."""

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words, -1 to 1; 0 where a vector is zero."""
        return float(np.clip(cosine.normalize(self[a]) @ cosine.normalize(self[b]), -1, 1))

    @hint_gensim_names
    def n_similarity(self, words_a: Sequence[str], words_b: Sequence[str]) -> float:
        """The cosine of the means of two lists of words, whose vectors are not normalised first (as in gensim).

        Raises:
            UnknownWordError: a word has no vector.
            SettingError: a list is empty.
        """
        a, b = (self.get_mean_vector(words, normalize=False) for words in (words_a, words_b))
        return float(np.clip(cosine.normalize(a) @ cosine.normalize(b), -1, 1))

    @hint_gensim_names
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

    @hint_gensim_names
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

    @hint_gensim_names
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
        from scipy.spatial.distance import cdist

        emd2 = import_extra("ot", "wmd", "wmdistance").emd2
        for document in (document_a, document_b):
            check_words(document)
        a, b = (Counter(word for word in document if word in self) for document in (document_a, document_b))
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
        query = self[word] if isinstance(word, str) else np.asarray(word)
        if query.shape != (self.dim,):
            raise SettingError(f"a query vector must be ({self.dim},), got {query.shape}")
        if others is None:
            cosines = cosine.exact_cosines(self.unit_rows, cosine.normalize(query))(np.arange(len(self)))
        else:
            cosines = np.clip((cosine.normalize(self[list(others)]) * cosine.normalize(query)).sum(axis=1), -1, 1)
        return np.asarray(1 - cosines)

    def closer_than(self, a: str, b: str) -> list[str]:
        """The words nearer to a than b is, in order of frequency, without a itself.

        Raises:
            UnknownWordError: a word has no vector.
        """
        row, other, query = self.index(a), self.index(b), cosine.normalize(self[a])
        rough = self.unit_rows @ query.astype(np.float32)
        margin, exact = cosine.product_error(self.unit_rows), cosine.exact_cosines(self.unit_rows, query)
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


def check_words(words: Sequence[str]) -> None:
    """Refuse a string in place of a list of words."""
    if isinstance(words, str):
        raise SettingError(f"words must be a list of words, got the string {words!r:.80}")


def word_rows(vectors: SearchMixin, words: Sequence[str], *, normalize: bool) -> np.ndarray:
    """The vectors of words, (words, dim) float64, at least one."""
    check_words(words)
    if not len(words):
        raise SettingError("words must be a list of at least one word")
    rows = vectors[list(words)]
    return cosine.normalize(rows) if normalize else rows.astype(np.float64)
