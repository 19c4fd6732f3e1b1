"""fastText (Bojanowski et al. 2017): words composed of their n-grams; with position weights (Mikolov et al. 2018)."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.hidden_layer import GRADIENT, HIDDEN
from embeddings.kernels.jit import as_helper, entry_point, inline, noinline
from embeddings.kernels.row_operations import address, copy_row, hadamard_add, padded
from embeddings.kernels.step_buffers import StepBuffers, learn, new_step_buffers
from embeddings.kernels.subword_rows import (
    SubwordCache,
    SubwordTables,
    backprop_to_subwords,
    compose_block,
    new_subword_cache,
)
from embeddings.kernels.window import gather_targets, prefetch_next, slot_index
from embeddings.models import subword_vectors
from embeddings.models.model import Model
from embeddings.models.subwords import (
    MAX_BUCKETS,
    MAX_NGRAM_LENGTH,
    bucket_rows,
    check_ngrams,
    default_buckets,
    ngram_hashes,
)
from embeddings.plugins import cbow, skipgram
from embeddings.settings import option
from embeddings.training.parameters import Arrays, random_rows, unpad, zero_rows
from embeddings.training.task import Task, WindowTrainer

POSITION_WEIGHTS = 2  # of `StepBuffers.hidden_rows`, after a hidden row and its gradient
FASTTEXT_BLOCK_SIZE = 512  # words: composed rows are outdated by at most one block


class SharedTables(NamedTuple):
    """All parameters: rows that words are composed of, output vectors, and position weights, as in `Tables`."""

    subwords: SubwordTables
    output: np.ndarray
    positions: np.ndarray


class Tables(NamedTuple):
    """The tables of one thread.

    subwords: the rows that words are composed of; cache: the thread's composed rows.
    output: (vocabulary, padded dim); positions: (2 window, padded dim) position weights.
    """

    subwords: SubwordTables
    cache: SubwordCache
    output: np.ndarray
    positions: np.ndarray


skipgram_step, cbow_step = as_helper(skipgram.learn_block), as_helper(cbow.learn_block)


@entry_point
def learn_skipgram(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """Skip-gram on composed rows."""
    count = compose_block(tables.cache, block, tables.subwords, buffers)
    step_tables = skipgram.Tables(tables.cache.rows, tables.output)
    skipgram_step(composed_block(block, tables.cache), step_tables, buffers, rate)
    backprop_to_subwords(tables.cache, count, tables.subwords, buffers)


@entry_point
def learn_cbow(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """CBOW on composed rows."""
    count = compose_block(tables.cache, block, tables.subwords, buffers)
    step_tables = cbow.Tables(tables.cache.rows, tables.output, True, False)
    cbow_step(composed_block(block, tables.cache), step_tables, buffers, rate)
    backprop_to_subwords(tables.cache, count, tables.subwords, buffers)


@entry_point
def learn_weighted_cbow(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """CBOW with position weights on composed rows."""
    count = compose_block(tables.cache, block, tables.subwords, buffers)
    weighted_cbow_step(composed_block(block, tables.cache), tables, buffers, rate)
    backprop_to_subwords(tables.cache, count, tables.subwords, buffers)


@inline
def composed_block(block: Block, cache: SubwordCache) -> Block:
    """A block whose inputs are the rows of the cache."""
    return Block(block.words, cache.inputs, block.start, block.stop, block.noise, block.cursor, block.documents)


@noinline
def weighted_cbow_step(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """CBOW with position weights: equation 2 of Mikolov et al. (2018).

    h = (d_1 * u_1 + ... + d_m * u_m) / m, elementwise. A context u gets the undivided gradient of h, as in CBOW; the
    position weights d are shared by all windows and get the exact gradient.
    """
    rows, width, negatives = tables.cache.rows, tables.output.shape[1], block.noise.shape[1]
    last, window = block.cursor[LAST], tables.positions.shape[0] // 2
    hidden, gradient = address(buffers.hidden_rows, HIDDEN), address(buffers.hidden_rows, GRADIENT)
    weights = address(buffers.hidden_rows, POSITION_WEIGHTS)
    for i in range(block.cursor[FIRST], last):
        prefetch_next(block, rows, buffers.input_cache, tables.output, negatives, i, last)
        m = block.stop[i] - block.start[i] - 1
        if m < 1:
            continue
        buffers.hidden_rows[:] = 0
        buffers.factor[0] = 1 / m
        for c in range(block.start[i], block.stop[i]):
            if c != i:
                position = address(tables.positions, slot_index(c, i, window))
                hadamard_add(buffers.factor, hidden, address(rows, block.inputs[c]), position, width)
        n = gather_targets(block, tables.output, buffers, i, negatives)
        buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, gradient
        learn(buffers, 1, 1, n, width, rate)
        for c in range(block.start[i], block.stop[i]):
            if c != i:
                position, context = address(tables.positions, slot_index(c, i, window)), address(rows, block.inputs[c])
                copy_row(buffers.hidden_rows, weights, position, width)
                buffers.factor[0] = 1 / m
                hadamard_add(buffers.factor, position, gradient, context, width)
                buffers.factor[0] = 1
                hadamard_add(buffers.factor, context, gradient, weights, width)


@dataclass(frozen=True, kw_only=True)
class FastText(WindowTrainer):
    """fastText: skip-gram or CBOW on words composed of n-grams. Vectors for any word; good for rich morphology."""

    trainer_name = "fasttext"
    architecture: Literal["skipgram", "cbow"] = option("skipgram", "Model to train on the composed words.")
    learning_rate: float = option(0.05, "Initial learning rate; it decays linearly over all epochs.", gt=0, le=100)
    negative_sharing: Literal["batch", "window"] = option(
        "window",
        "Which positives share one set of negative samples. window: those of one window; batch: those of 8 windows "
        "without common words, which is faster but gives worse vectors.",
    )
    min_n: int = option(
        3, "Minimum n-gram length in characters, counting the word boundaries < and >.", ge=0, le=MAX_NGRAM_LENGTH
    )
    max_n: int = option(6, "Maximum n-gram length in characters; 0 disables n-grams.", ge=0, le=MAX_NGRAM_LENGTH)
    buckets: int | None = option(
        None,
        "Number of hash buckets for n-grams.  [default: as many of fastText's 2,000,000 as the vocabulary's n-grams "
        "would fill]",
        ge=1,
        le=MAX_BUCKETS,
    )
    position_weights: bool = option(
        False, "Learn a weight for each context position and component; requires --architecture cbow."
    )
    composer = staticmethod(subword_vectors.composer)
    word_rows: ClassVar[str] = "parts"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ngrams(self.min_n, self.max_n, self.buckets or 1)
        if self.buckets and self.max_n == 0:
            raise SettingError(f"buckets require n-grams: remove buckets={self.buckets} or raise max_n above 0")
        if self.position_weights and self.architecture != "cbow":
            raise SettingError(f"position_weights require architecture=cbow, got {self.architecture}")

    def train_task(self, task: Task) -> Model:
        """Train a model with the tables "words" and "output" (vocabulary, dim) and "ngrams" (buckets, dim).

        "vectors" are the means of the rows that words are composed of. With position weights there is also "positions"
        (2 x window, dim).
        """
        subwords, output = self.initial_subwords(task), zero_rows(len(task.vocabulary), self.dim)
        positions = zero_rows(2 * self.window, self.dim)
        positions[:, : self.dim] = 1
        kernel = learn_skipgram if self.architecture == "skipgram" else learn_cbow
        if self.position_weights:
            kernel = learn_weighted_cbow
        stream, max_parts = task.window_stream(size=FASTTEXT_BLOCK_SIZE), 1 + int(np.diff(subwords.offsets).max())
        size, width, contexts = len(stream.new_block().words), padded(self.dim), 2 * self.window
        inputs = contexts if self.architecture == "skipgram" else 1

        def thread_tables() -> Tables:
            cache = new_subword_cache(size, len(subwords.words), max_parts, width)
            return Tables(subwords, cache, output, positions)

        return task.run(
            kernel,
            SharedTables(subwords, output, positions),
            lambda: new_step_buffers(inputs, 1 + self.negatives, width, contexts=contexts, rows=3),
            thread_tables=thread_tables,
            final_tables=lambda tables: self.final_tables(task, tables),
            stream=stream,
        )

    def initial_subwords(self, task: Task) -> SubwordTables:
        """The initial rows that the words of a vocabulary are composed of."""
        words, continued = task.vocabulary.words, task.run_options.continued
        offsets, hashes = ngram_hashes(words, self.min_n, self.max_n)
        old_buckets = 0 if continued is None else len(continued.tables.get("ngrams", ()))
        buckets = 0 if self.max_n == 0 else self.buckets or old_buckets or default_buckets(hashes)
        own, ngrams = random_rows(len(words), self.dim, task.seed), random_rows(buckets, self.dim, task.seed + 2**32)
        return SubwordTables(own, ngrams, offsets, bucket_rows(hashes, buckets))

    def final_tables(self, task: Task, tables: SharedTables) -> Arrays:
        """The tables to save."""
        own, ngrams = unpad(tables.subwords.words, self.dim), unpad(tables.subwords.ngrams, self.dim)
        composed = subword_vectors.SubwordVectors(ngrams, self.min_n, self.max_n).vocabulary_vectors(
            task.vocabulary.words, own
        )
        output = unpad(tables.output, self.dim)
        arrays = {"vectors": composed, "words": own, "ngrams": ngrams, "output": output}
        return arrays | ({"positions": unpad(tables.positions, self.dim)} if self.position_weights else {})
