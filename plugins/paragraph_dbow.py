"""Paragraph vectors, distributed bag of words (Le and Mikolov 2014): each tag of a document predicts its words."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from embeddings.compilation.jit import as_helper, entry_point, inline, noinline
from embeddings.errors import S, SettingError
from embeddings.kernels.block import FIRST, LAST, Block, BlockSource, fill_block
from embeddings.kernels.hidden_layer import SINGLE_ROWS, TagRows, gather_tags
from embeddings.kernels.infer_documents import Inference, infer_documents
from embeddings.kernels.noise_sampling import shared_noise_count
from embeddings.kernels.random_numbers import random_bits, uniform_below
from embeddings.kernels.row_cache import cached_row
from embeddings.kernels.row_operations import address, prefetch
from embeddings.kernels.step_buffers import StepBuffers, learn, learn_input, new_step_buffers
from embeddings.models.table import VECTORS, Arrays, Table
from embeddings.objectives.objective import Objective, infer_input, predict
from embeddings.plugins import skipgram
from embeddings.settings import option
from embeddings.training.document_trainer import DocumentTrainer
from embeddings.training.plan import Plan
from embeddings.training.replicas import RATE_FACTOR
from embeddings.training.stream import TokenStream
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData

fill = as_helper(fill_block)


@entry_point
def fill_sampled_block(block: Block, source: BlockSource, rng: np.ndarray) -> int:
    """`fill_block`, after which `inputs[i]` is a random word of the window of centre i, itself included."""
    read = fill(block, source, rng)
    first, last = block.cursor[FIRST], block.cursor[LAST]
    for i in range(first, last):
        offset = uniform_below(random_bits(rng[0], rng[1] + np.uint64(i - first)), block.stop[i] - block.start[i])
        block.inputs[i] = block.words[block.start[i] + offset]
    rng[1] += np.uint64(last - first)
    return read


GROUP_SIZE = 4  # words that learn in one step; with 3 negative samples each they fill one pass over a row with AVX-512
DEFAULT_WINDOW = next(field.default for field in fields(WindowTrainer) if field.name == "window")


class Operands(NamedTuple):
    """Vectors of documents (documents, padded dim), those of words and the objective.

    Each word of a group comes with `noise` negative samples, which stand for `negatives`.
    tags: the rows of documents with several tags.
    """

    documents: np.ndarray
    words: np.ndarray
    objective: Any
    noise: int
    negatives: int
    tags: TagRows = SINGLE_ROWS


@entry_point
def learn_block(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """The tags of a document are the inputs, a group of its words the positives and its negative samples."""
    learn_groups(block, operands, buffers, rate, False)


@entry_point
def learn_both(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """The same, followed by skip-gram on the same words."""
    learn_groups(block, operands, buffers, rate, False)
    skipgram.learn_block(
        with_targets(block, block.words), skipgram.Operands(operands.words, operands.objective), buffers, rate
    )


@inline
def learn_groups(block: Block, operands: Operands, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """One step for each group of words; if `frozen`, only document vectors are updated, and documents have no tags."""
    output, last = operands.objective.output, block.cursor[LAST]
    i = block.cursor[FIRST]
    p = group_size(block, i, last)
    while p > 0:
        next_p = group_size(block, i + p, last)
        prefetch_group(block, output, operands.noise, i + p, next_p)
        n = gather_group_targets(block, operands, buffers, i, p)
        if operands.tags.starts.shape[0] > 0:
            learn_tags(buffers, gather_document(block, operands, buffers, i), p, n, output.shape[1], rate)
        else:
            buffers.inputs[0] = buffers.input_gradient_rows[0] = address(operands.documents, block.documents[i])
            if frozen:
                learn_input(buffers, p, n, output.shape[1], rate)
            else:
                learn(buffers, 1, p, n, output.shape[1], rate)
        i, p = i + p, next_p


@noinline
def learn_tags(buffers: StepBuffers, m: int, p: int, n: int, width: int, rate: float) -> None:
    """`learn` for several tags, apart from the code for a single one, which is faster with a constant number."""
    learn(buffers, m, p, n, width, rate)


@entry_point
def learn_words(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """`learn_block` word by word, for any objective."""
    learn_each_word(block, operands, buffers, rate, False)


@entry_point
def learn_words_and_windows(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """`learn_both` word by word, for any objective."""
    learn_each_word(block, operands, buffers, rate, False)
    skipgram.learn_block(
        with_targets(block, block.words), skipgram.Operands(operands.words, operands.objective), buffers, rate
    )


@inline
def learn_each_word(block: Block, operands: Operands, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """One step for each word; if `frozen`, only document vectors are updated."""
    targets = with_targets(block, block.inputs)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_document(block, operands, buffers, i)
        if frozen:
            infer_input(operands.objective, targets, buffers, i, rate)
        elif m == 1:
            predict(operands.objective, targets, buffers, i, 1, rate)
        else:
            predict(operands.objective, targets, buffers, i, m, rate)


@inline
def gather_document(block: Block, operands: Operands, buffers: StepBuffers, i: int) -> int:
    """Make the rows of centre i's document the inputs of the next step; returns how many there are."""
    m = gather_tags(block, operands.documents, operands.tags, buffers.inputs, i, 0)
    for k in range(m):
        buffers.input_gradient_rows[k] = buffers.inputs[k]
    return m


