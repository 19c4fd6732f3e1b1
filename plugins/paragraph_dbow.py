"""Paragraph vectors, distributed bag of words (Le and Mikolov 2014): a document predicts each of its words."""

from dataclasses import dataclass, fields, replace
from typing import Literal, NamedTuple

import numpy as np

from embeddings.corpora.documents import corpus_documents
from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, Block, BlockSource
from embeddings.kernels.infer_documents import Inference, begin_document, next_document_block
from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.noise_sampling import shared_noise_count
from embeddings.kernels.row_cache import cached_row, flush
from embeddings.kernels.row_operations import address, padded, prefetch
from embeddings.kernels.step_buffers import StepBuffers, learn, learn_input, new_step_buffers, with_row_cache
from embeddings.models.model import Model
from embeddings.plugins import skipgram
from embeddings.settings import DocumentChoice, option
from embeddings.training.document_inference import DocumentInferencer, padded_rows, padded_table, recorded_settings
from embeddings.training.document_stream import document_windows, initial_document_table
from embeddings.training.parameters import VECTORS, Arrays, random_rows, unpad, zero_rows
from embeddings.training.task import Task, WindowTrainer

GROUP_SIZE = 4  # words that learn in one step; with 3 negative samples each they fill one pass over a row with AVX-512
DEFAULT_WINDOW = next(field.default for field in fields(WindowTrainer) if field.name == "window")


class Tables(NamedTuple):
    """Vectors of documents, and input and output vectors of words: (rows, padded dim) each.

    Each positive comes with `noise` negative samples, which stand for `negatives`. Without `train_words`, `words` is
    `output`.
    """

    documents: np.ndarray
    words: np.ndarray
    output: np.ndarray
    noise: int
    negatives: int


