"""A trainer of another package: a count-based model, which needs no kernel."""

from dataclasses import asdict, dataclass
from time import perf_counter

import numpy as np

from embeddings import Corpus, Model, Vectors
from embeddings.settings import Dimension, option
from embeddings.training.progress import Progress, Report


@dataclass(frozen=True, kw_only=True)
class PPMI(Dimension):
    """Positive pointwise mutual information, factorised (Levy and Goldberg 2014). For small vocabularies."""

    window: int = option(2, "Maximum distance between a word and its context words.", ge=1)
    min_count: int = option(5, "Drop words that occur less often.", ge=1)

    def train(
        self, corpus: Corpus, *, threads: int | None = None, seed: int = 1, report: Report | None = None
    ) -> Model:
        """Train a model. It is deterministic: threads and seed have no effect."""
        started, encoded = perf_counter(), corpus.encode()
        vocabulary = encoded.vocabulary.select(min_count=self.min_count)
        size, total = len(vocabulary), len(encoded.ids)
        is_known, lines = (
            encoded.ids < size,
            np.repeat(np.arange(len(encoded.sentences) - 1), np.diff(encoded.sentences)),
        )
        ids, lines = encoded.ids[is_known], lines[is_known]
        counts = np.zeros((size, size))
        for distance in range(1, self.window + 1):
            same_line = lines[distance:] == lines[:-distance]
            np.add.at(counts, (ids[distance:][same_line], ids[:-distance][same_line]), 1)
        counts += counts.T
        expected = np.outer(counts.sum(0), counts.sum(1)) / max(counts.sum(), 1)
        ratio = np.divide(counts, expected, out=np.ones_like(counts), where=expected > 0)
        u, s, _ = np.linalg.svd(np.log(np.maximum(ratio, 1)))
        rows = np.zeros((size, self.dim), np.float32)
        rows[:, :size] = (u * np.sqrt(s))[:, : self.dim]
        seconds = perf_counter() - started
        if report:
            report(Progress(total, total, epoch=1, epochs=1, learning_rate=0.0, loss=None, seconds=seconds))
        return Model(
            "ppmi",
            vectors=Vectors(vocabulary.words, rows, counts=vocabulary.counts),
            vocabulary=vocabulary,
            settings=asdict(self),
            record={"seed": seed, "threads": threads or 1, "words": total, "total_words": total, "seconds": seconds},
        )
