"""A trainer from another package: it counts instead of learning."""

from dataclasses import asdict, dataclass
from time import perf_counter

import numpy as np

from embeddings import Corpus, Model, Vectors
from embeddings.settings import Dimension, option
from embeddings.training.progress import Progress, Report


@dataclass(frozen=True, kw_only=True)
class PPMI(Dimension):
    """Positive pointwise mutual information, factored (Levy and Goldberg 2014). For small vocabularies."""

    window: int = option(2, "Furthest context word on either side.", least=1)
    min_count: int = option(5, "Words that occur less often are left out.", least=1)

    def train(
        self, corpus: Corpus, *, threads: int | None = None, seed: int = 1, report: Report | None = None
    ) -> Model:
        """The model of a corpus; nothing about it is random."""
        started, encoded = perf_counter(), corpus.encode()
        vocabulary = encoded.vocabulary.select(min_count=self.min_count)
        size, total = len(vocabulary), len(encoded.ids)
        known, lines = encoded.ids < size, np.repeat(np.arange(len(encoded.sentences) - 1), np.diff(encoded.sentences))
        ids, lines = encoded.ids[known], lines[known]
        counts = np.zeros((size, size))
        for gap in range(1, self.window + 1):
            near = lines[gap:] == lines[:-gap]
            np.add.at(counts, (ids[gap:][near], ids[:-gap][near]), 1)
        counts += counts.T
        expected = np.outer(counts.sum(0), counts.sum(1)) / max(counts.sum(), 1)
        ratio = np.divide(counts, expected, out=np.ones_like(counts), where=expected > 0)
        u, s, _ = np.linalg.svd(np.log(np.maximum(ratio, 1)))
        rows = np.zeros((size, self.dim), np.float32)
        rows[:, :size] = (u * np.sqrt(s))[:, : self.dim]
        seconds = perf_counter() - started
        if report:
            report(Progress(total, total, epoch=1, epochs=1, rate=0.0, loss=None, seconds=seconds))
        return Model(
            "ppmi",
            vectors=Vectors(vocabulary.words, rows, counts=vocabulary.counts),
            vocabulary=vocabulary,
            settings=asdict(self),
            record={"seed": seed, "threads": threads or 1, "words": total, "of_words": total, "seconds": seconds},
        )
