"""Skip-gram with negative sampling (Mikolov et al. 2013b), its negatives shared by the window."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import hot
from embeddings.kernels.row_cache import give_back
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import Bundle, learn, new_bundle
from embeddings.kernels.window import ask_ahead, centre_and_noise, contexts
from embeddings.models.model import Model
from embeddings.settings import option
from embeddings.training.parameters import initial, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus


MOST_NOISE = 10_000  # words for a centre with noise for each pair: they are drawn a block ahead


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
        m = contexts(block, tables.words, bundle.inputs, bundle.read, i)
        if m == 0:
            continue
        for j in range(m):
            bundle.moved[j] = bundle.read[j]
        n = centre_and_noise(block, tables.output, bundle, i)
        ask_ahead(block, tables.words, bundle.inputs, tables.output, bundle.targets.shape[0] - 1, i, last)
        learn(bundle, m, 1, n, width, rate)
    give_back(tables.words, bundle.inputs)
    give_back(tables.output, bundle.outputs)


@hot
def learn_pairs(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """The same with noise words of its own for each pair, one pair after another, as word2vec does it."""
    width, last = tables.words.shape[1], block.place[LAST]
    for i in range(block.place[FIRST], last):
        m = contexts(block, tables.words, bundle.inputs, bundle.context, i)
        ask_ahead(block, tables.words, bundle.inputs, tables.output, bundle.targets.shape[0] - 1, i, last)
        for j in range(m):
            n = centre_and_noise(block, tables.output, bundle, i, j * (bundle.targets.shape[0] - 1))
            bundle.read[0] = bundle.moved[0] = bundle.context[j]
            learn(bundle, 1, 1, n, width, rate)
    give_back(tables.words, bundle.inputs)
    give_back(tables.output, bundle.outputs)


@dataclass(frozen=True, kw_only=True)
class SkipGram(WindowSettings):
    """Skip-gram with negative sampling: each word predicts the words around it. Good for rare words."""

    negative_sharing: Literal["distant", "window", "pair"] = option(  # type: ignore[assignment]  # wider, but frozen
        "distant",
        "All contexts of a window share its noise words. Draw them once for 8 windows that lie apart and have no word "
        "in common, which is fast, anew for each window, or for each pair of context and centre, as word2vec does: "
        "several times slower, and no better.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        words = 2 * self.window * self.negatives
        if self.negative_sharing == "pair" and words > MOST_NOISE:
            allowed = f"2 x window x negatives must be at most {MOST_NOISE}"
            raise SettingError(f"with noise words for each pair {allowed}, not {words}")

    def train(
        self,
        corpus: "Corpus",
        *,
        threads: int | None = None,
        seed: int = 1,
        report: Report | None = None,
        conduct: Conduct | None = None,
    ) -> Model:
        """The model learned from the corpus; see `embeddings.training.task.prepare` and `Task.run` for errors."""
        task = prepare("skipgram", self, corpus, threads=threads, seed=seed, report=report, conduct=conduct)
        size = len(task.vocabulary)
        tables = Tables(words=initial(size, self.dim, seed), output=zeros(size, self.dim))
        contexts, width = 2 * self.window, padded(self.dim)
        if self.negative_sharing == "pair":
            return task.run(
                learn_pairs,
                tables,
                lambda: new_bundle(1, 1 + self.negatives, width, contexts=contexts),
                reader=task.windows(noise=contexts * self.negatives),
            )
        return task.run(learn_block, tables, lambda: new_bundle(contexts, 1 + self.negatives, width))
