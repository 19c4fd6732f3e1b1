"""The means of the rows of texts, or of the scores that these rows give to labels."""

from collections.abc import Callable
from functools import partial
from threading import Lock

import numpy as np

from embeddings.indexes.parallel import run_slices
from embeddings.kernels.feature_slots import Features
from embeddings.kernels.matrix_rows import CENTROIDS, DenseRows, QuantisedRows, Rows
from embeddings.kernels.pending_rows import Scratch
from embeddings.kernels.row_scores import score_dense_rows, score_quantised_rows
from embeddings.kernels.text_features import new_scratch, sum_features

MAX_SCORE_BYTES = 1 << 26  # of the scores of all rows
WORD_BYTES = 6  # of a word and the space after it, about
WORTH = 1  # uses of each row, on average, from which on the scores of all rows take less time than they save


class TextMeans:
    """The means of the rows of texts; can be used by several threads at a time.

    Arguments:
        features: how texts become rows.
        rows: the rows.
        dim: their number of components.
        gives_scores: whether the rows are scores of labels.
    """

    def __init__(self, features: Features, rows: Rows, dim: int, *, gives_scores: bool = False) -> None:
        self.gives_scores = gives_scores
        self._features, self._rows, self._dim = features, rows, dim
        self._unused_scratch: list[Scratch] = []

    def __call__(self, text: bytes, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The means of texts `text[starts[i]:starts[i + 1]]`, float32 (texts, dim), and their numbers of rows."""
        sums = np.zeros((len(starts) - 1, self._dim), np.float32)
        counts, scratch = np.empty(len(sums), np.int64), self._take_scratch()
        sum_features(self._features, self._rows, np.frombuffer(text, np.uint8), starts, scratch, sums, counts)
        self._unused_scratch.append(scratch)
        sums *= (1 / np.maximum(counts, 1)).astype(np.float32)[:, None]
        return sums, counts

    def _take_scratch(self) -> Scratch:
        try:
            return self._unused_scratch.pop()
        except IndexError:  # other threads use all of it
            return new_scratch(self._features, self._dim)


class RowScores:
    """Computes the scores of all rows as soon as so much text is classified that this saves time.

    The score of a label for a text is the mean of its scores for the rows of the text. If labels are few, these scores
    take less memory than the rows, and a prediction mostly waits for memory.
    """

    def __init__(self) -> None:
        self._bytes_read, self._lock = 0, Lock()
        self._means: TextMeans | None = None

    def __reduce__(self) -> tuple[type["RowScores"], tuple[()]]:
        """A copy, also by pickle, starts without scores."""
        return RowScores, ()

    def after(
        self, size: int, features: Features, rows: Rows, output: np.ndarray, threads: int | None
    ) -> TextMeans | None:
        """The scores of labels for texts, if they are worth it for a text of `size` bytes after the previous ones."""
        labels, dim = output.shape
        n_rows = len(rows.table)
        if 2 * labels > dim or 4 * labels * n_rows > MAX_SCORE_BYTES:
            return None
        with self._lock:
            self._bytes_read += size
            if self._means is None and self._bytes_read // WORD_BYTES * features.word_ngrams >= WORTH * n_rows:
                scores = row_scores(rows, output, threads)
                if np.isfinite(scores).all():
                    self._means = TextMeans(features, DenseRows(scores), labels, gives_scores=True)
            return self._means


def row_scores(rows: Rows, output: np.ndarray, threads: int | None = None) -> np.ndarray:
    """The scores of all labels for each row, float32 (rows, labels): the products with the rows of `output`."""
    scores = np.empty((len(rows.table), len(output)), np.float32)
    if isinstance(rows, QuantisedRows):
        work = partial(score_slice, score_quantised_rows, rows, score_centroids(rows, output), scores)
    else:
        work = partial(score_slice, score_dense_rows, rows, np.ascontiguousarray(output), scores)
    run_slices(len(scores), work, threads)
    return scores


def score_slice(score: Callable[..., None], rows: Rows, factors: np.ndarray, scores: np.ndarray, part: slice) -> None:
    """Compute the scores of some rows by a kernel."""
    score(rows, factors, part.start, part.stop, scores)


def score_centroids(rows: QuantisedRows, output: np.ndarray) -> np.ndarray:
    """The scores of each centroid of each part, float32 (labels, 256 * parts)."""
    parts = []
    for component in range(0, rows.dim, rows.part_size):
        vectors = output[:, component : component + rows.part_size]
        values = rows.centroids[CENTROIDS * component : CENTROIDS * (component + vectors.shape[1])]
        parts.append(vectors @ values.reshape(CENTROIDS, -1).T)
    return np.ascontiguousarray(np.concatenate(parts, axis=1), np.float32)
