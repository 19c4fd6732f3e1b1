"""fastText (Bojanowski et al. 2017): words made of their n-grams; and position weights (Mikolov et al. 2018)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.hidden_layer import GRADIENT, HIDDEN
from embeddings.kernels.jit import hot
from embeddings.kernels.row_operations import address, copy, padded, weigh
from embeddings.kernels.step_buffers import Bundle, learn, new_bundle
from embeddings.kernels.subword_rows import Composed, Made, compose, give_back, new_composed
from embeddings.kernels.window import ask_ahead, centre_and_noise, slot_of
from embeddings.models import subword_vectors
from embeddings.models.model import Model
from embeddings.models.subwords import MOST_BUCKETS, MOST_N, check_ngrams, default_buckets, ngram_hashes, rows_of
from embeddings.plugins import cbow, skipgram
from embeddings.settings import option
from embeddings.training import continued_training
from embeddings.training.parameters import Arrays, initial, trimmed, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import Task, WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus

WEIGHTS = 2  # of `Bundle.rows`, behind a hidden row and its gradient
SKIPGRAM, CBOW, WEIGHTED = 0, 1, 2  # of `Tables.architecture`
SIZE = 512  # words of a block: composed rows are as old as a block at most


class Learned(NamedTuple):
    """What words are made of, words to predict (vocabulary, padded dim), and weights of positions, as `Tables`."""

    made: Made
    output: np.ndarray
    positions: np.ndarray


class Tables(NamedTuple):
    """What words are made of, a thread's rows of it, words to predict; weights of positions (2 window, padded dim)."""

    made: Made
    own: Composed
    output: np.ndarray
    positions: np.ndarray
    architecture: int


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """Skip-gram or CBOW on composed rows."""
    own = tables.own
    count = compose(own, block, tables.made, bundle)
    inner = Block(block.words, own.inputs, block.start, block.stop, block.noise, block.place, block.documents)
    if tables.architecture == SKIPGRAM:
        skipgram.learn_block(inner, skipgram.Tables(own.rows, tables.output), bundle, rate)
    elif tables.architecture == CBOW:
        cbow.learn_block(inner, cbow.Tables(own.rows, tables.output, True, False), bundle, rate)
    else:
        learn_weighted(inner, tables, bundle, rate)
    give_back(own, count, tables.made, bundle)


