"""The trials of a search and their outcome."""

from dataclasses import dataclass, field
from typing import Any, Literal

from embeddings.errors import EmbeddingsError
from embeddings.eval.statistics.paired_tests import Comparison
from embeddings.eval.statistics.results import Result
from embeddings.training.trainer import Trainer

State = Literal["complete", "halved", "failed"]


class TuningError(EmbeddingsError):
    """A search found no settings."""


class ModelSizeError(TuningError):
    """A model cannot be made as small as the search requires."""


@dataclass(frozen=True)
class Judgement:
    """The score of a model, higher is better; and the result to keep, such as the model or a smaller version of it."""

    score: float
    result: Any
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """One training run of a search.

    Arguments:
        number: from 1.
        settings: those that the search varies.
        state: "complete"; "halved", if successive halving ended it after the last of `epoch_scores`; or "failed".
        score: that of the dev half, or with `half="all"` of all labelled texts; None if the trial failed, and `reason`
            then says why.
        seconds: of training and scoring, without compilation.
        epoch_scores: the score after each epoch at which the trial was compared with others.
        details: from the judgement.
        values: what the sampler drew, before it was rounded; `notes` of the pruner.
    """

    number: int
    settings: dict[str, Any]
    state: State
    score: float | None
    seconds: float
    reason: str | None = None
    epoch_scores: dict[int, float] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict, repr=False)
    notes: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass
class Tuning:
    """The outcome of a search.

    Arguments:
        trials: all of them; the first one has the settings that the trainer was given.
        best: the complete trial with the highest score.
        result: its model, or what the metric made of it.
        trainer: with its settings.
        metric: what the trials were scored by.
        test: the results on the test half of the best trial, and of the first one, called "defaults".
        comparisons: paired tests of both on the test half; empty if the best trial is the first one.
    """

    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    result: Any = None
    trainer: Trainer | None = None
    metric: str = ""
    test: list[Result] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    is_interrupted: bool = False
