"""Early stopping: training ends when the scores of vectors no longer improve, and returns the best model."""

import math
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from embeddings.errors import SettingError
from embeddings.eval.suite import Suite, TestSets, as_list
from embeddings.models.model import Model
from embeddings.settings import check_value
from embeddings.support.logs import log
from embeddings.training.callbacks import Callback, EpochEnd, RunStart
from embeddings.training.parameters import VECTORS
from embeddings.vectors.vectors import Vectors

MEASURES = {"spearman", "accuracy"}  # whose mean is the score
PREFIX = "best."


class EarlyStopping(Callback):
    """Ends a run after `patience` epochs without improvement, and restores the model of the best epoch.

    The score of an epoch is the mean of Spearman's correlation on similarity sets and of the accuracy on analogy sets,
    or what `score` returns for a model. The best tables are held in memory and in checkpoints. The learning rate decays
    over all epochs of the settings, so a run that ends early never reaches the low rates. The model's record has
    `early_stopping`: the scores of all epochs and the best one.

    Arguments:
        similarity: one or several similarity sets, by name or path.
        analogy: one or several analogy sets, by name or path.
        score: a function of a model, in place of test sets; higher is better.
        patience: epochs without improvement after which the run ends.

    Raises:
        SettingError: test sets and a score are both given, or neither; or patience is below 1.
        FormatError: a set cannot be found or read.
    """

    def __init__(
        self,
        *,
        similarity: TestSets = (),
        analogy: TestSets = (),
        score: Callable[[Model], float] | None = None,
        patience: int = 2,
    ) -> None:
        if bool(similarity or analogy) == (score is not None):
            raise SettingError("early stopping requires either similarity or analogy sets, or a score function")
        if score is not None and not callable(score):
            raise SettingError(f"score must be a function of a model, got {score!r:.80}")
        sets = {"similarity": similarity, "analogy": analogy}
        self.sets: dict[str, Any] = {kind: [os.fspath(path) for path in as_list(one)] for kind, one in sets.items()}
        self.patience: int = check_value("patience", patience, int, {"ge": 1})
        self.score = score or partial(mean_score, Suite.read(**self.sets, restrict=None))
        self._reset()

    def _reset(self) -> None:
        self.scores: list[float] = []
        self.best_epoch = 0  # from 1; 0 if there is none yet
        self.best_tables: dict[str, np.ndarray] = {}
        self.best_record: dict[str, Any] = {}

    def on_run_start(self, run_start: RunStart) -> None:
        """Forget an earlier run, unless this one continues it."""
        if not run_start.words:
            self._reset()

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """Score the model, copy it if it is the best, and end the run after `patience` epochs without improvement."""
        value = self.score(epoch_end.model)
        try:
            score = float(value)
        except (TypeError, ValueError):
            score = math.nan
        if not math.isfinite(score):
            raise SettingError(f"the score of a model must be a finite number, got {value!r:.80}")
        self.scores.append(score)
        log.info("epoch %s scored %.4f", epoch_end.epoch, score)
        if not self.best_epoch or score > self.scores[self.best_epoch - 1]:
            self.best_epoch, self.best_record = epoch_end.epoch, epoch_end.model.record
            self.best_tables = {VECTORS: epoch_end.model.vectors.matrix, **epoch_end.model.tables}
        if epoch_end.epoch - self.best_epoch >= self.patience:
            epoch_end.stop()

    def on_run_end(self, model: Model) -> Model:
        """Return the model of the best epoch."""
        if not self.best_epoch:
            return model
        summary = {"scores": self.scores, "best_epoch": self.best_epoch, "patience": self.patience}
        tables = dict(self.best_tables)
        return Model(
            model.name,
            vectors=Vectors(model.vectors.words, tables.pop(VECTORS), counts=model.vectors.counts),
            vocabulary=model.vocabulary,
            settings=model.settings,
            tables=tables,
            record={**self.best_record, "early_stopping": summary},
            composer=model.composer,
            tags=model.tags,
            phrases=model.phrases,
        )

    def config(self) -> dict[str, Any]:
        """The test sets and the patience."""
        sets = " and ".join(f"{kind} {', '.join(names)}" for kind, names in self.sets.items() if names)
        return {"patience": self.patience, "score": sets or "a function"}

    def state(self) -> dict[str, Any]:
        """All scores so far, and the best tables."""
        tables = {PREFIX + name: table for name, table in self.best_tables.items()}
        return {"scores": list(self.scores), "best_epoch": self.best_epoch, "record": self.best_record, **tables}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.scores, self.best_epoch, self.best_record = list(state["scores"]), state["best_epoch"], state["record"]
        tables = {name.removeprefix(PREFIX): state[name] for name in state if name.startswith(PREFIX)}
        self.best_tables = {name: np.array(table, subok=False) for name, table in tables.items()}


def mean_score(suite: Suite, model: Model) -> float:
    """The mean of a model's scores on all sets; a set without a score raises a SettingError."""
    results = [scores.result() for scores in suite.score(model, model.name)]
    totals = [one for one in results if one.measure in MEASURES and one.section is None and not one.is_detail]
    for result in totals:
        if result.value is None:
            raise SettingError(f"early stopping cannot use {result.set}: {result.reason}")
    return float(np.mean([result.value for result in totals]))
