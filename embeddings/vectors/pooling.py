"""Vectors of texts pooled from the vectors of their words: sums, means, weights of words, shared directions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.tokenizers import lower_case
from embeddings.corpora.vocabulary import Vocabulary

Pool = Literal["mean", "sif", "idf", "sum"]
Frequencies = Literal["vectors", "texts"]  # where word frequencies are taken from
DataType = Literal["float32", "float16", "int8"]  # of vectors of texts


@dataclass(frozen=True)
class RowTexts:
    """Texts as rows of a table: text t has the rows `ids[starts[t]:starts[t + 1]]`, both int64."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows of each text (texts,)."""
        return np.diff(self.starts)

    def within(self, first: int, stop: int) -> "RowTexts":
        """The texts without rows outside of `first` to below `stop`; the other rows are numbered from 0."""
        is_inside = (self.ids >= first) & (self.ids < stop)
        starts = np.append(0, np.cumsum(is_inside))[self.starts]
        return RowTexts(self.ids[is_inside] - first, starts)


def sum_rows(
    tables: Sequence[np.ndarray], texts: RowTexts, weights: Sequence[np.ndarray] | None = None, dim: int | None = None
) -> np.ndarray:
    """The sums of the rows of texts, float32 (texts, dim).

    Arguments:
        tables: float32 (rows, columns), whose rows are numbered one table after the other.
        texts: the rows of each text.
        weights: (rows,), the factor of each row of each table; None for 1.
        dim: only the first components; None for all.
    """
    from embeddings.kernels.separate_arrays import read_only
    from embeddings.kernels.text_pooling import sum_texts

    sums = np.zeros((len(texts), dim or tables[0].shape[1]), np.float32)
    for number, (table, part) in enumerate(split_by_table(tables, texts)):
        factors = np.zeros(0) if weights is None else weights[number]
        sum_texts(
            read_only(np.asarray(table, np.float32)),
            part.ids,
            part.starts,
            np.ascontiguousarray(factors, np.float32),
            sums,
        )
    return sums


def split_by_table(tables: Sequence[np.ndarray], texts: RowTexts) -> list[tuple[np.ndarray, RowTexts]]:
    """Each table, with the texts reduced to the rows of that table."""
    if len(tables) == 1:
        return [(tables[0], texts)]
    borders = np.cumsum([0, *map(len, tables)]).tolist()
    return [(table, texts.within(first, first + len(table))) for table, first in zip(tables, borders, strict=False)]


def sum_weights(texts: RowTexts, tables: Sequence[np.ndarray]) -> NDArray[np.float64]:
    """The sum of the weights of the rows of each text, (texts,); `tables` has the weights (rows,) for each table."""
    sums = np.zeros(len(texts))
    for weights, part in split_by_table(tables, texts):
        totals = np.append(0, np.cumsum(weights[part.ids], dtype=np.float64))
        sums += totals[part.starts[1:]] - totals[part.starts[:-1]]
    return sums


def pool_rows(
    tables: Sequence[np.ndarray],
    texts: RowTexts,
    pool: Pool,
    weights: Sequence[np.ndarray] | None = None,
    dim: int | None = None,
) -> np.ndarray:
    """The vectors of texts, float32 (texts, dim), zeros for texts without rows.

    "sum" adds rows by `weights`; "mean" and "sif" divide that by the number of rows, "idf" by the sum of the weights.
    Arguments are those of `sum_rows`.
    """
    sums = sum_rows(tables, texts, weights, dim)
    if pool == "sum":
        return sums
    divisors: np.ndarray = texts.counts
    if pool == "idf" and weights is not None:
        divisors = sum_weights(texts, weights)
    sums *= (1 / np.where(divisors > 0, divisors, 1)).astype(np.float32)[:, None]
    return sums


DEFAULT_CONSTANT = 1e-3


def sif_weights(words: Sequence[str], frequencies: Vocabulary, constant: float) -> np.ndarray:
    """The weight a / (a + p) of each word with the share p of the corpus, float64 (words,), in (0, 1].

    Arora, Liang and Ma (2017), algorithm 1; a is `constant`. A word is looked up as it is, then in lower case; an
    unknown word has share 0 and weight 1.
    """
    weights = constant / (constant + frequencies.counts / max(frequencies.total, 1))
    return look_up_weights(words, frequencies, weights, 1.0)


def look_up_weights(words: Sequence[str], vocabulary: Vocabulary, weights: np.ndarray, unknown: float) -> np.ndarray:
    """The weight of each word in a vocabulary, as written or else in lower case; `unknown` for unknown words."""
    # The same list needs no look-up, which takes a second for a million words.
    if words is vocabulary.words:
        return weights
    ids = vocabulary.ids
    rows = [ids.get(word, ids.get(lower_case(word), len(weights))) for word in words]
    return np.asarray(np.append(weights, unknown)[rows])


def common_components(rows: np.ndarray, count: int) -> np.ndarray:
    """The first `count` right singular vectors of uncentred rows (texts, dim), or as many as the rows span.

    Returns (components, dim) float64.
    """
    texts, dim = rows.shape
    count = min(count, texts, dim)
    if not count:
        return np.zeros((0, dim))
    rows = rows.astype(np.float64, copy=False)
    # Eigenvectors of a (dim, dim) matrix take far less time than singular vectors of many rows.
    if texts > dim:
        ascending, columns = np.linalg.eigh(rows.T @ rows)
        return spanned(ascending[::-1][:count], columns.T[::-1][:count], texts)
    _, values, directions = np.linalg.svd(rows, full_matrices=False)
    return spanned(values[:count] ** 2, directions[:count], texts)


def spanned(squares: np.ndarray, directions: np.ndarray, texts: int) -> np.ndarray:
    """The directions whose squared singular values are not zero up to rounding."""
    # Directions without variance are arbitrary, and LAPACK chooses them differently on different machines.
    limit = squares.max() * max(texts, directions.shape[1]) * np.finfo(np.float64).eps
    return np.asarray(directions[squares > limit])


def remove_components(components: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows (texts, dim) minus their projections onto orthonormal components (count, dim)."""
    return np.asarray(rows - (rows @ components.T) @ components)
