"""Paragraph vectors, distributed bag of words (Le and Mikolov 2014): each tag of a document predicts its words.

A document of vector d predicts the words of the document (section 2.3 there). With the output vector o of a word,
y = 1, or of a negative sample, y = 0, and its weight w:

    g = rate * w * (y - sigmoid(d · o))    or the step of another objective
    o += g * d                             d += sum of g * o, of o before the step

Negative sampling learns from a group of words in one step, `WordGroups`; other objectives from one word after another,
`SingleWords`. If words learn too, skip-gram on the same words follows. Inference updates only d.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from embeddings.compilation.jit import as_helper, entry_point, implements, inline
from embeddings.errors import S
from embeddings.kernels.block import FIRST, LAST, Block, BlockSource, fill_block
from embeddings.kernels.document_kernels import SINGLE_ROWS, TagRows, gather_tags, learn_block, learn_documents
from embeddings.kernels.gradient_steps import learn, learn_input
from embeddings.kernels.random_numbers import random_bits, shared_noise_count, uniform_below
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import address, prefetch
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.models.table import VECTORS, Arrays, Table
from embeddings.objectives.objective import Objective, predict
from embeddings.plugins import skipgram
from embeddings.settings import option
from embeddings.training.document_trainer import DocumentTrainer
from embeddings.training.plan import Plan
from embeddings.training.stream import TokenStream
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData

GROUP_SIZE = 4  # words that learn in one step; with 3 negative samples each they fill one pass over a row with AVX-512
DEFAULT_WINDOW = next(field.default for field in fields(WindowTrainer) if field.name == "window")


class WordGroups(NamedTuple):
    """Vectors of documents and words (rows, padded dim), the objective, and the rows of documents with several tags.

    noise: negative samples of each word of a group, which stand for `negatives`. The objective is negative sampling.
    """

    documents: np.ndarray
    words: np.ndarray
    objective: Any
    noise: int = 0
    negatives: int = 0
    tags: TagRows = SINGLE_ROWS


class SingleWords(WordGroups):
    """Operands without `noise` and `negatives`: one word after another is predicted, by any objective."""


@entry_point
def learn_documents_and_words(block: Block, operands: Any, buffers: StepBuffers, rate: float) -> None:
    """A block of documents, then skip-gram on the same words."""
    learn_documents(operands, block, buffers, rate, False)
    words = skipgram.SkipGramOperands(operands.words, operands.objective)
    skipgram.learn_block(with_targets(block, block.words), words, buffers, rate)


@implements(SingleWords)
@inline
def learn_each_word(operands: SingleWords, block: Block, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """One step for each word, by any objective; if `frozen`, only document vectors are updated."""
    targets = with_targets(block, block.inputs)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_document(block, operands, buffers, i)
        if frozen:
            predict(operands.objective, targets, buffers, i, 1, rate, frozen=True)
        # The constant lets the compiler drop the loop over inputs; most documents have a single row.
        elif m == 1:
            predict(operands.objective, targets, buffers, i, 1, rate)
        else:
            predict(operands.objective, targets, buffers, i, m, rate)


@inline
def gather_document(block: Block, operands: Any, buffers: StepBuffers, i: int) -> int:
    """Make the rows of centre i's document the inputs of the next step; returns how many there are."""
    m = gather_tags(block, operands.documents, operands.tags, buffers.inputs, i, 0)
    for k in range(m):
        buffers.input_gradient_rows[k] = buffers.inputs[k]
    return m


@inline
def with_targets(block: Block, words: np.ndarray) -> Block:
    """The block with `words` in place of its own, both as inputs and as words to predict."""
    return Block(words, words, block.start, block.stop, block.noise, block.cursor, block.documents)


learn_tags = as_helper(learn)  # for several tags, apart from the faster code for a constant number of one


