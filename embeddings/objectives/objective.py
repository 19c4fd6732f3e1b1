"""The base classes of objectives, and the compiled call by which a model's kernel predicts a word.

A kernel writes input rows into its step buffers and calls `predict`. The type of the operand, a NamedTuple of the
objective's tables, decides which implementation is compiled into the kernel.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from embeddings.compilation.jit import dispatched, inline_source
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import DeclarationError
from embeddings.kernels.block import Block
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import ONLY_SLOT, OutputSlot
from embeddings.models.table import Arrays, Axis, Initializer, Table
from embeddings.settings import ObjectiveChoice, WeightTying


@dataclass(frozen=True)
class Objective(ABC):
    """How the words of a vocabulary are predicted from hidden rows.

    Arguments:
        settings: the trainer, whose settings choose the objective.
        dim: numbers in a hidden row; `slots` > 1 gives each word an output row for each slot.
        is_concatenated: a hidden row consists of `slots` rows of `dim` numbers, padded separately.
    """

    settings: ObjectiveChoice
    vocabulary: Vocabulary
    dim: int
    slots: int = 1
    is_concatenated: bool = False

    has_probabilities: ClassVar[bool] = True  # of words
    estimates_loss: ClassVar[bool] = False  # whether the loss in training is an estimate of that of all words

    def __post_init__(self) -> None:
        if self.slots > 1 and self.output_name != "output":
            raise DeclarationError(f"weight tying requires one output row for each word, got {self.slots} slots")

    @property
    def output_name(self) -> str:
        """The table of output vectors of words: with weight tying, that of their input vectors."""
        return "words" if isinstance(self.settings, WeightTying) and self.settings.tie else "output"

    @property
    def cached_table(self) -> str | None:
        """The table whose first rows are the most frequently used, if there is one."""
        return self.output_name

    @property
    def hidden_dim(self) -> int:
        """Numbers in a hidden row."""
        return self.dim * (self.slots if self.is_concatenated else 1)

    @property
    def noise(self) -> int:
        """Random words drawn for each word to predict."""
        return 0

    @property
    @abstractmethod
    def max_targets(self) -> int:
        """The largest number of target rows in a step."""

    @property
    def noise_weights(self) -> np.ndarray:
        """The distribution of random words, not normalised, float64 (vocabulary,)."""
        return self.vocabulary.noise_weights(self.settings.noise_exponent)

    def tables(self) -> dict[str, Table]:
        """Tables that the objective adds to the tables of the model, by name.

        By default the output vectors, zeros with a row for each word and slot; none with weight tying.
        """
        return {"output": self.table(len(self.vocabulary), "words")} if self.output_name == "output" else {}

    @abstractmethod
    def operand(self, arrays: Arrays) -> Any:
        """The operand of one thread for `predict`: a NamedTuple of tables and scratch memory, made from all arrays."""

    def log_probabilities(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int = 0
    ) -> np.ndarray | None:
        """The natural logarithm of each word's probability, float64 (n, vocabulary); None if it is not defined.

        Arguments:
            hidden: float64 (n, dim), or (n, slots * dim) if concatenated.
            tables: the tables of a saved model; float64, so that the result is exact.
        """
        return None

    def word_log_probabilities(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """The logarithm of the probability of one word for each example, float64 (examples,), scoring no other words.

        Arguments:
            rows: (examples,) the hidden row of each, in rising order.
            words: (examples,) the word.

        Raises:
            NotImplementedError: the probabilities are not defined.
        """
        raise NotImplementedError

    def losses(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """The loss of each example, float64 (examples,): -log P, or what an objective without P defines."""
        return -self.word_log_probabilities(hidden, tables, rows, words, slot)

    def table(self, rows: int, axis: Axis = "other", init: Initializer | None = None, **changes: Any) -> Table:
        """A table, by default of zeros, with `rows` rows as long as a hidden row, or as many for each slot."""
        shape = {"rows": rows, "dim": self.dim, "slots": self.slots, "is_concatenated": self.is_concatenated}
        return Table(**{**shape, "axis": axis, "init": init, **changes})

    def slot_rows(self, table: np.ndarray, slot: int) -> np.ndarray:
        """The rows of a saved table that are multiplied with hidden rows, (rows, length of a hidden row)."""
        if self.is_concatenated:
            return table.reshape(len(table), -1)
        return table if self.slots == 1 else table[:, slot]

    def scores(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], name: str, slot: int) -> np.ndarray:
        """The products of hidden rows with the rows of a saved table, (n, rows)."""
        products: np.ndarray = hidden @ self.slot_rows(tables[name], slot).T
        return products


class SampledObjective(Objective):
    """Base of objectives that compare a word with random ones, which estimates a comparison with all words."""

    estimates_loss = True

    @property
    def noise(self) -> int:
        """Random words drawn for each word to predict."""
        return self.settings.negatives

    @property
    def max_targets(self) -> int:
        """The largest number of target rows in a step."""
        return 1 + self.settings.negatives


@dispatched
def run_step(
    operand: Any, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot, first: int,
    frozen: bool,
) -> None:  # fmt: skip
    """The step of an objective; `embeddings.compilation.jit.implements` registers an implementation for its operand.

    Inputs 0 to m of the buffers predict word i of the block. The `slot` tells which output rows of words are used.
    Its random words are `block.noise[i, first:]`. If `frozen`, there is one input, and only this one is updated.
    """


@inline_source
def predict(
    operand: Any, block: Block, buffers: StepBuffers, i: int, m: int, rate: float, slot: OutputSlot = ONLY_SLOT,
    first: int = 0, frozen: bool = False,
) -> None:  # fmt: skip
    """Let m inputs predict word i of the block; see `run_step` for other arguments."""
    run_step(operand, block, buffers, i, m, rate, slot, first, frozen)


MAX_SCORES = 2**22  # that are computed at a time


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax of each row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    logarithms: np.ndarray = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logarithms


def log_softmax_items(
    scores: Callable[[slice], np.ndarray], width: int, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Items of `log_softmax(S)`, float64 (items,), of a matrix S that is computed a few rows at a time.

    Arguments:
        scores: returns some rows of S, which are overwritten.
        width: numbers in a row of S.
        rows: (items,) the row of each item, in rising order.
        columns: (items,) the column.
    """
    items, size = np.empty(len(rows)), max(MAX_SCORES // width, 1)
    for start in range(0, int(rows[-1]) + 1 if len(rows) else 0, size):
        part = slice(*np.searchsorted(rows, [start, start + size]))
        block, own = scores(slice(start, start + size)), rows[part] - start
        block -= block.max(axis=1, keepdims=True)
        items[part] = block[own, columns[part]]
        items[part] -= np.log(np.exp(block, out=block).sum(axis=1))[own]
    return items


def log_softmax_of_rows(hidden: np.ndarray, table: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """`log_softmax_items` of the products of hidden rows, only those that `rows` names, with all rows of a table."""
    used, numbers = np.unique(rows, return_inverse=True)
    return log_softmax_items(lambda part: hidden[used[part]] @ table.T, len(table), numbers, columns)


class SoftmaxObjective(Objective):
    """Base of objectives whose probabilities are the softmax of the scores of all words."""

    def word_scores(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int) -> np.ndarray:
        """The scores of all words, (n, vocabulary)."""
        return self.scores(hidden, tables, "output", slot)

    def log_probabilities(self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], slot: int = 0) -> np.ndarray:
        """The logarithm of the softmax of the scores: normalised exactly, even if it is not in training."""
        return log_softmax(self.word_scores(hidden, tables, slot))

    def word_log_probabilities(
        self, hidden: np.ndarray, tables: Mapping[str, np.ndarray], rows: np.ndarray, words: np.ndarray, slot: int = 0
    ) -> np.ndarray:
        """See `Objective`."""
        return log_softmax_items(
            lambda part: self.word_scores(hidden[part], tables, slot), len(self.vocabulary), rows, words
        )
