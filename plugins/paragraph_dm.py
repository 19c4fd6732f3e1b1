"""Paragraph vectors, distributed memory (Le and Mikolov 2014): a document and a context window predict the centre.

The hidden row h of equation 1 there combines the vector d of the document and those of the m context words, v_1 to v_m.
With the output vector o of the centre, y = 1, or of a negative sample, y = 0:

    h = (d + v_1 + ... + v_m) / (m + 1)    or the sum, which is not divided
    h = (d, v_1, ..., v_n)                 or the concatenation, as in their best results
    g = rate * (y - sigmoid(h · o))        or the step of another objective
    o += g * h                             d += e    v_c += e    e = sum of g * o, of o before the step

Each row of the mean gets the whole gradient e, as in word2vec. The rows of a concatenation are in the order of
positions, and the learned vector "nothing" stands where a window has no word; each gets its own part of e. There,
negative sampling learns from a batch of windows that share negative samples in one step, `ConcatenatedBatches`; other
objectives from one window after another, `ConcatenatedWindows`. Inference updates only d.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.corpora.documents import Documents
from embeddings.errors import CorpusError, S
from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.document_kernels import SINGLE_ROWS, TagRows, gather_tags
from embeddings.kernels.random_numbers import shared_noise_count
from embeddings.kernels.row_cache import row_address
from embeddings.kernels.row_operations import address, sum_rows
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.window import (
    backprop_to_contexts,
    backprop_to_document,
    backprop_to_slots,
    combine_contexts,
    concatenate_contexts,
    cut_right_contexts,
    gather_contexts,
    gather_slots,
    new_slot_buffers,
    prefetch_context,
)
from embeddings.kernels.window_batch import (
    MAX_BATCH,
    backprop_to_first_rows,
    compute_batch_steps,
    learn_batch,
    new_window_buffers,
    select_batch,
)
from embeddings.models.table import Arrays, Table, uniform
from embeddings.objectives.objective import Objective, predict
from embeddings.settings import BATCH_WINDOWS, option
from embeddings.training.document_trainer import DocumentTrainer
from embeddings.training.plan import Plan
from embeddings.training.training_data import TrainingData


class CombinedContexts(NamedTuple):
    """Vectors of documents and words (rows, padded dim), the objective, and how rows are combined.

    is_mean: whether the hidden row is the mean or the sum.
    past_only: whether the context is only the words before the centre.
    tags: the rows of documents with several tags.
    averages_tags: whether the rows of a document count as one, their mean, or as one each.
    """

    documents: np.ndarray
    words: np.ndarray
    objective: Any
    is_mean: bool
    past_only: bool = False
    tags: TagRows = SINGLE_ROWS
    averages_tags: bool = True


@implements(CombinedContexts)
@inline
def learn_combined(operands: CombinedContexts, block: Block, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """CBOW with the document's rows as more contexts; if `frozen`, only the first row of the document is updated."""
    width = operands.words.shape[1]
    if operands.past_only:
        cut_right_contexts(block)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = gather_contexts(block, operands.words, buffers, i)
        t = gather_tags(block, operands.documents, operands.tags, buffers.contexts, i, m)
        # Several tags count as one context together, so that documents with many tags do not drown out their words.
        if operands.averages_tags and t > 1:
            factor = 1 / (m + 1) if operands.is_mean else 1.0
            combine_contexts(buffers, m, width, factor)
            buffers.factor[0] = factor / t
            sum_rows(buffers.factor, buffers.inputs[0], buffers.contexts[m:], t, width)
        else:
            combine_contexts(buffers, m + t, width, 1 / (m + t) if operands.is_mean else 1.0)
        # Words and output rows stay as they are: only the vector of the new document is looked for.
        if frozen:
            predict(operands.objective, block, buffers, i, 1, rate, frozen=True)
            backprop_to_document(buffers, m + 1, width)
        else:
            predict(operands.objective, block, buffers, i, 1, rate)
            backprop_to_contexts(buffers, m + t, width, 1.0)


