"""Vectors of texts pooled from the vectors of their words: sums, means, maxima and minima."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Pool = Literal["mean", "sif", "subsample", "idf", "sum", "max", "min", "power-mean"]
Frequencies = Literal["vectors", "texts"]  # where word frequencies are taken from
DataType = Literal["float32", "float16", "int8"]  # of vectors of texts
POWER_MEANS = ("mean", "max", "min")  # the parts of "power-mean"


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


def extreme_rows(tables: Sequence[np.ndarray], texts: RowTexts, sign: int, dim: int | None = None) -> np.ndarray:
    """The maxima (`sign` 1) or minima (-1) of the rows of texts by component, float32 (texts, dim); zeros for none."""
    from embeddings.kernels.separate_arrays import read_only
    from embeddings.kernels.text_pooling import maximize_texts

    extremes = np.full((len(texts), dim or tables[0].shape[1]), -np.inf, np.float32)
    for table, part in split_by_table(tables, texts):
        maximize_texts(read_only(np.asarray(table, np.float32)), part.ids, part.starts, np.float32(sign), extremes)
    extremes[texts.counts == 0] = 0
    return extremes if sign > 0 else -extremes


def split_by_table(tables: Sequence[np.ndarray], texts: RowTexts) -> list[tuple[np.ndarray, RowTexts]]:
    """Each table that has rows, with its rows of the texts."""
    filled = [table for table in tables if len(table)]
    if len(filled) == 1 == len(tables):
        return [(filled[0], texts)]
    borders = np.cumsum([0, *map(len, tables)]).tolist()
    return [(table, texts.within(first, first + len(table))) for table, first in zip(tables, borders, strict=False)]


def sum_weights(texts: RowTexts, weights: np.ndarray) -> NDArray[np.float64]:
    """The sum of the weights (rows,) of each text's rows, (texts,)."""
    totals = np.append(0, np.cumsum(weights[texts.ids], dtype=np.float64))
    return np.asarray(totals[texts.starts[1:]] - totals[texts.starts[:-1]])


def pool_rows(
    tables: Sequence[np.ndarray],
    texts: RowTexts,
    pool: Pool,
    weights: Sequence[np.ndarray] | None = None,
    dim: int | None = None,
) -> np.ndarray:
    """The vectors of texts, float32 (texts, dim), zeros for texts without rows; "power-mean" has 3 dim components.

    "sum" adds rows by `weights`; "mean" and "sif" divide that by the number of rows, "idf" and "subsample" by the sum
    of the weights. "max" and "min" are by component. "power-mean" concatenates the mean, the maximum and the minimum
    (Rücklé et al. 2018). Arguments are those of `sum_rows`.
    """
    if pool == "power-mean":
        return np.concatenate([pool_rows(tables, texts, part, weights, dim) for part in POWER_MEANS], axis=1)  # type: ignore[arg-type]
    if pool in ("max", "min"):
        return extreme_rows(tables, texts, 1 if pool == "max" else -1, dim)
    sums = sum_rows(tables, texts, weights, dim)
    if pool == "sum":
        return sums
    divisors: np.ndarray = texts.counts
    if pool in ("idf", "subsample") and weights is not None:
        divisors = sum_weights(texts, np.concatenate(weights))
    sums *= (1 / np.where(divisors > 0, divisors, 1)).astype(np.float32)[:, None]
    return sums
