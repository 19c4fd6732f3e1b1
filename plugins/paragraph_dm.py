"""Paragraph vectors, distributed memory (Le and Mikolov 2014): a document and a context window predict the centre."""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from embeddings.corpora.documents import corpus_documents
from embeddings.kernels.block import FIRST, LAST, Block, BlockSource
from embeddings.kernels.hidden_layer import backprop_to_contexts, backprop_to_document, combine_contexts
from embeddings.kernels.infer_documents import Inference, begin_document, next_document_block
from embeddings.kernels.jit import entry_point, inline
from embeddings.kernels.noise_sampling import shared_noise_count
from embeddings.kernels.row_cache import flush
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.step_buffers import StepBuffers, learn, learn_input, new_step_buffers, with_row_cache
from embeddings.kernels.window import gather_contexts, gather_slots, gather_targets, prefetch_context, prefetch_next
from embeddings.kernels.window_batch import (
    MAX_BATCH,
    backprop_to_first_rows,
    compute_batch_steps,
    learn_batch,
    new_window_buffers,
    select_batch,
)
from embeddings.models.model import Model
from embeddings.settings import BATCH_WINDOWS, DocumentChoice, option
from embeddings.training.document_inference import DocumentInferencer, padded_rows, padded_table, recorded_settings
from embeddings.training.document_stream import document_windows, initial_document_table
from embeddings.training.parameters import VECTORS, Arrays, random_rows, unpad, zero_rows
from embeddings.training.task import Task, WindowTrainer

COMBINATIONS = ("mean", "sum", "concat")
MEAN, SUM, CONCAT = range(3)  # of `Tables.combine`


class Tables(NamedTuple):
    """Vectors of documents and words (rows, padded dim), and output vectors (vocabulary, slots * padded dim).

    There is one slot, or with CONCAT 1 + 2 window: one for the document and one for each context position. Then the
    last row of `words` stands for empty positions, and windows learn in batches of `batch`.
    """

    documents: np.ndarray
    words: np.ndarray
    output: np.ndarray
    combine: int
    batch: int


