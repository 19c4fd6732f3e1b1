"""The continuous bag of words with negative sampling (Mikolov et al. 2013a, 2013b)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.hidden_layer import combine, give_all
from embeddings.kernels.jit import hot
from embeddings.kernels.row_cache import give_back
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import Bundle, keeping, learn, new_bundle
from embeddings.kernels.window import ask_ahead, centre_and_noise, contexts
from embeddings.models.model import Model
from embeddings.settings import option
from embeddings.training.parameters import initial, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus


class Tables(NamedTuple):
    """Vectors of words and of the words they predict, each (vocabulary, padded dim), and how contexts combine."""

    words: np.ndarray
    output: np.ndarray
    mean: bool
    exact: bool


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """The mean or sum of the contexts goes in, the centre is scored; its gradient goes back to each context."""
    width, last = tables.words.shape[1], block.place[LAST]
    for i in range(block.place[FIRST], last):
        m = contexts(block, tables.words, bundle.inputs, bundle.context, i)
        ask_ahead(block, tables.words, bundle.inputs, tables.output, bundle.targets.shape[0] - 1, i, last)
        if m == 0:
            continue
        combine(bundle, m, width, 1 / m if tables.mean else 1)
        n = centre_and_noise(block, tables.output, bundle, i)
        learn(bundle, 1, 1, n, width, rate)
        give_all(bundle, m, width, 1 / m if tables.mean and tables.exact else 1)
    give_back(tables.words, bundle.inputs)
    give_back(tables.output, bundle.outputs)


@dataclass(frozen=True, kw_only=True)
class CBOW(WindowSettings):
    """Continuous bag of words: the words around a place together predict the word there. The fastest model."""

    rate: float = option(0.075, "Learning rate at the start; it falls linearly over all epochs.", above=0, most=100)
    combine: Literal["mean", "sum"] = option("mean", "Contexts go in as their mean or as their sum.")
    context_gradient: Literal["undivided", "exact"] = option(
        "undivided",
        "With the mean of m contexts, each context's true gradient is 1/m of the mean's. 'exact' takes that; it "
        "wants about three times the rate. 'undivided' gives each context the whole, as word2vec, gensim and fastText "
        "do. With the sum the two are the same.",
    )

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
        task = prepare("cbow", self, corpus, threads=threads, seed=seed, report=report, conduct=conduct)
        size, width = len(task.vocabulary), padded(self.dim)
        tables = Tables(
            words=initial(size, self.dim, seed),
            output=zeros(size, self.dim),
            mean=self.combine == "mean",
            exact=self.context_gradient == "exact",
        )
        return task.run(
            learn_block,
            tables,
            lambda: keeping(
                new_bundle(1, 1 + self.negatives, width, contexts=2 * self.window, rows=2),
                task.threads,
                inputs=tables.words,
                outputs=tables.output,
            ),
        )
