"""A trainer of another package: a count-based model, which needs no kernel."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from embeddings import Model
from embeddings.settings import Dimension, option
from embeddings.training.progress import Progress
from embeddings.training.run import new_model
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData


@dataclass(frozen=True, kw_only=True)
class PPMI(Trainer, Dimension):
    """Positive pointwise mutual information, factorised (Levy and Goldberg 2014). For small vocabularies."""

    trainer_name = "ppmi"
    max_threads = 1
    accepts_run_options = False
    window: int = option(2, "Maximum distance between a word and its context words.", ge=1, common=True)
    min_count: int = option(5, "Drop words that occur less often.", ge=1, common=True)

    def learn(self, data: TrainingData) -> Model:
        """Factorise the matrix by singular value decomposition. The seed has no effect."""
        started, size, total = perf_counter(), len(data.vocabulary), len(data.encoded.ids)
        counts = self.co_occurrences(data)
        expected = np.outer(counts.sum(0), counts.sum(1)) / max(counts.sum(), 1)
        ratio = np.divide(counts, expected, out=np.ones_like(counts), where=expected > 0)
        u, s, _ = np.linalg.svd(np.log(np.maximum(ratio, 1)))
        vectors = np.zeros((size, self.dim), np.float32)
        vectors[:, :size] = (u * np.sqrt(s))[:, : self.dim]
        seconds = perf_counter() - started
        progress = Progress(total, total, epoch=1, epochs=1, learning_rate=0.0, loss=None, seconds=seconds)
        if data.report:
            data.report(progress)
        return new_model(data, {"vectors": vectors}, progress)

    def co_occurrences(self, data: TrainingData) -> np.ndarray:
        """How often two words occur within the window, (vocabulary, vocabulary)."""
        ids, sentences, size = data.encoded.ids, data.encoded.sentences, len(data.vocabulary)
        lines, is_known = np.repeat(np.arange(len(sentences) - 1), np.diff(sentences)), ids < size
        ids, lines, counts = ids[is_known], lines[is_known], np.zeros((size, size))
        for distance in range(1, self.window + 1):
            same_line = lines[distance:] == lines[:-distance]
            np.add.at(counts, (ids[distance:][same_line], ids[:-distance][same_line]), 1)
        return counts + counts.T