class ConcatenatedBatches(NamedTuple):
    """Vectors of documents, words and empty positions, (rows, padded dim), and the objective.

    nothing: (1, padded dim).
    batch: how many windows learn in one step.
    past_only: whether the context is only the words before the centre.
    tags: the rows of documents with several tags.
    window: how many words the context has on each side.
    """

    documents: np.ndarray
    words: np.ndarray
    nothing: np.ndarray
    objective: Any
    window: int
    batch: int = 1
    past_only: bool = False
    tags: TagRows = SINGLE_ROWS


class ConcatenatedWindows(ConcatenatedBatches):
    """Operands with which one window learns after another, by any objective."""


@implements(ConcatenatedWindows)
@inline
def learn_window(operands: ConcatenatedWindows, block: Block, buffers: StepBuffers, rate: float, frozen: bool) -> None:
    """One step for each window, by any objective; if `frozen`, only document vectors are updated."""
    slots, width = buffers.contexts.shape[0], operands.words.shape[1]
    if operands.past_only:
        cut_right_contexts(block)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        gather_window(operands, block, buffers, buffers.contexts, i, 0)
        concatenate_contexts(buffers, slots, width)
        if frozen:
            predict(operands.objective, block, buffers, i, 1, rate, frozen=True)
        else:
            predict(operands.objective, block, buffers, i, 1, rate)
        # The document is in the first slot.
        backprop_to_slots(buffers, 1 if frozen else slots, width)


@implements(ConcatenatedBatches)
@inline
def learn_window_batches(
    operands: ConcatenatedBatches, block: Block, buffers: StepBuffers, rate: float, frozen: bool
) -> None:
    """One step for each batch of windows, by negative sampling; if `frozen`, only document vectors are updated."""
    output, width = operands.objective.output, operands.words.shape[1]
    slots = output.shape[1] // width
    if operands.past_only:
        cut_right_contexts(block)
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        m = select_batch(block, buffers, i, 2 * operands.window + 1, operands.batch, True)
        for k in range(m):
            gather_window(operands, block, buffers, buffers.inputs, buffers.centres[k], k * slots)
        if m > 0 and frozen:
            compute_batch_steps(block, output, buffers, m, slots, rate)
            backprop_to_first_rows(buffers, m, block.noise.shape[1], slots, width)
        elif m > 0:
            learn_batch(block, output, buffers, m, slots, rate)


@inline
def gather_window(operands: Any, block: Block, buffers: StepBuffers, rows: np.ndarray, i: int, first: int) -> None:
    """Write the rows of centre i's document and contexts into `rows`, by position, from slot `first` on."""
    window, empty = operands.window, address(operands.nothing, 0)
    first += gather_tags(block, operands.documents, operands.tags, rows, i, first)
    if not operands.past_only:
        gather_slots(block, operands.words, buffers, rows, i, window, first, empty)
        return
    # Left contexts only, aligned to the right: the word before the centre is always in the last slot.
    for slot in range(window):
        c = i - window + slot
        is_empty = c < block.start[i]
        rows[first + slot] = empty if is_empty else row_address(operands.words, buffers.input_cache, block.inputs[c])
    prefetch_context(block, operands.words, buffers.input_cache, i)