@implements(WordGroups)
@inline
def learn_groups(operands: WordGroups, block: Block, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """One step for each group of words; if `frozen`, only document vectors are updated, and documents have no tags."""
    output, last = operands.objective.output, block.cursor[LAST]
    i = block.cursor[FIRST]
    p = group_size(block, i, last)
    while p > 0:
        # Found one group ahead, so that its rows arrive while this group learns.
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


@inline
def group_size(block: Block, i: int, last: int) -> int:
    """How many words from centre i on form a group: up to `GROUP_SIZE` words of one document."""
    p = 0
    # A group must not cross documents: it has one input row.
    while p < GROUP_SIZE and i + p < last and block.documents[i + p] == block.documents[i]:
        p += 1
    return p


@inline
def gather_group_targets(block: Block, operands: WordGroups, buffers: StepBuffers, i: int, p: int) -> int:
    """Write rows and weights of p words from centre i on and of their negative samples; returns how many rows.

    Each pair of document and word needs `negatives` negative terms. So each of K negative samples shared by p words has
    the weight negatives * (p - occurrences of the sample among the p words) / K.
    """
    output, noise = operands.objective.output, operands.noise
    n, weight = p, buffers.weights.dtype.type(operands.negatives / (p * noise))
    for j in range(p):
        buffers.targets[j] = row_address(output, buffers.output_cache, block.inputs[i + j])
        buffers.weights[j] = 1
        for q in range(noise):
            word, others = block.noise[i + j, q], 0
            for r in range(p):
                # A sample that is one of the words counts only for the other words, as word2vec ignores a sample equal
                # to its word.
                others += block.inputs[i + r] != word
            buffers.targets[n] = row_address(output, buffers.output_cache, word)
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


fill = as_helper(fill_block)


@entry_point
def fill_sampled_block(block: Block, source: BlockSource, rng: np.ndarray) -> int:
    """`fill_block`, after which `inputs[i]` is a random word of the window of centre i, itself included."""
    read = fill(block, source, rng)
    first, last = block.cursor[FIRST], block.cursor[LAST]
    for i in range(first, last):
        # The window includes the centre, so every centre has a word to predict.
        offset = uniform_below(random_bits(rng[0], rng[1] + np.uint64(i - first)), block.stop[i] - block.start[i])
        block.inputs[i] = block.words[block.start[i] + offset]
    rng[1] += np.uint64(last - first)
    return read


@dataclass(frozen=True, kw_only=True)
class ParagraphDBOW(DocumentTrainer):
    """Paragraph vectors, distributed bag of words: a document predicts its words. Best for classification."""

    trainer_name = "paragraph-dbow"
    train_words: bool = option(
        False,
        "Also learn word vectors, by skip-gram on the same words; the window options apply to it. Otherwise the vector "
        "of a word is its output vector.",
        common=True,
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
        windows = f"{S.train_words(True)} or {S.sampling('window')}: otherwise there are no windows"
        self.require("shrink_window", self.shrink_window or has_windows, windows)
        is_used = has_windows or self.window == DEFAULT_WINDOW or self.negative_sharing == "batch"
        self.require("window", is_used, f"{S.negative_sharing('batch')}, {windows}")
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
        return self.document_plan(
            data,
            objective,
            kernel=learn_documents_and_words if self.train_words else learn_block,
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

    def new_operands(self, tables: Arrays, objective: Any, tags: TagRows) -> WordGroups:
        """The operands of one thread."""
        documents, words = tables["documents"], tables[self.word_table]
        if not self.in_groups:
            return SingleWords(documents, words, objective, tags=tags)
        return WordGroups(documents, words, objective, shared_noise_count(self.negatives), self.negatives, tags)

    def document_noise(self, objective: Objective) -> int:
        """Random words drawn for each word, which a group shares."""
        return shared_noise_count(self.negatives) if self.in_groups else objective.noise

    def new_buffers(self, targets: int, width: int, tags: int) -> StepBuffers:
        """Step buffers for words or groups of words, and with `train_words` for windows."""
        group_targets = GROUP_SIZE * (1 + shared_noise_count(self.negatives)) if self.in_groups else 1
        inputs = max(tags, 2 * self.window if self.train_words else 1)
        return new_step_buffers(inputs, max(group_targets, targets), width)
