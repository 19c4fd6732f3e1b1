"""Training that ends when vectors no longer get better, and gives back the best there were."""

import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.models.model import Model
from embeddings.settings import check_value
from embeddings.support.logs import log
from embeddings.training.callbacks import RunStart, Callback, EpochEnd
from embeddings.training.parameters import VECTORS
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.eval.suite import Suite
    from embeddings.eval.suite_settings import TestSets

VALUES = {"spearman", "accuracy"}  # measures whose mean is the score
PREFIX = "best."


class EarlyStopping(Callback):
    """Ends a run after `patience` epochs without gain, and rolls it back to the epoch that scored best.

    The score of an epoch is the mean of Spearman's correlation over the sets of similarity and of the accuracy over
    those of analogies, or what `score` gives for a model. The best tables are kept in memory, and in checkpoints. The
    rate falls as the settings say, over all epochs, so that what ends early was learned at a higher one. The record of
    the model says `early_stopping`: the scores of all epochs, and which was the best.

    Arguments:
        similarity: test sets by name or path, one or several; `analogy` the same.
        score: the higher, the better.
        patience: epochs without a score above the best so far.

    Raises:
        SettingError: there is nothing to judge by, or two things; or patience is below 1.
        FormatError: a set cannot be found or read.
    """

    def __init__(
        self,
        *,
        similarity: "TestSets" = (),
        analogy: "TestSets" = (),
        score: Callable[[Model], float] | None = None,
        patience: int = 2,
    ) -> None:
        if bool(similarity or analogy) == (score is not None):
            raise SettingError("early stopping needs similarity or analogy sets, or a score: one of these")
        if score is not None and not callable(score):
            raise SettingError(f"score must be a function of a model, not {score!r:.80}")
        self.by = {"similarity": names_of(similarity), "analogy": names_of(analogy)}
        self.patience: int = check_value("patience", patience, int, {"least": 1})
        self.score = score or by_sets(self.by["similarity"], self.by["analogy"])
        self._forget()

    def _forget(self) -> None:
        """Know nothing of a run."""
        self.scores: list[float] = []
        self.best = 0  # the epoch, from 1 up
        self.kept: dict[str, np.ndarray] = {}
        self.record: dict[str, Any] = {}

    def on_run_start(self, run_start: RunStart) -> None:
        """A run that begins has nothing to do with one before it; one that goes on was restored."""
        if not run_start.words:
            self._forget()

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """Judge what was learned; keep it if it is the best, end the run if the best was too long ago."""
        score = number(self.score(epoch_end.model))
        self.scores.append(score)
        log.info("epoch %s scored %.4f", epoch_end.epoch, score)
        if not self.best or score > self.scores[self.best - 1]:
            self.best, self.record = epoch_end.epoch, epoch_end.model.record
            self.kept = {VECTORS: epoch_end.model.vectors.matrix, **epoch_end.model.tables}
        if epoch_end.epoch - self.best >= self.patience:
            epoch_end.stop()

    def on_run_end(self, model: Model) -> Model:
        """The model of the best epoch."""
        told = {"scores": self.scores, "best_epoch": self.best, "patience": self.patience}
        if not self.best:
            return model
        tables = dict(self.kept)
        matrix = tables.pop(VECTORS)
        return Model(
            model.name,
            vectors=Vectors(model.vectors.words, matrix, counts=model.vectors.counts),
            vocabulary=model.vocabulary,
            settings=model.settings,
            tables=tables,
            record={**self.record, "early_stopping": told},
            composer=model.composer,
            tags=model.tags,
            phrases=model.phrases,
        )

    def config(self) -> dict[str, Any]:
        """What it judges by, and its patience."""
        return {"patience": self.patience, "judged by": told(self.by)}

    def state(self) -> dict[str, Any]:
        """What was judged so far, and the best tables."""
        said: dict[str, Any] = {"scores": list(self.scores), "best": self.best, "record": self.record}
        return said | {PREFIX + name: table for name, table in self.kept.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on judging."""
        self.scores, self.best, self.record = list(state["scores"]), state["best"], state["record"]
        kept = {name.removeprefix(PREFIX): table for name, table in state.items() if name.startswith(PREFIX)}
        self.kept = {name: np.array(table, subok=False) for name, table in kept.items()}


def number(score: Any) -> float:
    """What a function gave as the score of a model.

    Raises:
        SettingError: it is no finite number.
    """
    try:
        value = float(score)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise SettingError(f"the score of a model must be a finite number, not {score!r:.80}")
    return value


def names_of(sets: "TestSets") -> list[str]:
    """Names and paths of test sets, as text."""
    from embeddings.eval.suite_settings import listed

    return [os.fspath(one) for one in listed(sets)]


def told(by: dict[str, list[str]]) -> str:
    """What a run is judged by, as people say it."""
    return " and ".join(f"{kind} {', '.join(names)}" for kind, names in by.items() if names) or "a score of its own"


def by_sets(similarity: "TestSets", analogy: "TestSets") -> Callable[[Model], float]:
    """What judges a model by test sets, which are read now."""
    from embeddings.eval.suite import Suite

    suite = Suite.read(similarity=similarity, analogy=analogy, restrict=None)
    return lambda model: mean_of(suite, model)


def mean_of(suite: "Suite", model: Model) -> float:
    """The mean over all sets.

    Raises:
        SettingError: a set has no value for these words.
    """
    results = [outcome.result() for outcome in suite.judge(model, model.name)]
    found = [result for result in results if result.measure in VALUES and result.section is None and not result.detail]
    for result in found:
        if result.value is None:
            raise SettingError(f"early stopping cannot judge by {result.set}: {result.reason}")
    return float(np.mean([result.value for result in found]))
