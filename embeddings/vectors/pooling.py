"""Documents as bags of words, and sums of their word vectors."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus


@dataclass(frozen=True)
class BagsOfWords:
    """Documents as `ids` of `words`, and where each document starts in them (documents + 1,)."""

    words: list[str]
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, encoded: "EncodedCorpus") -> Self:
        """Copy the documents of an encoded corpus, which may then be closed."""
        starts = np.array(encoded.sentences[encoded.documents])
        return cls(list(encoded.vocabulary.words), np.array(encoded.ids), starts)

    def sum_vectors(self, matrix: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The sum of the vectors (words, dim) of each document's words by weight (words,), float64 (documents, dim)."""
        return np.asarray(self._occurrences(weights) @ matrix)

    def sum_weights(self, weights: np.ndarray) -> NDArray[np.float64]:
        """The sum of the weights (words,) of each document's words, (documents,)."""
        return np.asarray(self._occurrences(weights).sum(axis=1))

    def _occurrences(self, weights: np.ndarray) -> Any:
        """The weight of each occurrence, sparse (documents, words); float64, so that all sums are."""
        from scipy.sparse import csr_array

        shape = len(self), len(self.words)
        return csr_array((weights.astype(np.float64)[self.ids], self.ids, self.starts), shape=shape)