@entry_point
def learn_block(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """The mean or sum of a document and its context words is the input, the centre the positive."""
    learn_combined(block, tables, buffers, rate, False)


@entry_point
def learn_concatenated(block: Block, tables: Tables, buffers: StepBuffers, rate: float) -> None:
    """The same with the document and its context words concatenated."""
    learn_side_by_side(block, tables, buffers, rate, False)


@inline
def learn_combined(block: Block, tables: Tables, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """CBOW with the document as one more context; if `frozen`, only document vectors are updated."""
    width, negatives, last = tables.words.shape[1], block.noise.shape[1], block.cursor[LAST]
    for i in range(block.cursor[FIRST], last):
        prefetch_next(block, tables.words, buffers.input_cache, tables.output, negatives, i, last)
        m = gather_contexts(block, tables.words, buffers.input_cache, buffers.contexts, i)
        buffers.contexts[m] = address(tables.documents, block.documents[i])
        m += 1
        combine_contexts(buffers, m, width, 1 / m if tables.combine == MEAN else 1.0)
        n = gather_targets(block, tables.output, buffers, i, negatives)
        if frozen:
            learn_input(buffers, 1, n, width, rate)
            backprop_to_document(buffers, m, width)
        else:
            learn(buffers, 1, 1, n, width, rate)
            backprop_to_contexts(buffers, m, width, 1.0)
    flush(tables.words, buffers.input_cache)
    flush(tables.output, buffers.output_cache)


@inline
def learn_side_by_side(block: Block, tables: Tables, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """Batches of concatenated windows; if `frozen`, only document vectors are updated."""
    width, window = tables.words.shape[1], tables.output.shape[1] // tables.words.shape[1] // 2
    slots = 1 + 2 * window
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = select_batch(block, buffers, i, slots, tables.batch, True)
        for k in range(m):
            gather_window(block, tables, buffers, k, window)
        if m > 0 and frozen:
            compute_batch_steps(block, tables.output, buffers, m, slots, rate)
            backprop_to_first_rows(buffers, m, block.noise.shape[1], slots, width)
        elif m > 0:
            learn_batch(block, tables.output, buffers, m, slots, rate)
    flush(tables.words, buffers.input_cache)
    flush(tables.output, buffers.output_cache)


@inline
def gather_window(block: Block, tables: Tables, buffers: StepBuffers, k: int, window: int) -> None:
    """Write the rows of the k-th centre's document and contexts into `inputs`, by position."""
    i, first = buffers.centres[k], k * (1 + 2 * window)
    empty = address(tables.words, tables.words.shape[0] - 1)
    buffers.inputs[first] = address(tables.documents, block.documents[i])
    gather_slots(block, tables.words, buffers, i, window, first + 1, empty)
    prefetch_context(block, tables.words, buffers.input_cache, i, block.cursor[LAST])


@entry_point
def infer(
    vectors: np.ndarray, source: BlockSource, block: Block, tables: Tables, buffers: StepBuffers, inference: Inference,
    rng: np.ndarray,
) -> None:  # fmt: skip
    """Infer the vector of each line of a source into `vectors` (lines, dim), with word and output vectors frozen."""
    for document in range(vectors.shape[0]):
        rate = begin_document(tables.documents, document, source, block, inference, rng)
        while rate >= 0:
            if tables.combine == CONCAT:
                learn_side_by_side(block, tables, buffers, rate, True)
            else:
                learn_combined(block, tables, buffers, rate, True)
            rate = next_document_block(source, block, inference, rng)
        for component in range(vectors.shape[1]):
            vectors[document, component] = tables.documents[0, component]


@dataclass(frozen=True, kw_only=True)
class ParagraphDM(DocumentChoice, WindowTrainer):
    """Paragraph vectors, distributed memory: a document and its context words together predict the centre."""

    trainer_name = "paragraph-dm"
    learning_rate: float = option(0.05, "Initial learning rate; it decays linearly over all epochs.", gt=0, le=100)
    combine: Literal["mean", "sum", "concat"] = option(
        "mean",
        "Combine the document and its contexts by their mean, their sum or concatenation. With concat, output vectors "
        "are 1 + 2 x window times as long, and a learned vector stands for empty positions.",
    )
    shrink_window: bool | None = option(  # type: ignore[assignment]  # wider, but frozen
        None,
        "Draw each window's size uniformly from 1 to --window, which gives near words more weight, or always use the "
        "full window.  [default: shrink for mean and sum, fixed for concat]",
        flags="--shrink-window/--fixed-window",
    )
    negative_sharing: Literal["batch", "window"] | None = option(  # type: ignore[assignment]  # wider, but frozen
        None,
        "All contexts in a window share one set of negative samples. batch: 8 windows that have no word in common "
        "share it too (with concat, half as many with twice the weight); window: each window draws its own.  "
        "[default: window for mean and sum, batch for concat]",
    )

    @property
    def is_concatenated(self) -> bool:
        """Whether rows are concatenated."""
        return self.combine == "concat"

    @property
    def shrinks_window(self) -> bool:
        """Whether window sizes are drawn."""
        return not self.is_concatenated if self.shrink_window is None else self.shrink_window

    @property
    def windows_per_draw(self) -> int:
        """How many windows share one set of negative samples."""
        sharing = self.negative_sharing or ("batch" if self.is_concatenated else "window")
        return BATCH_WINDOWS if sharing == "batch" else 1

    @property
    def batch(self) -> int:
        """How many concatenated windows learn in one step."""
        return min(self.windows_per_draw, MAX_BATCH)

    @property
    def noise(self) -> int:
        """Negative samples drawn for each window."""
        is_shared = self.is_concatenated and self.windows_per_draw > 1
        return shared_noise_count(self.negatives) if is_shared else self.negatives

    @property
    def slots(self) -> int:
        """How many rows are concatenated."""
        return 1 + 2 * self.window if self.is_concatenated else 1

    def train_task(self, task: Task) -> Model:
        """Train a model with the tables "vectors" and "output" (vocabulary, dim) and "documents" (documents, dim).

        Documents with tags have a row per tag. With concat "output" is (vocabulary, 1 + 2 x window, dim), and there is
        "nothing" (1, dim), the vector of empty positions.
        """
        documents = corpus_documents(task.encoded, self.documents)
        task, size, slots = replace(task, tags=documents.tags), len(task.vocabulary), self.slots
        tables = Tables(
            initial_document_table(task, documents),
            random_rows(size + self.is_concatenated, self.dim, task.seed),
            zero_rows(size * slots, self.dim).reshape(size, -1),
            COMBINATIONS.index(self.combine),
            self.batch,
        )
        return task.run(
            learn_concatenated if self.is_concatenated else learn_block,
            tables,
            lambda: with_row_cache(self.new_buffers(), task.threads, inputs=tables.words, outputs=tables.output),
            stream=document_windows(task, documents, noise=self.noise, shrink=self.shrinks_window),
            final_tables=lambda tables: self.final_tables(tables, size),
        )

    def new_buffers(self) -> StepBuffers:
        """Step buffers for one window, or a batch of concatenated ones."""
        width = padded(self.dim)
        if self.is_concatenated:
            weight = self.negatives / self.noise
            return new_window_buffers(self.batch, self.noise, width, slots=self.slots, weight=weight)
        return new_step_buffers(1, 1 + self.negatives, width, contexts=1 + 2 * self.window, rows=2)

    def final_tables(self, tables: Tables, size: int) -> Arrays:
        """The tables to save."""
        words, output = unpad(tables.words, self.dim), unpad(tables.output, self.dim, self.slots)
        arrays = {VECTORS: words[:size], "documents": unpad(tables.documents, self.dim), "output": output}
        return arrays | ({"nothing": words[size:]} if self.is_concatenated else {})

    @staticmethod
    def inferencer(model: Model) -> DocumentInferencer:
        """The inferencer of a trained model."""
        settings: ParagraphDM = recorded_settings(ParagraphDM, model)
        words, dim, slots = model.vectors.matrix, settings.dim, settings.slots
        output = padded_table(model, "output", (len(words), slots, dim) if slots > 1 else (len(words), dim))
        if settings.is_concatenated:
            nothing = padded_table(model, "nothing", (1, dim))
            words = np.concatenate([words, nothing[:, :dim]])
        rows, output = padded_rows(words), output.reshape(len(model.vectors.matrix), -1)
        combine = COMBINATIONS.index(settings.combine)
        return DocumentInferencer(
            model,
            settings,
            kernel=infer,
            tables=lambda row: Tables(row, rows, output, combine, settings.batch),
            shrink=settings.shrinks_window,
        )