@inline
def with_targets(block: Block, words: np.ndarray) -> Block:
    """The block with these words to predict, which are also its inputs."""
    return Block(words, words, block.start, block.stop, block.noise, block.cursor, block.documents)


@inline
def group_size(block: Block, i: int, last: int) -> int:
    """How many words from centre i on form a group: up to `GROUP_SIZE` words of one document."""
    p = 0
    while p < GROUP_SIZE and i + p < last and block.documents[i + p] == block.documents[i]:
        p += 1
    return p


@inline
def gather_group_targets(block: Block, operands: Operands, buffers: StepBuffers, i: int, p: int) -> int:
    """Write rows and weights of p words from centre i on and of their negative samples; returns how many rows.

    Each pair of document and word needs `negatives` negative terms. So each of K negative samples shared by p words has
    the weight negatives * (p - occurrences of the sample among the p words) / K.
    """
    output, noise = operands.objective.output, operands.noise
    n, weight = p, buffers.weights.dtype.type(operands.negatives / (p * noise))
    for j in range(p):
        buffers.targets[j] = cached_row(output, buffers.output_cache, block.inputs[i + j])
        buffers.weights[j] = 1
        for q in range(noise):
            word, others = block.noise[i + j, q], 0
            for r in range(p):
                others += block.inputs[i + r] != word
            buffers.targets[n] = cached_row(output, buffers.output_cache, word)
            buffers.weights[n] = weight * others
            n += 1
    return n


@inline
def prefetch_group(block: Block, output: np.ndarray, noise: int, i: int, p: int) -> None:
    """Prefetch the rows of p words from centre i on and of their negative samples."""
    size = output.shape[1] * output.itemsize
    for j in range(p):
        prefetch(address(output, block.inputs[i + j]), size)
        for q in range(noise):
            prefetch(address(output, block.noise[i + j, q]), size)


@entry_point
def infer(
    vectors: np.ndarray, source: BlockSource, block: Block, operands: Operands, buffers: StepBuffers,
    inference: Inference, rng: np.ndarray,
) -> None:  # fmt: skip
    """Infer the vector of each line of a source into `vectors` (lines, dim), with word and output vectors frozen."""
    infer_documents(learn_groups, vectors, source, block, operands, buffers, inference, rng)


@entry_point
def infer_by_words(
    vectors: np.ndarray, source: BlockSource, block: Block, operands: Operands, buffers: StepBuffers,
    inference: Inference, rng: np.ndarray,
) -> None:  # fmt: skip
    """`infer` word by word, for any objective."""
    infer_documents(learn_each_word, vectors, source, block, operands, buffers, inference, rng)


