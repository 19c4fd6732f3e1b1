"""Paragraph vectors, distributed memory (Le and Mikolov 2014): a document and a context window predict the centre."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from embeddings.corpora.documents import Documents
from embeddings.errors import CorpusError, SettingError
from embeddings.kernels.block import Block, BlockSource
from embeddings.kernels.hidden_layer import new_slot_buffers
from embeddings.kernels.infer_documents import Inference, infer_documents
from embeddings.kernels.jit import entry_point
from embeddings.kernels.noise_sampling import shared_noise_count
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.kernels.tag_rows import TagRows
from embeddings.kernels.window_batch import MAX_BATCH, new_window_buffers
from embeddings.models.parameters import Arrays
from embeddings.models.table import Table, uniform
from embeddings.objectives.objective import Objective
from embeddings.plugins.document_windows import COMBINATIONS, Operands, learn_combined, learn_window, learn_windows
from embeddings.settings import BATCH_WINDOWS, option
from embeddings.training.document_trainer import DocumentTrainer
from embeddings.training.plan import Kernel, Plan
from embeddings.training.training_data import TrainingData


@entry_point
def learn_block(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """The mean or sum of a document and its context words predicts the centre."""
    learn_combined(block, operands, buffers, rate, False)


@entry_point
def learn_concatenated(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """The same with the document and its context words concatenated."""
    learn_windows(block, operands, buffers, rate, False)


@entry_point
def learn_slots(block: Block, operands: Operands, buffers: StepBuffers, rate: float) -> None:
    """`learn_concatenated` window by window, for any objective."""
    learn_window(block, operands, buffers, rate, False)


@entry_point
def infer(
    vectors: np.ndarray, source: BlockSource, block: Block, operands: Operands, buffers: StepBuffers,
    inference: Inference, rng: np.ndarray,
) -> None:  # fmt: skip
    """Infer the vector of each line of a source into `vectors` (lines, dim), with word and output vectors frozen."""
    infer_documents(learn_combined, vectors, source, block, operands, buffers, inference, rng)


@entry_point
def infer_concatenated(
    vectors: np.ndarray, source: BlockSource, block: Block, operands: Operands, buffers: StepBuffers,
    inference: Inference, rng: np.ndarray,
) -> None:  # fmt: skip
    """The same with concatenation."""
    infer_documents(learn_windows, vectors, source, block, operands, buffers, inference, rng)


@entry_point
def infer_slots(
    vectors: np.ndarray, source: BlockSource, block: Block, operands: Operands, buffers: StepBuffers,
    inference: Inference, rng: np.ndarray,
) -> None:  # fmt: skip
    """`infer_concatenated` window by window, for any objective."""
    infer_documents(learn_window, vectors, source, block, operands, buffers, inference, rng)


@dataclass(frozen=True, kw_only=True)
class ParagraphDM(DocumentTrainer):
    """Paragraph vectors, distributed memory: a document and its context words together predict the centre."""

    trainer_name = "paragraph-dm"
    combines_tags = True
    combine: Literal["mean", "sum", "concat"] = option(
        "mean",
        "Combine the document and its contexts by their mean, their sum or concatenation. With concat, output vectors "
        "are 1 + 2 x window times as long, and a learned vector stands for empty positions.",
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
        "share it too (with concat, half as many with twice the weight); window: each window draws its own.  "
        "[default: batch for concat with both contexts, else window]",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tag_combination is not None and (self.tag_combination == "concat") != self.is_concatenated:
            raise SettingError(
                "tag_combination=concat and combine=concat require each other, "
                f"got tag_combination={self.tag_combination} and combine={self.combine}"
            )
        if self.tag_count > 1 and not self.is_concatenated:
            raise SettingError("tag_count requires combine=concat; mean and sum allow any number of tags")

    def check_documents(self, documents: Documents) -> None:
        """Refuse documents whose number of tags differs from that of concatenated ones."""
        if self.is_concatenated and documents.size:
            counts = documents.tag_counts
            first = int(np.argmax(counts != self.tag_count))
            if counts[first] != self.tag_count:
                raise CorpusError(
                    f"document {first} has {counts[first]} tags, expected tag_count={self.tag_count}: concatenation "
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
        is_stable = self.is_concatenated and self.context == "both"  # runs with past contexts have diverged in batches
        sharing = self.negative_sharing or ("batch" if is_stable else "window")
        return BATCH_WINDOWS if sharing == "batch" else 1

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
        return self.document_plan(
            data, objective, kernel=self.kernels[0], cached_inputs="words", cached_outputs=objective.cached_table
        )

    @property
    def kernels(self) -> tuple[Kernel, Callable[..., None]]:
        """The kernels that train and that infer."""
        if not self.is_concatenated:
            return learn_block, infer
        return (learn_concatenated, infer_concatenated) if self.in_batches else (learn_slots, infer_slots)

    @property
    def infer_kernel(self) -> Callable[..., None]:
        """The kernel that infers document vectors."""
        return self.kernels[1]

    def word_tables(self, objective: Objective) -> dict[str, Table]:
        """The tables of words, the objective and empty positions."""
        tables = super().word_tables(objective)
        if self.is_concatenated:
            tables["nothing"] = Table(rows=1, dim=self.dim, axis="other", init=uniform, seed=2**33, on_continue="copy")
        return tables

    def new_operands(self, tables: Arrays, objective: Any, tags: TagRows) -> Operands:
        """What the kernels work on."""
        documents, words, combine = tables["documents"], tables["words"], COMBINATIONS.index(self.combine)
        nothing, past_only = tables.get("nothing", words[:0]), self.context == "past"
        averages = self.tag_combination != "sum"
        return Operands(
            documents, words, nothing, objective, combine, self.batch, past_only, tags, self.tag_count, averages
        )

    def new_buffers(self, targets: int, width: int, tags: int) -> StepBuffers:
        """Step buffers for one window, or a batch of concatenated ones."""
        if self.in_batches:
            noise = shared_noise_count(self.negatives) if self.windows_per_draw > 1 else self.negatives
            return new_window_buffers(self.batch, noise, width, slots=self.slots, weight=self.negatives / noise)
        if self.is_concatenated:
            return new_slot_buffers(targets, self.slots, width)
        return new_step_buffers(1, targets, width, contexts=tags + 2 * self.window, rows=2)
