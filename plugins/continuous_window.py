"""Continuous window (Ling et al. 2015): CBOW whose contexts stand side by side, each in its place."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import hot, piece
from embeddings.kernels.row_cache import give_back
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.step_buffers import Bundle, keeping
from embeddings.kernels.window import ask_context, in_slots
from embeddings.kernels.window_batch import AT_ONCE, NOTHING, bundle_beside, choose, learn_together
from embeddings.models.model import Model
from embeddings.settings import WholeWindow, option
from embeddings.training.parameters import initial, trimmed, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus


class Tables(NamedTuple):
    """Vectors of words (vocabulary, padded dim); of words they predict (vocabulary, slots * padded dim)."""

    words: np.ndarray
    output: np.ndarray
    window: int
    at_once: int


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """Equation 5 of Ling et al. (2015): contexts side by side go in, zeros where there is none; the centre is scored.

    Each context gets its own part of the gradient, the whole of it.
    """
    slots = 2 * tables.window
    for i in range(block.place[FIRST], block.place[LAST]):
        m = choose(block, bundle, i, slots + 1, tables.at_once, False)
        for k in range(m):
            places(block, tables, bundle, k)
        if m > 0:
            learn_together(block, tables.output, bundle, m, slots, rate)
    give_back(tables.words, bundle.inputs)
    give_back(tables.output, bundle.outputs)


@piece
def places(block: Block, tables: Tables, bundle: Bundle, k: int) -> None:
    """Write the rows of the contexts of the k-th centre to `read`, each in its place, zeros where there is none."""
    i, window = bundle.centres[k], tables.window
    in_slots(block, tables.words, bundle, i, window, 2 * window * k, address(bundle.rows, NOTHING))
    ask_context(block, tables.words, bundle.inputs, i, block.place[LAST])


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
        at_once = min(self.together, AT_ONCE)
        tables = Tables(initial(size, self.dim, seed), output, self.window, at_once)
        return task.run(
            learn_block,
            tables,
            lambda: keeping(
                bundle_beside(at_once, self.negatives, width, slots=slots),
                task.threads,
                inputs=tables.words,
                outputs=tables.output,
            ),
            learned=lambda tables: {
                "vectors": trimmed(tables.words, self.dim),
                "output": trimmed(tables.output, self.dim, slots),
            },
        )