@dataclass(frozen=True, kw_only=True)
class ParagraphDBOW(DocumentTrainer):
    """Paragraph vectors, distributed bag of words: a document predicts its words. Best for classification."""

    trainer_name = "paragraph-dbow"
    replica_rate_factor = RATE_FACTOR  # eval/results/replicas/results.md
    train_words: bool = option(
        False,
        "Also learn word vectors, by skip-gram on the same words; the window options apply to it. Otherwise the vector "
        "of a word is its output vector.",
    )
    negative_sharing: Literal["batch", "window"] = option(
        "window",
        "Four words of a document share their negative samples. batch: 8 words that are 2 x window + 1 apart share "
        "them too; window: each word draws its own.",
    )

    sampling: Literal["all", "window"] = option(
        "all",
        "Which words an epoch predicts. all: every word of a document once; window: one random word of the window "
        "around each word, as published.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        has_windows = self.train_words or self.sampling == "window"
        if not (self.shrink_window or has_windows):
            raise SettingError(
                f"{S.shrink_window(False)} requires {S.train_words} or {S.sampling('window')}: otherwise there are "
                "no windows"
            )
        if self.window != DEFAULT_WINDOW and not has_windows and self.negative_sharing == "window":
            raise SettingError(
                f"{S.window} requires {S.train_words}, {S.sampling('window')} or {S.negative_sharing('batch')}: "
                "otherwise there are no windows"
            )
        if not self.train_words:
            self.check_output_rows(
                f"without {S.train_words} this is its vector: set {S.train_words} or use another objective"
            )

    @property
    def in_groups(self) -> bool:
        """Whether groups of words learn in one step."""
        return self.objective == "negative-sampling"

    @property
    def can_freeze(self) -> bool:
        """Whether given word vectors can be kept constant."""
        return self.train_words

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim) and "documents" (documents or tags, dim).

        With `train_words` there are also those of the objective; without it "vectors" are its output vectors.
        """
        objective = self.new_objective(data.vocabulary)
        kernels = (learn_block, learn_both) if self.in_groups else (learn_words, learn_words_and_windows)
        return self.document_plan(
            data,
            objective,
            kernel=kernels[self.train_words],
            noise=objective.noise if self.train_words else self.document_noise(objective),
            word_table=self.word_table,
            cached_outputs=objective.cached_table,
        )

    def sample_stream(self, stream: TokenStream) -> TokenStream:
        """The stream with a random word of each window, if the settings say so."""
        if self.sampling == "all":
            return stream

        def new_sampled_block() -> Block:
            block = stream.make_block()
            return cast(Block, block._replace(inputs=np.zeros_like(block.words)))

        return replace(stream, make_block=new_sampled_block, fill_from=fill_sampled_block)

    @property
    def infer_kernel(self) -> Callable[..., None]:
        """The kernel that infers document vectors."""
        return infer if self.in_groups else infer_by_words

    @property
    def word_table(self) -> str:
        """The table of the vectors of words."""
        return "words" if self.train_words else "output"

    def word_tables(self, objective: Objective) -> dict[str, Table]:
        """The tables of words and the objective."""
        tables = super().word_tables(objective)
        if not self.train_words:
            del tables["words"]
            tables["output"] = replace(tables["output"], saved_as=VECTORS)
        return tables

    def new_operands(self, tables: Arrays, objective: Any, tags: TagRows) -> Operands:
        """What the kernels work on."""
        words, noise = tables[self.word_table], shared_noise_count(self.negatives)
        return Operands(tables["documents"], words, objective, noise, self.negatives, tags)

    def document_noise(self, objective: Objective) -> int:
        """Random words drawn for each word, which a group shares."""
        return shared_noise_count(self.negatives) if self.in_groups else objective.noise

    def new_buffers(self, targets: int, width: int, tags: int) -> StepBuffers:
        """Step buffers for words or groups of words, and with `train_words` for windows."""
        group_targets = GROUP_SIZE * (1 + shared_noise_count(self.negatives)) if self.in_groups else 1
        inputs = max(tags, 2 * self.window if self.train_words else 1)
        return new_step_buffers(inputs, max(group_targets, targets), width)
