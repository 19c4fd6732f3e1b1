"""fastText (Bojanowski et al. 2017): words composed of their n-grams; with position weights (Mikolov et al. 2018)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from embeddings.compilation.jit import as_helper, entry_point, inline, noinline
from embeddings.errors import S
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.row_operations import address, copy_row, hadamard_add
from embeddings.kernels.step_buffers import StepBuffers, mask_frozen, new_step_buffers
from embeddings.kernels.subword_rows import (
    SubwordCache,
    SubwordTables,
    backprop_to_subwords,
    compose_block,
    composed_buffers,
    new_subword_cache,
)
from embeddings.kernels.window import GRADIENT, HIDDEN, slot_index
from embeddings.models.model import Model
from embeddings.models.subword_composer import composer as subword_composer
from embeddings.models.table import VECTORS, Arrays, Table, ones, uniform
from embeddings.objectives.objective import predict
from embeddings.plugins import cbow, skipgram
from embeddings.settings import option
from embeddings.training.plan import Kernel, Plan
from embeddings.training.trainer import PredictionTrainer
from embeddings.training.training_data import TrainingData
from embeddings.training.word_predictor import Examples, Windows, mean_examples, pair_examples
from embeddings.vectors.subwords import (
    BUCKETS_HELP,
    MAX_BUCKETS,
    MAX_HASHES,
    MAX_NGRAM_LENGTH,
    SubwordVectors,
    bucket_count,
    bucket_rows,
    check_ngrams,
    ngram_hashes,
)

POSITION_WEIGHTS = 2  # of `StepBuffers.hidden_rows`, after a hidden row and its gradient
FASTTEXT_BLOCK_SIZE = 512  # words: composed rows are outdated by at most one block


class FastTextOperands(NamedTuple):
    """Composed words, the objective and position weights of one thread.

    subwords: the rows that words are composed of; cache: the thread's composed rows.
    objective: the output vectors; positions: (2 window, padded dim) position weights.
    """

    subwords: SubwordTables
    cache: SubwordCache
    objective: Any
    positions: np.ndarray


skipgram_step, cbow_step = as_helper(skipgram.learn_block), as_helper(cbow.learn_block)


@entry_point
def learn_skipgram(block: Block, operands: FastTextOperands, buffers: StepBuffers, rate: float) -> None:
    """Skip-gram on composed rows: the scoring function of Bojanowski et al. (2017), section 3.2, as a mean.

    x = (z_1 + ... + z_n) / n    of the rows z of a word and its n-grams, once per block
    z_i += the change of x       by the steps of skip-gram on x
    """
    count = compose_block(operands.cache, block, operands.subwords, buffers)
    # From here on the composed rows are an ordinary table, so the step is that of skip-gram.
    composed = skipgram.SkipGramOperands(operands.cache.rows, operands.objective)
    steps = composed_buffers(operands.cache, count, buffers)
    skipgram_step(composed_block(block, operands.cache), composed, steps, rate)
    # Once per block, not per step: a word that occurs often in a block moves its n-grams once.
    backprop_to_subwords(operands.cache, count, operands.subwords, buffers)


@entry_point
def learn_cbow(block: Block, operands: FastTextOperands, buffers: StepBuffers, rate: float) -> None:
    """CBOW on composed rows; see `learn_skipgram`."""
    count = compose_block(operands.cache, block, operands.subwords, buffers)
    composed = cbow.CBOWOperands(operands.cache.rows, operands.objective, True, False)
    steps = composed_buffers(operands.cache, count, buffers)
    cbow_step(composed_block(block, operands.cache), composed, steps, rate)
    backprop_to_subwords(operands.cache, count, operands.subwords, buffers)


@entry_point
def learn_weighted_cbow(block: Block, operands: FastTextOperands, buffers: StepBuffers, rate: float) -> None:
    """CBOW with position weights on composed rows; see `weighted_cbow_step`."""
    count = compose_block(operands.cache, block, operands.subwords, buffers)
    steps = composed_buffers(operands.cache, count, buffers)
    weighted_cbow_step(composed_block(block, operands.cache), operands, steps, rate)
    backprop_to_subwords(operands.cache, count, operands.subwords, buffers)


@inline
def composed_block(block: Block, cache: SubwordCache) -> Block:
    """A block whose inputs are the rows of the cache."""
    return Block(block.words, cache.inputs, block.start, block.stop, block.noise, block.cursor, block.documents)


@noinline
def weighted_cbow_step(block: Block, operands: FastTextOperands, buffers: StepBuffers, rate: float) -> None:
    """CBOW with position weights: equation 2 of Mikolov et al. (2018).

    With e the gradient step of h, and products elementwise:

        h = (d_1 * u_1 + ... + d_m * u_m) / m    u_c += d_c * e    d_c += u_c * e / m

    A context u gets the undivided gradient of h, as in CBOW; the position weights d are shared by all windows and get
    the exact gradient.
    """
    rows, width, window = operands.cache.rows, operands.positions.shape[1], operands.positions.shape[0] // 2
    hidden, gradient = address(buffers.hidden_rows, HIDDEN), address(buffers.hidden_rows, GRADIENT)
    weights = address(buffers.hidden_rows, POSITION_WEIGHTS)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = block.stop[i] - block.start[i] - 1
        if m < 1:
            continue
        buffers.hidden_rows[:] = 0
        buffers.factor[0] = 1 / m
        for c in range(block.start[i], block.stop[i]):
            if c != i:
                position = address(operands.positions, slot_index(c, i, window))
                hadamard_add(buffers.factor, hidden, address(rows, block.inputs[c]), position, width)
        buffers.inputs[0], buffers.input_gradient_rows[0] = hidden, gradient
        predict(operands.objective, block, buffers, i, 1, rate)
        for c in range(block.start[i], block.stop[i]):
            if c != i:
                position, context = (
                    address(operands.positions, slot_index(c, i, window)),
                    address(rows, block.inputs[c]),
                )
                # The position changes before the context does, and the context needs it as it was.
                copy_row(buffers.hidden_rows, weights, position, width)
                buffers.factor[0] = 1 / m
                hadamard_add(buffers.factor, position, gradient, context, width)
                buffers.factor[0], buffers.inputs[0] = 1, context
                # In `inputs`, so that a frozen context is still read for the step of its position.
                mask_frozen(buffers.frozen, buffers.frozen_sink, buffers.inputs, 1)
                hadamard_add(buffers.factor, buffers.inputs[0], gradient, weights, width)


@dataclass(frozen=True, kw_only=True)
class FastText(PredictionTrainer):
    """fastText: skip-gram or CBOW on words composed of n-grams. Vectors for any word; good for rich morphology."""

    trainer_name = "fasttext"
    architecture: Literal["skipgram", "cbow"] = option("skipgram", "Model to train on the composed words.", common=True)
    negative_sharing: Literal["batch", "window"] = option(
        "window",
        "Which positives share one set of negative samples. window: the positives of one window; batch: the positives "
        "of 8 windows without common words, which is faster but gives worse vectors.",
    )
    min_n: int = option(
        3,
        "Minimum n-gram length in characters; the word boundaries < and > count.",
        ge=0,
        le=MAX_NGRAM_LENGTH,
        common=True,
    )
    max_n: int = option(
        6, "Maximum n-gram length in characters; 0 disables n-grams.", ge=0, le=MAX_NGRAM_LENGTH, common=True
    )
    buckets: int | None = option(None, BUCKETS_HELP, ge=1, le=MAX_BUCKETS)
    hashes: int = option(
        1,
        "Rows of the table of n-grams that make up an n-gram: with 2, as in floret, n-grams of a small table, such as "
        "--buckets 50000, share single rows but rarely all of them.",
        ge=1,
        le=MAX_HASHES,
    )
    position_weights: bool = option(
        False, "Learn a weight for each context position and component; requires --architecture cbow."
    )
    composer = staticmethod(subword_composer)
    fixed_settings = (*PredictionTrainer.fixed_settings, "min_n", "max_n", "hashes")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ngrams(self.min_n, self.max_n, self.buckets)
        is_used = self.architecture == "cbow" or not self.position_weights
        self.require("position_weights", is_used, S.architecture("cbow"))

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "words" (vocabulary, dim), "ngrams" (buckets, dim) and those of the objective.

        "vectors" are the means of the rows that words are composed of. With position weights there is also "positions"
        (2 x window, dim).
        """
        size = len(data.vocabulary)
        offsets, hashes = ngram_hashes(data.vocabulary.words, self.min_n, self.max_n, self.hashes)
        buckets, contexts = bucket_count(self, data.run_options.continued, "ngrams", hashes), 2 * self.window
        given = GivenVectors(data, self)
        inputs = contexts if self.architecture == "skipgram" else 1
        objective = self.new_objective(data.vocabulary)
        max_parts = 1 + int(np.diff(offsets).max())
        counts, rows_of_ngrams = np.diff(offsets), bucket_rows(hashes, buckets)
        kept = np.concatenate([[0], np.cumsum(np.where(given.frozen, 0, counts))])  # none of frozen words
        parts = kept, rows_of_ngrams[np.repeat(~given.frozen, counts)]
        stream = data.window_stream(objective.noise_weights, objective.noise, size=FASTTEXT_BLOCK_SIZE)
        kernel: Kernel = learn_skipgram
        if self.architecture == "cbow":
            kernel = learn_weighted_cbow if self.position_weights else learn_cbow
        block_size = len(stream.new_block().words)

        def operands(tables: Arrays) -> FastTextOperands:
            subwords = SubwordTables(tables["words"], tables["ngrams"], *parts)
            cache = new_subword_cache(block_size, size, max_parts, tables["words"].shape[1])
            return FastTextOperands(subwords, cache, objective.operand(tables), tables["positions"])

        tables = {
            "words": Table(rows=size, dim=self.dim, axis="words", init=uniform),
            "ngrams": Table(rows=buckets, dim=self.dim, axis="subwords", init=uniform, seed=2**32),
            "positions": Table(rows=contexts, dim=self.dim, axis="other", init=ones, on_continue="copy"),
            **objective.tables(),
        }
        return self.window_plan(
            data,
            objective,
            tables=tables,
            stream=stream,
            kernel=kernel,
            operands=operands,
            buffers=lambda targets, width: new_step_buffers(inputs, targets, width, contexts=contexts, rows=3),
            export=lambda arrays: self.export(data, arrays, given),
            set_vectors=given.set_rows,
        )

    def examples(self, model: Model, windows: Windows) -> Iterator[Examples]:
        """The predictions of the architecture."""
        if self.architecture == "skipgram":
            return pair_examples(self, model, windows)
        weights = model.tables["positions"].astype(np.float64) if self.position_weights else None
        return mean_examples(self, model, windows, weights)

    def composer_of(self, ngrams: np.ndarray) -> SubwordVectors:
        """Composes words of the rows of their n-grams."""
        return SubwordVectors(ngrams, self.min_n, self.max_n, hashes=self.hashes)

    def export(self, data: TrainingData, arrays: Arrays, given: "GivenVectors") -> Arrays:
        """The arrays to save."""
        if not self.position_weights:
            del arrays["positions"]
        frozen = np.flatnonzero(given.frozen)
        vectors = arrays["words"][frozen]
        arrays["words"][frozen] = given.own_rows(arrays["ngrams"], frozen, vectors)
        composer = self.composer_of(arrays["ngrams"])
        composed = composer.vocabulary_vectors(data.vocabulary.words, arrays["words"])
        composed[frozen] = vectors
        return {VECTORS: composed, **arrays}