@dataclass(frozen=True, kw_only=True)
class ParagraphDM(DocumentTrainer):
    """Paragraph vectors, distributed memory: a document and its context words together predict the centre."""

    trainer_name = "paragraph-dm"
    combines_tags = True
    combine: Literal["mean", "sum", "concat"] = option(
        "mean",
        "Combine the document and its contexts by their mean, their sum or concatenation. With concat, output vectors "
        "are 1 + 2 x window times as long, and a learned vector stands for empty positions.",
        common=True,
    )
    tag_combination: Literal["mean", "sum", "concat"] | None = option(
        None,
        "Combine the vectors of several tags of a document. mean: they count as one row, their mean; sum: as one row "
        "each; concat: as one position each, in their order.  [default: concat with --combine concat, else mean]",
    )
    tag_count: int = option(1, "With --combine concat, the number of tags that each document has.", ge=1, le=1000)
    context: Literal["both", "past"] = option(
        "both",
        "Which words are the context of a word. both: those on both sides; past: only those before it, so that each "
        "window predicts its last word, as published. With concat, output vectors are then 1 + window times as long.",
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
        "share it too (with concat, half as many with twice the weight, which is faster but can diverge); window: each "
        "window draws its own.  [default: window]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.tag_combination is None or (self.tag_combination == "concat") == self.is_concatenated
        both = f"{S.tag_combination('concat')} and {S.combine('concat')} together, got {S.combine(self.combine)}"
        self.require("tag_combination", fits, both)
        self.require("tag_count", self.tag_count == 1 or self.is_concatenated, S.combine("concat"))

    def check_documents(self, documents: Documents) -> None:
        """Refuse documents whose number of tags differs from that of concatenated ones."""
        if self.is_concatenated and documents.size:
            counts = documents.tag_counts
            first = int(np.argmax(counts != self.tag_count))
            if counts[first] != self.tag_count:
                raise CorpusError(
                    f"document {first} has {counts[first]} tags, expected {S.tag_count(self.tag_count)}: concatenation "
                    "requires the same number of different tags of each document"
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
        return BATCH_WINDOWS if self.negative_sharing == "batch" else 1

    @property
    def batch(self) -> int:
        """How many concatenated windows learn in one step."""
        return min(self.windows_per_draw, MAX_BATCH)

    @property
    def in_batches(self) -> bool:
        """Whether batches of concatenated windows learn in one step."""
        return self.is_concatenated and self.objective == "negative-sampling"

    def document_noise(self, objective: Objective) -> int:
        """Random words drawn for each window."""
        is_shared = self.in_batches and self.windows_per_draw > 1
        return shared_noise_count(self.negatives) if is_shared else objective.noise

    @property
    def slots(self) -> int:
        """How many rows are concatenated."""
        sides = 1 if self.context == "past" else 2
        return self.tag_count + sides * self.window if self.is_concatenated else 1

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" (vocabulary, dim), "documents" (documents, dim) and those of the objective.

        Documents with tags have a row per tag. With concat, rows of the objective's tables have `slots` x dim numbers,
        and there is "nothing" (1, dim), the vector of empty positions.
        """
        objective = self.new_objective(data.vocabulary)
        return self.document_plan(data, objective, cached_inputs="words", cached_outputs=objective.cached_table)

    def word_tables(self, objective: Objective) -> dict[str, Table]:
        """The tables of words, the objective and empty positions."""
        tables = super().word_tables(objective)
        if self.is_concatenated:
            tables["nothing"] = Table(rows=1, dim=self.dim, axis="other", init=uniform, seed=2**33, on_continue="copy")
        return tables

    def new_operands(self, tables: Arrays, objective: Any, tags: TagRows) -> Any:
        """The operands of one thread."""
        documents, words, past_only = tables["documents"], tables["words"], self.context == "past"
        if not self.is_concatenated:
            averages = self.tag_combination != "sum"
            return CombinedContexts(documents, words, objective, self.combine == "mean", past_only, tags, averages)
        kind, rows = (
            ConcatenatedBatches if self.in_batches else ConcatenatedWindows,
            (documents, words, tables["nothing"]),
        )
        return kind(*rows, objective, self.window, self.batch, past_only, tags)

    def new_buffers(self, targets: int, width: int, tags: int) -> StepBuffers:
        """Step buffers for one window, or a batch of concatenated ones."""
        if self.in_batches:
            noise = shared_noise_count(self.negatives) if self.windows_per_draw > 1 else self.negatives
            return new_window_buffers(self.batch, noise, width, slots=self.slots, weight=self.negatives / noise)
        if self.is_concatenated:
            return new_slot_buffers(targets, self.slots, width)
        return new_step_buffers(1, targets, width, contexts=tags + 2 * self.window, rows=2)
