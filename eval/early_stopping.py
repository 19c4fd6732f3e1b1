"""Early stopping: training ends when the scores of vectors no longer improve, and returns the best model."""

import math
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.errors import S, SettingError
from embeddings.models.model import Model
from embeddings.models.table import VECTORS
from embeddings.settings import Positive, Range, check_arguments
from embeddings.support.logs import log
from embeddings.training.average import AVERAGE
from embeddings.training.callbacks import Callback, EpochEnd, RunStart
from embeddings.training.run_log import HELD_OUT_LOSS
from embeddings.training.trainer import Trainer
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.eval.tasks.evaluation_kind import TestSets

PREFIX = "best."
FUNCTION = "a function"
DECAY = 0.5  # of the learning rate on a plateau


class EarlyStopping(Callback):
    """Ends a run after `patience` epochs without improvement, and restores the model of the best epoch.

    The score of an epoch is one of:

    - test sets: the mean of Spearman's correlation on similarity sets and of the accuracy on analogy sets, of which
      only the dev half is used (see `embeddings.eval.test_sets`);
    - `validation`: the loss of held-out text;
    - `labels`: the micro-averaged F1 of the label that a classifier predicts for each text, which is its accuracy if
      texts have one label;
    - `score`: the value of your function of a model.

    The best tables are held in memory and in checkpoints. The learning rate
    decays over all epochs of the settings, so a run that ends early never reaches the low rates. The model's record has
    `early_stopping`: the scores of all epochs, what they are based on, and the best one.

    With `decay_on_plateau`, the run does not end at first: the learning rate is lowered, and training continues from
    the tables of the best epoch. This doubles the memory for the best tables. With the setting `average_last`, the
    average is scored too, and the better one of it and the best epoch is returned.

    Arguments:
        similarity: score each epoch on the dev half of this similarity set, stop when the score no longer improves, and
            save the best epoch. In Python one or several sets, by name or path.
        analogy: score each epoch on the dev half of this analogy set; together with a similarity set, by the mean
            score. In Python one or several sets, by name or path.
        labels: score each epoch on these labelled texts by the F1 of the predicted label, stop when the score no longer
            improves, and save the best epoch. In Python the path of a file, or an iterable of texts.
        label_format: how their labels are written; by default as in fastText.
        validation: measure the loss of held-out text after each epoch, stop when it no longer falls, and save the best
            epoch: the path of a text, or a share, such as 0.05, that a hash cuts from the training text and that is not
            trained on. In Python for trainers that predict words from contexts.
        score: a function of a model, in place of test sets; higher is better.
        patience: stop after this many epochs without improvement; 2 by default.
        decay_on_plateau: where early stopping would stop, halve the learning rate, and continue from the best epoch, at
            most N times; use it with a constant schedule.

    Raises:
        SettingError: not exactly one of test sets, labels, validation and score is set; or a number is out of range.
        FormatError: a set cannot be found or read.
    """

    def __init__(
        self,
        *,
        similarity: "TestSets" = (),
        analogy: "TestSets" = (),
        labels: Any = None,
        label_format: LabelFormat | None = None,
        validation: str | os.PathLike[str] | float | None = None,
        score: Callable[[Model], float] | None = None,
        patience: Positive = 2,
        decay_on_plateau: Annotated[int, Range(ge=0)] = 0,
    ) -> None:
        # imported here, so that the command train, which has these arguments as options, starts without test sets
        from embeddings.eval.evaluation import Suite, mean_score
        from embeddings.eval.tasks.evaluation_kind import as_list
        from embeddings.eval.tasks.perplexity import Validation
        from embeddings.eval.test_sets import ALL, DEV

        others = (labels is not None, validation is not None, score is not None)
        if bool(similarity or analogy) + sum(others) != 1:
            raise SettingError(
                f"early stopping requires {S.similarity} or {S.analogy} sets, or else {S.labels}, {S.validation} or a "
                "score function"
            )
        if label_format is not None and labels is None:
            raise SettingError("label_format requires labels")
        sets = {"similarity": similarity, "analogy": analogy}
        self.sets: dict[str, Any] = {kind: [os.fspath(path) for path in as_list(one)] for kind, one in sets.items()}
        check_arguments(EarlyStopping, patience=patience, decay_on_plateau=decay_on_plateau)
        self.patience, self.decay_on_plateau = int(patience), int(decay_on_plateau)
        if labels is not None:
            self.sets["labels"] = [os.fspath(labels) if isinstance(labels, str | os.PathLike) else "a list of texts"]
            from embeddings.eval.tuning.metrics import LabelJudge

            judge = LabelJudge.read(labels, label_format or LabelFormat(), "f1").select(ALL)

            def score(model: Model) -> float:
                return judge(model.classifier)

        self.validation = None if validation is None else Validation(validation)
        if self.validation is not None:
            score = self.validation.score
        self.score = score or partial(mean_score, Suite.read(**self.sets, restrict=None, half=DEV))
        self._reset()

    def _reset(self) -> None:
        """Forget all scores and tables."""
        self.scores: list[float] = []
        self.best_epoch = 0  # from 1; 0 if there is none yet
        self.decays: list[int] = []  # epochs after which training rolled back to the best epoch
        self.best_tables: dict[str, np.ndarray] = {}
        self.best_record: dict[str, Any] = {}

    def on_corpus(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """Cut off what is held out."""
        return encoded if self.validation is None else self.validation.training_part(encoded, trainer)

    @property
    def basis(self) -> str:
        """The test sets or texts from which scores are computed."""
        if self.validation is not None:
            return self.validation.description
        sets = " and ".join(f"{kind} {', '.join(names)}" for kind, names in self.sets.items() if names)
        if "labels" in self.sets:
            return sets
        return f"dev half of {sets}" if sets else FUNCTION

    def on_run_start(self, run_start: RunStart) -> None:
        """Forget an earlier run, unless this one continues it."""
        # a resumed run has trained words already, and its scores were restored from the checkpoint
        if not run_start.words:
            self._reset()

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """Score the model, copy it if it is the best, and act after `patience` epochs without improvement."""
        score = self.score_model(epoch_end.model)
        self.scores.append(score)
        is_loss = self.validation is not None
        epoch_end.scores[HELD_OUT_LOSS if is_loss else "score"] = -score if is_loss else score
        log.info("epoch %s scored %.4f by the %s", epoch_end.epoch, score, self.basis)
        if not self.best_epoch or score > self.scores[self.best_epoch - 1]:
            self.best_epoch, self.best_record = epoch_end.epoch, epoch_end.model.record
            self.best_tables = {VECTORS: epoch_end.model.vectors.matrix, **epoch_end.model.tables}
            # training goes back to all of its tables, not only to those that a model has
            if self.decay_on_plateau:
                epoch_end.save_tables()
        # patience starts anew after each decay: the lower rate needs its own epochs to show
        if epoch_end.epoch - max(self.best_epoch, *self.decays, 0) >= self.patience:
            if len(self.decays) == self.decay_on_plateau:
                epoch_end.stop()
                return
            self.decays.append(epoch_end.epoch)
            factor = DECAY ** len(self.decays)
            log.info("continuing from epoch %s with %.4g times the scheduled learning rate", self.best_epoch, factor)
            epoch_end.roll_back(factor)

    def score_model(self, model: Model) -> float:
        """The score of a model, a finite number."""
        score = float(self.score(model))
        if not math.isfinite(score):
            raise SettingError(f"the score of a model must be a finite number, got {score}")
        return score

    def on_run_end(self, model: Model) -> Model:
        """Return the model of the best epoch, or the average over the last epochs if it is better."""
        if not self.best_epoch:
            return model
        summary: dict[str, Any] = {"scores": self.scores, "best_epoch": self.best_epoch, "patience": self.patience}
        if self.basis != FUNCTION:
            summary["basis"] = self.basis
        if self.validation is not None:
            summary[HELD_OUT_LOSS] = [-score for score in self.scores]
        if self.decay_on_plateau:
            summary["decays"] = self.decays
        if AVERAGE in model.record:
            score = self.score_model(model)
            is_better = score > self.scores[self.best_epoch - 1]
            summary |= {"average_score": score, "returned": AVERAGE if is_better else f"epoch {self.best_epoch}"}
            if is_better:
                model.record["early_stopping"] = summary
                return model
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
            labels=model.labels,
        )

    def config(self) -> dict[str, Any]:
        """The test sets, the patience and the decay."""
        source = None if self.validation is None else self.validation.source
        basis = self.basis if source is None else f"held-out loss on {source}"
        plateau = {"decay_on_plateau": self.decay_on_plateau, "decay": DECAY}
        return {"patience": self.patience, **plateau, "score": basis}

    def state(self) -> dict[str, Any]:
        """All scores so far, and the best tables."""
        tables = {PREFIX + name: table for name, table in self.best_tables.items()}
        return {
            "scores": list(self.scores),
            "best_epoch": self.best_epoch,
            "decays": list(self.decays),
            "record": self.best_record,
            **tables,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.scores, self.best_epoch, self.best_record = list(state["scores"]), state["best_epoch"], state["record"]
        self.decays = list(state["decays"])
        tables = {name.removeprefix(PREFIX): state[name] for name in state if name.startswith(PREFIX)}
        self.best_tables = {name: np.array(table, subok=False) for name, table in tables.items()}
