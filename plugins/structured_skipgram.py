"""Skip-gram that minds where a context stands: structured skip-gram (Ling et al. 2015), and left and right alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.jit import hot
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.step_buffers import Bundle, learn, new_bundle
from embeddings.kernels.window import ask_targets, centre_and_noise
from embeddings.models.model import Model
from embeddings.settings import WholeWindow
from embeddings.training.parameters import initial, trimmed, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus


class Tables(NamedTuple):
    """Vectors of words, and of words to predict in each slot: (vocabulary, padded dim) and (vocabulary * slots, same).

    Slot s is for contexts `reach[s, 0]` to `reach[s, 1]` words from the centre; `reach` is (slots, 2).
    """

    words: np.ndarray
    output: np.ndarray
    reach: np.ndarray


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """Equation 4 of Ling et al. (2015), in word2vec's direction: contexts go in, the centre is scored.

    In each slot, by the centre's own row for that slot. The centre's noise words serve all slots, each by its row.
    """
    width, last, slots = tables.words.shape[1], block.place[LAST], tables.reach.shape[0]
    for i in range(block.place[FIRST], last):
        for slot in range(slots):
            ask_targets(block, tables.output, bundle.targets.shape[0] - 1, i, last, slots, slot)
            m = 0
            first, end = i + tables.reach[slot, 0], i + tables.reach[slot, 1] + 1
            for c in range(max(block.start[i], first), min(block.stop[i], end)):
                bundle.read[m] = bundle.moved[m] = address(tables.words, block.inputs[c])
                m += 1
            if m > 0:
                n = centre_and_noise(block, tables.output, bundle, i, 0, slots, slot)
                learn(bundle, m, 1, n, width, rate)


def learned_in_slots(
    name: str, settings: WindowSettings, reach: np.ndarray, corpus: "Corpus", how: dict[str, Any]
) -> Model:
    """The model with these slots learned from the corpus; its table "output" is (vocabulary, slots, dim)."""
    task = prepare(name, settings, corpus, **how)
    size, slots, dim = len(task.vocabulary), len(reach), settings.dim
    tables = Tables(initial(size, dim, task.seed), zeros(size * slots, dim), reach)
    inputs = int((reach[:, 1] - reach[:, 0]).max()) + 1
    return task.run(
        learn_block,
        tables,
        lambda: new_bundle(inputs, 1 + settings.negatives, padded(dim)),
        learned=lambda tables: {
            "vectors": trimmed(tables.words, dim),
            "output": trimmed(tables.output, dim, slots),
        },
    )


@dataclass(frozen=True, kw_only=True)
class StructuredSkipGram(WholeWindow, WindowSettings):
    """Structured skip-gram: a word predicts each place around it apart. For syntax; 2 x window output tables."""

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
        places = np.array([at for at in range(-self.window, self.window + 1) if at != 0])
        reach = np.stack([places, places], axis=1)
        how = {"threads": threads, "seed": seed, "report": report, "conduct": conduct}
        return learned_in_slots("structured-skipgram", self, reach, corpus, how)


@dataclass(frozen=True, kw_only=True)
class DirectionalSkipGram(WindowSettings):
    """Directional skip-gram: a word predicts what stands left of it and what stands right of it apart."""

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
        reach = np.array([[-self.window, -1], [1, self.window]])
        how = {"threads": threads, "seed": seed, "report": report, "conduct": conduct}
        return learned_in_slots("directional-skipgram", self, reach, corpus, how)
