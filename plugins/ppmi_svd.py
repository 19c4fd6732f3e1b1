"""Factorised PPMI: word vectors by singular value decomposition of association scores (Levy and Goldberg 2014)."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus_cache import corpora_folder, temporary_folder
from embeddings.errors import CorpusError, S
from embeddings.models.model import Model
from embeddings.models.table import VECTORS
from embeddings.plugins.glove.cooccurrences import count_cells, select_words
from embeddings.settings import ContextWindow, Dimension, DocumentFrequency, VocabularySize, option
from embeddings.support.imports import import_library
from embeddings.support.logs import log
from embeddings.training.progress import Progress
from embeddings.training.run import new_model
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData

MAX_DENSE = 500  # words of a matrix that is decomposed completely


@dataclass(frozen=True, kw_only=True)
class ShiftedPPMI(Trainer, ContextWindow, DocumentFrequency, VocabularySize, Dimension):
    """Singular value decomposition of PPMI, the positive pointwise mutual information of words and contexts."""

    trainer_name = "ppmi-svd"
    max_threads = 1
    accepts_run_options = False
    libraries = ("scipy",)
    shrink_window: bool = option(
        True,
        "Count a context at distance d by the share of windows of random sizes from 1 to --window that contain it, or "
        "all contexts equally.",
        flags="--shrink-window/--fixed-window",
    )
    context_exponent: float = option(
        0.75,
        "The probability of a context is in proportion to count^exponent, as for negative samples: below 1, rare "
        "contexts have lower scores.",
        ge=0,
        le=10,
    )
    shift: float = option(
        1.0,
        "The logarithm of this number, of negative samples of skip-gram, is subtracted from scores; 1: no shift.",
        gt=0,
    )
    singular_value_exponent: float = option(
        0.5, "Components are multiplied by their singular values^exponent; 0: all components weigh equally.", ge=0, le=1
    )
    memory: float = option(
        2.0, "Memory in GB for counting; what does not fit is counted in several passes.", ge=0.1, le=1e6
    )

    def learn(self, data: TrainingData) -> Model:
        """A model of vectors (vocabulary, dim), of zeros beyond the rank of the scores."""
        started, total = perf_counter(), len(data.encoded.ids)
        falling = 1 - np.arange(self.window) / self.window
        weights = np.append(0.0, falling if self.shrink_window else np.ones(self.window))  # of contexts by distance
        scores = self.scores(co_occurrences(data, weights, int(self.memory * 1e9)))
        log.info("decomposing %s scores of %s words", scores.nnz, len(data.vocabulary))
        vectors = self.factorize(scores, data.seed)
        seconds = perf_counter() - started
        progress = Progress(total, total, epoch=1, epochs=1, learning_rate=0.0, loss=None, seconds=seconds)
        if data.report:
            data.report(progress)
        return new_model(data, {VECTORS: vectors}, progress, {"scores": int(scores.nnz)})

    def scores(self, counts: Any) -> Any:
        """The positive scores max(log(p(w, c) / (p(w) p(c))) - log k, 0) of a sparse matrix of counts, sparse too.

        p(c) is in proportion to count^exponent: section 3.1 of Levy, Goldberg and Dagan (2015).
        """
        rows = np.bincount(counts.row, counts.data, counts.shape[0])  # those of words, which are those of contexts too
        columns = rows**self.context_exponent
        scores = counts.copy()
        expected = (rows / (columns.sum() or 1))[scores.row] * columns[scores.col]
        scores.data = np.maximum(np.log(scores.data / expected) - np.log(self.shift), 0).astype(np.float32)
        scores.eliminate_zeros()
        if not scores.nnz:
            raise CorpusError(f"no score is positive, so there is nothing to learn; lower {S.shift}, or use more text")
        return scores.tocsr()

    def factorize(self, scores: Any, seed: int) -> NDArray[np.float32]:
        """The vectors U S^p, float32 (words, dim), of the decomposition U S V' with the largest singular values."""
        words = scores.shape[0]
        if words < self.dim:
            log.warning("%s, but there are only %s words: all further components are 0", S.dim(self.dim), words)
        if words <= max(MAX_DENSE, self.dim):
            left, values, _ = np.linalg.svd(scores.toarray().astype(np.float64))
        else:
            # ARPACK would draw a start of its own, and vectors would differ from run to run.
            start = np.random.default_rng(seed).random(words, np.float32)
            svds = import_library("scipy.sparse.linalg").svds
            left, values, _ = svds(scores, self.dim, v0=start, return_singular_vectors="u")
            left, values = left[:, ::-1], values[::-1]
        vectors = np.zeros((words, self.dim), np.float32)
        vectors[:, :words] = (left * values**self.singular_value_exponent)[:, : self.dim]
        return vectors


def co_occurrences(data: TrainingData, weights: NDArray[np.float64], memory: int) -> Any:
    """How often two words occur within the window, by the weights of distances: a sparse matrix, float64."""
    size = len(data.vocabulary)
    with temporary_folder(corpora_folder()) as folder:
        words = select_words(data.encoded, size, len(weights) - 1, folder)._replace(weights=weights)
        cells = np.concatenate([cells.copy() for cells in count_cells(words, size, memory)])
    others = cells[cells["row"] != cells["column"]]
    rows = np.concatenate([cells["row"], others["column"]])
    columns = np.concatenate([cells["column"], others["row"]])
    counts = np.concatenate([cells["count"], others["count"]]).astype(np.float64)
    return import_library("scipy.sparse").coo_array((counts, (rows, columns)), (size, size))
