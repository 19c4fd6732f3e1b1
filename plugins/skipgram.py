"""Skip-gram with negative sampling (Mikolov et al. 2013b), its negatives shared by the window."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.bundle import Bundle, learn, new_bundle
from embeddings.kernels.compile import hot
from embeddings.kernels.rows import padded
from embeddings.kernels.window import ask_ahead, centre_and_noise, contexts
from embeddings.model import Model
from embeddings.training.progress import Report
from embeddings.training.tables import initial, zeros
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus


class Tables(NamedTuple):
    """Vectors of words and of the words they predict, each (vocabulary, padded dim)."""

    words: np.ndarray
    output: np.ndarray


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """Each context goes in, its centre is scored: word2vec's direction of equation 4 in Mikolov et al. (2013b).

    All contexts of a centre share its noise words, so a window is one product of two small matrices.
    """
    width, last = tables.words.shape[1], block.place[LAST]
    for i in range(block.place[FIRST], last):
        m = contexts(block, tables.words, bundle.read, i)
        if m == 0:
            continue
        for j in range(m):
            bundle.moved[j] = bundle.read[j]
        n = centre_and_noise(block, tables.output, bundle, i)
        ask_ahead(block, tables.words, tables.output, i, last)
        learn(bundle, m, 1, n, width, rate)


@dataclass(frozen=True, kw_only=True)
class SkipGram(WindowSettings):
    """Skip-gram with negative sampling: each word predicts the words around it. Good for rare words.

    Negatives are shared by the window: the contexts of a centre are told apart from the same noise words.
    """

    def train(
        self, corpus: "Corpus", *, threads: int | None = None, seed: int = 1, report: Report | None = None
    ) -> Model:
        """The model learned from the corpus; see `embeddings.training.task.prepare` and `Task.run` for errors."""
        task = prepare("skipgram", self, corpus, threads=threads, seed=seed, report=report)
        size = len(task.vocabulary)
        tables = Tables(words=initial(size, self.dim, seed), output=zeros(size, self.dim))
        return task.run(learn_block, tables, lambda: new_bundle(2 * self.window, 1 + self.negatives, padded(self.dim)))
