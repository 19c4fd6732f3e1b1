"""The search: trials of settings, chosen by the tree-structured Parzen estimator of optuna (Bergstra et al. 2011)."""

import math
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from embeddings.corpora.corpus import Corpus
from embeddings.errors import CorpusError, EmbeddingsError, SettingError
from embeddings.eval.tuning.search_space import Space, first_values, search_space, suggest
from embeddings.kernels.compile_time import compile_time
from embeddings.models.model import Model
from embeddings.settings import check_value
from embeddings.support.extras import import_extra
from embeddings.training.callbacks import Callback
from embeddings.training.progress import Progress
from embeddings.training.result import TrainingError
from embeddings.training.run_options import RunOptions
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import as_corpus

MAX_TRIALS = 100_000
MAX_FAILURES = 10  # trials after which a search ends if none has succeeded


class TuningError(EmbeddingsError):
    """A search found no settings."""


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
        score: None if the trial failed; `reason` then says why.
        seconds: of training and scoring, without compilation.
        details: from the judgement.
    """

    number: int
    settings: dict[str, Any]
    score: float | None
    seconds: float
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass
class Tuning:
    """The trials of a search, and the result of the best one."""

    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    result: Any = None
    trainer: Trainer | None = None
    is_interrupted: bool = False


class TimeUp(Exception):
    """The time of the search is over."""


@dataclass
class Deadline(Callback):
    """Ends a training run when the time of the search is over."""

    end: float

    def on_progress(self, progress: Progress) -> None:
        """Raise `TimeUp` if the time is over."""
        if perf_counter() > self.end:
            raise TimeUp


def tune(
    trainer: Trainer,
    corpus: "Corpus | str | os.PathLike[str] | Iterable[Any]",
    judge: Callable[[Model], Judgement],
    *,
    trials: int | None = None,
    seconds: float | None = None,
    fixed: Collection[str] = (),
    threads: int | None = None,
    seed: int = 1,
    report: Callable[[Trial], object] | None = None,
) -> Tuning:
    """Train with different settings, and keep the model that scores best.

    The first trial has the settings of `trainer`. All trials read the same encoded corpus. With a number of trials and
    one thread, the search is reproducible.

    Arguments:
        trainer: the trainer; its settings declare their ranges by `option(search=)`.
        corpus: the text.
        judge: scores a model.
        trials: how many trials.
        seconds: when to end the search; a trial that is not complete then is dropped.
        fixed: settings that keep the values of `trainer`.
        threads: of training; by default all cores.
        seed: of the search and of each training run.
        report: called after each trial.

    Raises:
        SettingError: neither `trials` nor `seconds` is given, or no setting is left to vary.
        TuningError: no trial succeeded.
        KeyboardInterrupt: the search was interrupted before a trial succeeded; later its best result is returned.
    """
    if (trials is None) == (seconds is None):
        raise SettingError("a search requires a number of trials or of seconds, and not both")
    check_value("trials", trials, int | None, {"ge": 1, "le": MAX_TRIALS})
    check_value("seconds", seconds, float | None, {"gt": 0, "ge": None, "le": 1e9})
    search = Search(
        trainer, as_corpus(corpus, trainer), judge, search_space(trainer, fixed), threads, seed, report,
        math.inf if seconds is None else perf_counter() + seconds,
    )  # fmt: skip
    search.run(trials)
    return search.tuning


@dataclass
class Search:
    """A running search; see `tune`."""

    trainer: Trainer
    corpus: Corpus
    judge: Callable[[Model], Judgement]
    space: Space
    threads: int | None
    seed: int
    report: Callable[[Trial], object] | None
    end: float
    tuning: Tuning = field(default_factory=Tuning)

    def run(self, trials: int | None) -> None:
        """Run trials until their number or the time is over, or the user interrupts."""
        optuna = import_extra("optuna", "tune", "a search for settings")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=self.seed % 2**32))
        study.enqueue_trial(dict(first_values(self.trainer, self.space)))
        try:
            with self.corpus.encode():
                while self.goes_on(trials):
                    self.run_trial(study, optuna.trial.TrialState)
        except TimeUp:
            pass
        except KeyboardInterrupt:
            self.tuning.is_interrupted = True
            if self.tuning.best is None:
                raise
        if self.tuning.best is None:
            raise TuningError(self.failure())

    def goes_on(self, trials: int | None) -> bool:
        """Whether there is a next trial."""
        done = len(self.tuning.trials)
        is_hopeless = self.tuning.best is None and done >= MAX_FAILURES
        return (trials is None or done < trials) and perf_counter() < self.end and not is_hopeless

    def run_trial(self, study: Any, states: Any) -> None:
        """Train and score with the next settings."""
        start, asked = perf_counter() - compile_time.seconds, study.ask()
        settings = suggest(asked, self.trainer, self.space)
        number = len(self.tuning.trials) + 1
        try:
            trainer = replace(self.trainer, **settings)
            judgement = self.judge(self.train(trainer))
            if not math.isfinite(judgement.score):
                raise TuningError(f"the score is {judgement.score}")
        except (CorpusError, SettingError, TrainingError, TuningError) as error:
            study.tell(asked, state=states.FAIL)
            trial = Trial(number, settings, None, seconds_since(start), str(error))
        else:
            study.tell(asked, judgement.score)
            details = judgement.details
            trial = Trial(number, settings, judgement.score, seconds_since(start), details=details)
            best = self.tuning.best
            if best is None or best.score is None or judgement.score > best.score:
                self.tuning.best, self.tuning.result, self.tuning.trainer = trial, judgement.result, trainer
        self.tuning.trials.append(trial)
        if self.report is not None:
            self.report(trial)

    def train(self, trainer: Trainer) -> Model:
        """Train one model."""
        options = None
        if math.isfinite(self.end) and trainer.accepts_run_options:
            options = RunOptions(callbacks=[Deadline(self.end)])
        return trainer.train(self.corpus, threads=self.threads, seed=self.seed, run_options=options)

    def failure(self) -> str:
        """Why there is no result."""
        if self.tuning.trials:
            return f"no trial succeeded; the first one failed: {self.tuning.trials[0].reason}"
        return "the time was over before the first trial was complete: allow more seconds"


def seconds_since(start: float) -> float:
    """Seconds without compilation."""
    return perf_counter() - compile_time.seconds - start