@entry_point
def learn_block(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """A document is the input, a group of its words the positives; the group shares its negative samples."""
    learn_groups(block, tables, buffers, rate, False)


@entry_point
def learn_both(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """The same, followed by skip-gram on the same words."""
    learn_groups(block, tables, buffers, rate, False)
    skipgram.learn_block(block, skipgram.Tables(tables.words, tables.output), buffers, rate)


@inline
def learn_groups(block: Block, tables: Tables, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """One step for each group of words; if `frozen`, only document vectors are updated."""
    width, last = tables.output.shape[1], block.cursor[LAST]
    i = block.cursor[FIRST]
    p = group_size(block, i, last)
    while p > 0:
        next_p = group_size(block, i + p, last)
        prefetch_group(block, tables, i + p, next_p)
        n = gather_group_targets(block, tables, buffers, i, p)
        buffers.inputs[0] = buffers.input_gradient_rows[0] = address(tables.documents, block.documents[i])
        if frozen:
            learn_input(buffers, p, n, width, rate)
        else:
            learn(buffers, 1, p, n, width, rate)
        i, p = i + p, next_p
    flush(tables.output, buffers.output_cache)


@inline
def group_size(block: Block, i: int, last: int) -> int:
    """How many words from centre i on form a group: up to `GROUP_SIZE` words of one document."""
    p = 0
    while p < GROUP_SIZE and i + p < last and block.documents[i + p] == block.documents[i]:
        p += 1
    return p


@inline
def gather_group_targets(block: Block, tables: Tables, buffers: StepBuffers, i: int, p: int) -> int:
    """Write rows and weights of p words from centre i on and of their negative samples; returns how many rows.

    Each pair of document and word needs `negatives` negative terms. So each of K negative samples shared by p words has
    the weight negatives * (p - occurrences of the sample among the p words) / K.
    """
    n, weight = p, buffers.weights.dtype.type(tables.negatives / (p * tables.noise))
    for j in range(p):
        buffers.targets[j] = cached_row(tables.output, buffers.output_cache, block.words[i + j])
        buffers.weights[j] = 1
        for q in range(tables.noise):
            word, others = block.noise[i + j, q], 0
            for r in range(p):
                others += block.words[i + r] != word
            buffers.targets[n] = cached_row(tables.output, buffers.output_cache, word)
            buffers.weights[n] = weight * others
            n += 1
    return n


@inline
def prefetch_group(block: Block, tables: Tables, i: int, p: int) -> None:
    """Prefetch the rows of p words from centre i on and of their negative samples."""
    size = tables.output.shape[1] * tables.output.itemsize
    for j in range(p):
        prefetch(address(tables.output, block.words[i + j]), size)
        for q in range(tables.noise):
            prefetch(address(tables.output, block.noise[i + j, q]), size)


@entry_point
def infer(
    vectors: np.ndarray, source: BlockSource, block: Block, tables: Tables, buffers: StepBuffers, inference: Inference,
    rng: np.ndarray,
) -> None:  # fmt: skip
    """Infer the vector of each line of a source into `vectors` (lines, dim), with word and output vectors frozen."""
    for document in range(vectors.shape[0]):
        rate = begin_document(tables.documents, document, source, block, inference, rng)
        while rate >= 0:
            learn_groups(block, tables, buffers, rate, True)
            rate = next_document_block(source, block, inference, rng)
        for component in range(vectors.shape[1]):
            vectors[document, component] = tables.documents[0, component]


@dataclass(frozen=True, kw_only=True)
class ParagraphDBOW(DocumentChoice, WindowTrainer):
    """Paragraph vectors, distributed bag of words: a document predicts its words. Best for classification."""

    trainer_name = "paragraph-dbow"
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.shrink_window or self.train_words):
            raise SettingError("shrink_window=False requires train_words: without it there are no windows")
        if self.window != DEFAULT_WINDOW and not self.train_words and self.negative_sharing == "window":
            raise SettingError("window requires train_words or negative_sharing=batch: otherwise there are no windows")

    @property
    def noise(self) -> int:
        """Negative samples drawn for each word."""
        return shared_noise_count(self.negatives)

    @property
    def word_rows(self) -> str:
        """The kind of rows in the table of words."""
        return "vectors" if self.train_words else "outputs"

    def train_task(self, task: Task) -> Model:
        """Train a model with the tables "vectors" (vocabulary, dim) and "documents" (documents or tags, dim).

        With `train_words` there is also "output" (vocabulary, dim); without it "vectors" are the output vectors.
        """
        documents = corpus_documents(task.encoded, self.documents)
        task, table = replace(task, tags=documents.tags), initial_document_table(task, documents)
        output = zero_rows(len(task.vocabulary), self.dim)
        words = random_rows(len(output), self.dim, task.seed) if self.train_words else output
        noise = self.negatives if self.train_words else self.noise
        return task.run(
            learn_both if self.train_words else learn_block,
            Tables(table, words, output, self.noise, self.negatives),
            lambda: with_row_cache(self.new_buffers(), task.threads, outputs=output),
            stream=document_windows(task, documents, noise=noise, shrink=self.shrink_window),
            final_tables=self.final_tables,
        )

    def new_buffers(self) -> StepBuffers:
        """Step buffers for groups of words, and with `train_words` for windows."""
        targets = max(GROUP_SIZE * (1 + self.noise), 1 + self.negatives)
        return new_step_buffers(2 * self.window if self.train_words else 1, targets, padded(self.dim))

    def final_tables(self, tables: Tables) -> Arrays:
        """The tables to save."""
        arrays = {VECTORS: unpad(tables.words, self.dim), "documents": unpad(tables.documents, self.dim)}
        return arrays | ({"output": unpad(tables.output, self.dim)} if self.train_words else {})

    @staticmethod
    def inferencer(model: Model) -> DocumentInferencer:
        """The inferencer of a trained model."""
        settings: ParagraphDBOW = recorded_settings(ParagraphDBOW, model)
        output = model.vectors.matrix
        rows = padded_table(model, "output", output.shape) if settings.train_words else padded_rows(output)
        return DocumentInferencer(
            model,
            settings,
            kernel=infer,
            tables=lambda row: Tables(row, rows, rows, settings.noise, settings.negatives),
            shrink=settings.shrink_window,
        )
