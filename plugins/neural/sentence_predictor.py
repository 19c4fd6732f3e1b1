"""Probabilities of the words of new text by a trained recurrent network, in numpy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from embeddings.models.model import Model
from embeddings.models.table import Table
from embeddings.objectives.objective import Objective
from embeddings.plugins.neural.sentence_batches import Ids
from embeddings.training.saved_tables import saved_table

GROUP_WORDS = 20_000  # whose hidden rows are computed at a time


@dataclass(frozen=True)
class SentencePredictor:
    """Predicts each word of a sentence from the words around it that the network reads.

    Arguments:
        tables: those of the objective, float64.
        encode: returns, for sentences as rows of the vocabulary, the hidden rows that predict each of their words.
        max_length: words of a sentence; longer lines are cut, as in training.
    """

    objective: Objective
    tables: Mapping[str, np.ndarray]
    encode: Callable[[Sequence[Ids]], list[np.ndarray]]
    max_length: int
    hidden_dim: ClassVar[int] = 0  # no mean of word vectors is a hidden row

    @property
    def has_probabilities(self) -> bool:
        """Whether words have probabilities, whose negative logarithms are losses."""
        return self.objective.has_probabilities

    def total_loss(self, ids: Ids, lines: Ids) -> tuple[float, int]:
        """The sum of the losses of all words of a text, given as rows of the vocabulary, and their number."""
        loss = 0.0
        for sentences in sentence_groups(ids, lines, self.max_length):
            hidden = np.concatenate(self.encode(sentences)).astype(np.float64)
            words = np.concatenate(sentences)
            loss += float(self.objective.losses(hidden, self.tables, np.arange(len(words)), words).sum())
        return loss, len(ids)


def sentence_groups(ids: Ids, lines: Ids, max_length: int) -> Iterator[list[Ids]]:
    """The sentences of a text, in groups; `lines` (lines + 1,) are the boundaries of its lines."""
    group: list[Ids] = []
    words = 0
    for first, last in zip(lines[:-1].tolist(), lines[1:].tolist(), strict=True):
        for start in range(first, last, max_length):
            group.append(ids[start : min(start + max_length, last)])
            words += len(group[-1])
            if words >= GROUP_WORDS:
                yield group
                group, words = [], 0
    if group:
        yield group


def exact_tables(model: Model, declared: Mapping[str, Table]) -> dict[str, np.ndarray]:
    """The tables of a model, float64."""
    return {name: saved_table(model, name, table).astype(np.float64) for name, table in declared.items()}
