"""Continuous window (Ling et al. 2015): CBOW whose contexts stand side by side, each in its place."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.bundle import Bundle, learn, new_bundle
from embeddings.kernels.compile import hot
from embeddings.kernels.hidden import give_part, set_side_by_side
from embeddings.kernels.rows import padded
from embeddings.kernels.window import ask_ahead, centre_and_noise, in_slots
from embeddings.model import Model
from embeddings.settings import WholeWindow, option
from embeddings.training.conduct import Conduct
from embeddings.training.progress import Report
from embeddings.training.tables import initial, trimmed, zeros
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus


class Tables(NamedTuple):
    """Vectors of words (vocabulary, padded dim); of words they predict (vocabulary, slots * padded dim)."""

    words: np.ndarray
    output: np.ndarray
    window: int


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """Equation 5 of Ling et al. (2015): contexts side by side go in, zeros where there is none; the centre is scored.

    Each context gets its own part of the gradient, the whole of it.
    """
    width, last, slots = tables.words.shape[1], block.place[LAST], 2 * tables.window
    for i in range(block.place[FIRST], last):
        ask_ahead(block, tables.words, tables.output, bundle.targets.shape[0] - 1, i, last)
        if block.stop[i] - block.start[i] < 2:
            continue
        bundle.context[:] = 0
        in_slots(block, tables.words, bundle, i, tables.window, 0)
        set_side_by_side(bundle, slots, width)
        n = centre_and_noise(block, tables.output, bundle, i)
        learn(bundle, 1, 1, n, slots * width, rate)
        for slot in range(slots):
            give_part(bundle, slot, width)


@dataclass(frozen=True, kw_only=True)
class ContinuousWindow(WholeWindow, WindowSettings):
    """Continuous window: CBOW that minds where a context stands. For syntax; output rows are 2 x window x dim long."""

    rate: float = option(0.05, "Learning rate at the start; it falls linearly over all epochs.", above=0, most=100)

    def train(
        self,
        corpus: "Corpus",
        *,
        threads: int | None = None,
        seed: int = 1,
        report: Report | None = None,
        conduct: Conduct | None = None,
    ) -> Model:
        """The model learned from the corpus; see `embeddings.training.task.prepare` and `Task.run` for errors.

        Its table "output" is (vocabulary, 2 x window, dim).
        """
        task = prepare("continuous-window", self, corpus, threads=threads, seed=seed, report=report, conduct=conduct)
        size, slots, width = len(task.vocabulary), 2 * self.window, padded(self.dim)
        output = zeros(size * slots, self.dim).reshape(size, slots * width)
        tables = Tables(initial(size, self.dim, seed), output, self.window)
        return task.run(
            learn_block,
            tables,
            lambda: new_bundle(1, 1 + self.negatives, slots * width, contexts=slots, rows=2),
            learned=lambda tables: {
                "vectors": trimmed(tables.words, self.dim),
                "output": trimmed(tables.output, self.dim, slots),
            },
        )