@hot
def learn_weighted(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """CBOW whose contexts are weighted by position, number by number: equation 2 of Mikolov et al. (2018).

    h = (d_1 * u_1 + ... + d_m * u_m) / m. A context u takes the gradient of h undivided, as in CBOW; the weights d
    are shared by all windows, and take the exact one.
    """
    own, width, last, window = tables.own, tables.output.shape[1], block.place[LAST], tables.positions.shape[0] // 2
    hidden, gradient, weights = (
        address(bundle.rows, HIDDEN),
        address(bundle.rows, GRADIENT),
        address(bundle.rows, WEIGHTS),
    )
    for i in range(block.place[FIRST], last):
        ask_ahead(block, own.rows, bundle.inputs, tables.output, bundle.targets.shape[0] - 1, i, last)
        m = block.stop[i] - block.start[i] - 1
        if m < 1:
            continue
        bundle.rows[:] = 0
        bundle.factor[0] = 1 / m
        for c in range(block.start[i], block.stop[i]):
            if c != i:
                position = address(tables.positions, slot_of(c, i, window))
                weigh(bundle.factor, hidden, address(own.rows, block.inputs[c]), position, width)
        n = centre_and_noise(block, tables.output, bundle, i)
        bundle.read[0], bundle.moved[0] = hidden, gradient
        learn(bundle, 1, 1, n, width, rate)
        for c in range(block.start[i], block.stop[i]):
            if c != i:
                position, context = (
                    address(tables.positions, slot_of(c, i, window)),
                    address(own.rows, block.inputs[c]),
                )
                copy(bundle.rows, weights, position, width)
                bundle.factor[0] = 1 / m
                weigh(bundle.factor, position, gradient, context, width)
                bundle.factor[0] = 1
                weigh(bundle.factor, context, gradient, weights, width)


@dataclass(frozen=True, kw_only=True)
class FastText(WindowSettings):
    """fastText: skip-gram or CBOW on words made of their n-grams. Vectors for any word; good for rich morphology."""

    architecture: Literal["skipgram", "cbow"] = option("skipgram", "What is learned on the composed words.")
    rate: float = option(0.05, "Learning rate at the start; it falls linearly over all epochs.", above=0, most=100)
    negative_sharing: Literal["distant", "window"] = option(
        "window",
        "All contexts of a window share its noise words. Draw them anew for each window, or once for 8 windows that "
        "lie apart: faster, but it costs quality here, where different words have n-grams in common.",
    )
    min_n: int = option(
        3, "Characters of the shortest n-gram, the borders < and > of a word included.", least=0, most=MOST_N
    )
    max_n: int = option(6, "Characters of the longest n-gram; 0 for words without n-grams.", least=0, most=MOST_N)
    buckets: int | None = option(
        None,
        "Rows for n-grams, which share them by hash.  [default: as many as the vocabulary's n-grams would fill of "
        "fastText's 2,000,000]",
        least=1,
        most=MOST_BUCKETS,
    )
    position_weights: bool = option(
        False, "Learn a weight for each number of a context by where the context stands; for cbow."
    )
    composer = staticmethod(subword_vectors.composer)
    word_rows: ClassVar[str] = "parts"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ngrams(self.min_n, self.max_n, self.buckets or 1)
        if self.buckets and self.max_n == 0:
            raise SettingError(
                f"buckets are for n-grams, of which there are none with max_n 0: leave out {self.buckets}"
            )
        if self.position_weights and self.architecture != "cbow":
            raise SettingError(f"position_weights are for the architecture cbow, not {self.architecture}")

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

        Its vectors are the means of what words are made of: of the tables "words" (vocabulary, dim) and "ngrams"
        (buckets, dim). Position weights are its table "positions" (2 x window, dim).
        """
        task = prepare("fasttext", self, corpus, threads=threads, seed=seed, report=report, conduct=conduct)
        made, output = self.made(task), zeros(len(task.vocabulary), self.dim)
        positions = zeros(2 * self.window, self.dim)
        positions[:, : self.dim] = 1
        architecture = WEIGHTED if self.position_weights else CBOW if self.architecture == "cbow" else SKIPGRAM
        reader, most = task.windows(size=SIZE), 1 + int(np.diff(made.offsets).max())
        size = len(reader.block().words)
        fixed = output, positions, architecture
        return task.run(
            learn_block,
            Learned(made, output, positions),
            lambda: self.bundle(architecture),
            own=lambda: Tables(made, new_composed(size, len(made.words), most, padded(self.dim)), *fixed),
            learned=lambda tables: self.learned(task, tables),
            reader=reader,
        )

    def bundle(self, architecture: int) -> Bundle:
        """A thread's scratch."""
        contexts, width = 2 * self.window, padded(self.dim)
        inputs = contexts if architecture == SKIPGRAM else 1
        return new_bundle(inputs, 1 + self.negatives, width, contexts=contexts, rows=3)

    def made(self, task: Task) -> Made:
        """What the words of a vocabulary are made of, as training starts."""
        words, known = task.vocabulary.words, continued_training.rows_of(task.conduct.continued, "ngrams")
        offsets, hashes = ngram_hashes(words, self.min_n, self.max_n)
        buckets = 0 if self.max_n == 0 else self.buckets or known or default_buckets(hashes)
        own = initial(len(words), self.dim, task.seed)
        return Made(own, initial(buckets, self.dim, task.seed + 2**32), offsets, rows_of(hashes, buckets))

    def learned(self, task: Task, tables: Learned) -> Arrays:
        """The tables as they are kept, and the vectors."""
        own, ngrams = trimmed(tables.made.words, self.dim), trimmed(tables.made.ngrams, self.dim)
        how = subword_vectors.Subwords(ngrams, self.min_n, self.max_n)
        found = {"vectors": how.with_own(task.vocabulary.words, own), "words": own, "ngrams": ngrams}
        found["output"] = trimmed(tables.output, self.dim)
        return found | ({"positions": trimmed(tables.positions, self.dim)} if self.position_weights else {})