class GivenVectors:
    """How words get the vectors of `--init`, although their n-grams belong to other words, too.

    A word's own row starts where the mean of its rows is the given vector. While a frozen word learns, it consists of
    its own row only; when it is saved, its own row is what makes the mean of its rows the given vector.
    """

    def __init__(self, data: TrainingData, settings: FastText) -> None:
        init, self.words, self.settings = data.run_options.init, data.vocabulary.words, settings
        self.frozen = (
            np.zeros(len(self.words), np.bool_) if init is None else init.frozen_rows(data.vocabulary, data.encoded)
        )

    def set_rows(self, tables: Arrays, rows: np.ndarray, matrix: np.ndarray) -> None:
        """Set the own rows of words from the vectors (n, dim) of the words."""
        padded_rows = np.zeros((len(rows), tables["words"].shape[1]), np.float32)
        padded_rows[:, : matrix.shape[1]] = matrix
        free = ~self.frozen[rows]
        padded_rows[free] = self.own_rows(tables["ngrams"], rows[free], padded_rows[free])
        tables["words"][rows] = padded_rows

    def own_rows(self, ngrams: np.ndarray, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Rows of the word table so that word plus n-grams give the requested vectors, (n, dim)."""
        words = [self.words[row] for row in rows.tolist()]
        means = self.settings.composer_of(ngrams).vocabulary_vectors(words, np.zeros_like(vectors))
        how = self.settings.min_n, self.settings.max_n, self.settings.hashes
        counts = 1 + np.diff(ngram_hashes(words, *how)[0]) if words else np.zeros(0, np.int64)
        return np.asarray((vectors - means) * counts[:, None].astype(np.float32))
