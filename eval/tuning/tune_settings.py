"""Search for the settings of a trainer in one call.

Trials of settings are chosen by the tree-structured Parzen estimator of optuna (Bergstra et al. 2011).
"""

import dataclasses
import math
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Annotated, Any, Literal

from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import EmbeddingsError, S, SettingError, marked
from embeddings.eval.tuning.metrics import Metric, Metrics, check_metric, new_metric
from embeddings.eval.tuning.study_folder import (
    BEST,
    DEFAULTS,
    Judgement,
    ModelSizeError,
    State,
    StudyFolder,
    Trial,
    Tuning,
    TuningError,
)
from embeddings.models.model import Model
from embeddings.settings import Positive, Range, SearchRange, check_arguments, check_value, field_types, split_optional
from embeddings.support.imports import import_extra
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.training.callbacks import Callback, EpochEnd
from embeddings.training.progress import Progress, Report
from embeddings.training.run import Interrupted, TrainingError
from embeddings.training.run_options import RunOptions
from embeddings.training.trainer import Trainer, new_trainer
from embeddings.training.training_data import as_corpus, check_threads_and_seed
from embeddings.vectors.index import convert_value

Space = dict[str, SearchRange]
LOG_RATIO = 10  # between the ends of a range from which on its numbers are spread by their logarithm
EPOCHS = "epochs"


def search_space(trainer: Trainer, vary: Sequence[str] = (), fixed: Collection[str] = ()) -> Space:
    """The ranges to search.

    Arguments:
        vary: the settings to vary, such as "window", "dim=50..300" or "schedule=linear,cosine"; without a range the
            one that the setting declares. By default all settings that declare one, except for those in `fixed`.

    Raises:
        SettingError: a setting is unknown, its range is empty, out of bounds or not declared; or no setting is left.
    """
    if vary:
        return dict(parse_range(trainer, text) for text in vary)
    space = {name: one for name, one in declared_ranges(trainer).items() if one is not None and name not in fixed}
    if not space:
        raise SettingError(
            f"no setting of {trainer.trainer_name} is left to tune: vary one, such as {S.dim('50..300')}"
        )
    return space


def declared_ranges(trainer: Trainer) -> dict[str, SearchRange | None]:
    """The range of each setting, None for one that declares none."""
    return {field.name: field.metadata.get("search") for field in dataclasses.fields(trainer)}


def parse_range(trainer: Trainer, text: str) -> tuple[str, SearchRange]:
    """A setting and its range, from `name`, `name=low..high` or `name=value,value`."""
    name, given, values = text.partition("=")
    name, ranges = name.strip().replace("-", "_"), declared_ranges(trainer)
    if name not in ranges:
        raise SettingError(f"{trainer.trainer_name} has no setting {name!r} to vary: choose from {', '.join(ranges)}")
    declared = ranges[name]
    if not given:
        if declared is None:
            raise SettingError(f"{S[name]} declares no range to vary: give one, such as {name}=LOW..HIGH or {name}=A,B")
        return name, declared
    requires = None if declared is None else declared.requires
    low, is_interval, high = values.partition("..")
    if not is_interval:
        choices = tuple(convert(trainer, name, value) for value in values.split(","))
        return name, SearchRange(choices=choices, requires=requires)
    ends = [convert(trainer, name, end) for end in (low, high)]
    is_numeric = all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    if not is_numeric or ends[0] >= ends[1]:
        raise SettingError(f"the range of {name} is empty: {values}; give LOW..HIGH of numbers, or values as A,B")
    is_log = ends[0] > 0 and ends[1] >= LOG_RATIO * ends[0]
    return name, SearchRange(low=ends[0], high=ends[1], log=is_log, requires=requires)


def convert(trainer: Trainer, name: str, text: str) -> Any:
    """The value of a setting that a string means, checked."""
    kind = field_types(type(trainer))[name]
    metadata = next(field.metadata for field in dataclasses.fields(trainer) if field.name == name)
    return check_value(name, convert_value(text.strip(), kind), kind, metadata)


def suggest(trial: Any, trainer: Trainer, space: Space, *, is_first: bool = False) -> dict[str, Any]:
    """The settings that an optuna trial tries; settings that require another setting come last.

    The first trial has the trainer's own settings, also those that are outside of their ranges.
    """
    values: dict[str, Any] = {}
    types, own = field_types(type(trainer)), {name: getattr(trainer, name) for name in space} if is_first else {}
    for name in sorted(space, key=lambda name: space[name].requires is not None):
        one = space[name]
        if one.requires is not None and not values.get(one.requires, getattr(trainer, one.requires)):
            continue
        if is_first and not contains(one, own[name]):
            values[name] = own[name]
        elif one.choices:
            values[name] = trial.suggest_categorical(name, one.choices)
        elif split_optional(types[name])[0] is int:
            values[name] = trial.suggest_int(name, int(one.low), int(one.high), log=one.log)
        else:
            value = trial.suggest_float(name, one.low, one.high, log=one.log)
            values[name] = float(f"{value:.4g}")  # so that a command line repeats the trial
    return values


def contains(one: SearchRange, value: Any) -> bool:
    """Whether a value is in a range."""
    return value in one.choices if one.choices else value is not None and one.low <= value <= one.high


MAX_FAILURES = 10  # trials after which a search ends if none has succeeded
STARTUP_TRIALS = 5  # that are drawn at random, before the sampler learns from others
REDUCTION = 2  # at each rung, the best of every two trials continues


class TimeUp(Exception):
    """The time of the search is over."""


class JudgementError(EmbeddingsError):
    """A model cannot be scored."""


@dataclass
class Deadline(Callback):
    """Ends a training run when the time of the search is over."""

    end: float

    def on_progress(self, progress: Progress) -> None:
        """Raise `TimeUp` if the time is over."""
        if perf_counter() > self.end:
            raise TimeUp


@dataclass
class Halving(Callback):
    """Scores a model after epochs 1, 2, 4, 8, ... and ends its trial if its score is in the worse half of all trials.

    Asynchronous successive halving (Li et al. 2020), by optuna. `scores` are those by epoch.
    """

    trial: Any
    judge: Callable[[Model], Judgement]
    epochs: int
    scores: dict[int, float] = field(default_factory=dict)

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """Score the model and compare it."""
        epoch = epoch_end.epoch
        if not math.log2(epoch).is_integer() or epoch >= self.epochs:
            return
        score = finite_score(self.judge(epoch_end.model))
        self.scores[epoch] = score
        self.trial.report(score, epoch)
        if self.trial.should_prune():
            raise import_optuna().TrialPruned


def import_optuna() -> Any:
    """The module optuna; raises EmbeddingsError if it is not installed."""
    return import_extra("optuna", "tune", "a search for settings")


@dataclass
class Search:
    """A running search; see `tune`."""

    trainer: Trainer
    source: Corpus | EncodedCorpus
    metric: Metric
    space: Space
    is_halving: bool
    threads: int | None
    seed: int
    end: float
    folder: StudyFolder | None = None
    report: Callable[[Trial], object] | None = None
    progress: Report | None = None
    tuning: Tuning = field(default_factory=Tuning)
    results: dict[str, Any] = field(default_factory=dict)  # of the best and the first trial, in this process

    def __post_init__(self) -> None:
        self.optuna = import_optuna()
        self.optuna.logging.set_verbosity(self.optuna.logging.WARNING)
        pruner = self.optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=REDUCTION)
        self.study = self.optuna.create_study(direction="maximize", pruner=pruner)
        self.tuning.metric = self.metric.description
        states = self.optuna.trial.TrialState
        self.states = {"complete": states.COMPLETE, "halved": states.PRUNED, "failed": states.FAIL}

    def resume(self, trials: list[Trial]) -> None:
        """Continue a search after its earlier trials."""
        for trial in trials:
            # asked again for what was drawn then: the sampler learns from the trials that it has asked for only
            self.study.enqueue_trial(trial.values)
            asked = self.study.ask()
            suggest(asked, self.trainer, self.space, is_first=trial.number == 1)
            for epoch, score in trial.epoch_scores.items():
                asked.report(score, epoch)
                asked.should_prune()  # so that the pruner counts the trial among those that reached the epoch
            self.finish(asked, trial)

    def run(self, trials: int | None) -> None:
        """Run trials until their number or the time is over, or the user interrupts; then test the best one."""
        try:
            while (trials is None or len(self.tuning.trials) < trials) and perf_counter() < self.end:
                if self.tuning.best is None and len(self.tuning.trials) >= MAX_FAILURES:
                    break
                self.run_trial()
        except TimeUp:
            pass
        except KeyboardInterrupt:
            self.tuning.is_interrupted = True
            if self.tuning.best is None:
                raise
        if self.tuning.best is None:
            late = "the time was over before the first trial was complete: allow more seconds"
            failed = [f"no trial succeeded; the first one failed: {one.reason}" for one in self.tuning.trials]
            raise TuningError(failed[0] if failed else late)
        self.tuning.result = self.result(BEST)
        if self.tuning.is_interrupted:
            return
        results = {f"trial {self.tuning.best.number}": self.tuning.result}
        if self.tuning.best.number != 1 and self.tuning.trials[0].state == "complete":
            results[DEFAULTS] = self.result(DEFAULTS)
        self.tuning.test, self.tuning.comparisons = self.metric.test(results)

    def run_trial(self) -> None:
        """Train and score with the next settings."""
        start, number = perf_counter() - compile_time.seconds, len(self.tuning.trials) + 1
        asked = self.ask(number)
        settings = suggest(asked, self.trainer, self.space, is_first=number == 1)
        halving = Halving(asked, self.judge, getattr(self.trainer, "epochs", 1))
        state: State = "failed"
        judgement, reason = None, None
        try:
            judgement = self.judge(self.train(replace(self.trainer, **settings), halving))
            finite_score(judgement)
            state = "complete"
        except self.optuna.TrialPruned:
            state = "halved"
        except JudgementError as error:
            if number == 1:
                raise TuningError(f"the model with the given settings cannot be scored: {marked(error)}") from None
            reason = str(error)
        except EmbeddingsError as error:
            reason = str(error)
        # training turns the signal into an error of its own
        except Interrupted:
            raise KeyboardInterrupt from None
        score = judgement.score if judgement and state == "complete" else None
        trial = Trial(
            number, settings, state, halving.scores[max(halving.scores)] if state == "halved" else score,
            perf_counter() - compile_time.seconds - start, reason, halving.scores,
            judgement.details if judgement else {}, dict(asked.params),
        )  # fmt: skip
        self.finish(asked, trial, judgement if state == "complete" else None)
        if self.folder is not None:
            self.folder.add(trial)
        if self.report is not None:
            self.report(trial)

    def ask(self, number: int) -> Any:
        """The next trial of optuna; what it draws depends on the seed, its number and earlier trials only."""
        # a sampler for each trial, with a seed of its own: a resumed search then draws what an uninterrupted one does
        self.study.sampler = self.optuna.samplers.TPESampler(
            seed=(self.seed + number) % 2**32, n_startup_trials=STARTUP_TRIALS
        )
        if number == 1:
            values = {name: getattr(self.trainer, name) for name in self.space}
            self.study.enqueue_trial({name: one for name, one in values.items() if contains(self.space[name], one)})
        return self.study.ask()

    def judge(self, model: Model) -> Judgement:
        """The score of a model by the dev half."""
        try:
            return self.metric.judge(model)
        except ModelSizeError:
            raise  # other settings may make a smaller model
        except EmbeddingsError as error:
            raise JudgementError(marked(error)) from None

    def finish(self, asked: Any, trial: Trial, judgement: Judgement | None = None) -> None:
        """Count a trial; the result of the best or the first one is saved."""
        value = trial.score if trial.state == "complete" else None
        self.study.tell(asked, value, state=self.states[trial.state])
        best = self.tuning.best
        is_best = value is not None and (best is None or best.score is None or value > best.score)
        if judgement is not None:
            for name in [BEST] * is_best + [DEFAULTS] * (trial.number == 1):
                self.results[name] = judgement.result
                if self.folder is not None:
                    self.folder.save(name, judgement.result)
        if is_best:
            self.tuning.best, self.tuning.trainer = trial, replace(self.trainer, **trial.settings)
        self.tuning.trials.append(trial)

    def result(self, name: str) -> Any:
        """The result of the best or first trial."""
        if name not in self.results and self.folder is not None:
            self.results[name] = self.folder.load(name)
        return self.results[name]

    def train(self, trainer: Trainer, halving: Halving) -> Model:
        """Train one model."""
        callbacks: list[Callback] = [halving] if self.is_halving else []
        if math.isfinite(self.end):
            callbacks.append(Deadline(self.end))
        options = RunOptions(callbacks=callbacks) if trainer.accepts_run_options else None
        return trainer.train(
            self.source,  # type: ignore[arg-type]  # may be encoded, for trainers that hold out text
            threads=self.threads, seed=self.seed, progress=self.progress, run_options=options,
        )  # fmt: skip


def finite_score(judgement: Judgement) -> float:
    """The score; a TrainingError if it is not finite."""
    if not math.isfinite(judgement.score):
        raise TrainingError(f"the score is {judgement.score}")
    return judgement.score


MAX_TRIALS = 100_000


def tune(
    trainer: str | Trainer,
    corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
    *,
    metric: Metrics,
    trials: Annotated[int, Range(ge=1, le=MAX_TRIALS)] | None = None,
    seconds: Annotated[float, Range(gt=0, le=1e9)] | None = None,
    vary: Sequence[str] = (),
    fixed: Collection[str] = (),
    halving: bool | None = None,
    labels: Any = None,
    half: Literal["dev", "all"] = "dev",
    k: Positive = 1,
    size: Positive | None = None,
    validation: Any = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    threads: int | None = None,
    seed: int = 1,
    report: Callable[[Trial], object] | None = None,
    progress: ProgressOption = None,
    **settings: Any,
) -> Tuning:
    """Train with different settings, keep the model that scores best on the dev half, and judge it on the test half.

    The first trial has the given settings. All trials read the same encoded corpus. With a number of trials and one
    thread, the search is reproducible, also across interruptions.

    Arguments:
        trainer: the name of an installed trainer, or a trainer.
        corpus: the text.
        metric: "similarity:NAME", "analogy:NAME" or "pairs:FILE", or several of them, whose mean counts; "loss", of
            held-out text; for classifiers a score of labels, such as "f1" or "recall-at-precision:90:sport"; or a
            function of a model, which has no test half.
        trials: the number of trials.
        seconds: the seconds after which the search ends; a trial that is not complete then is dropped.
        vary: vary this setting: over its own range, as in "window", over a given range, as in dim=50..300, or over
            given values, as in schedule=linear,cosine. By default all settings with a range, unless they are set,
            and without epochs if trials are halved. In Python several settings, by default without those in `fixed` and
            `settings`.
        fixed: settings that keep the values of `trainer`.
        halving: end a trial after 1, 2, 4, ... epochs unless its score is in the better half; by default if the trainer
            has epochs and they are not varied.
        labels: labelled texts that score classifiers: one half in the search, one at the end. In Python a path, or an
            iterable of texts.
        half: of `labels`, by which trials are scored: "dev"; or "all", so that none are left to judge the best trial.
        k: labels to predict for each text.
        size: quantise classifiers so that their file has at most this many bytes.
        validation: the held-out text of the metric "loss": a text, or a share that is cut from the corpus and not
            trained on; 0.05 by default.
        out: the folder of the search: trials, the best model, and tables; none by default. If no trial
            succeeds, a new folder is removed again.
        resume: continue the search in `out`, if there is one, also with more trials.
        force: replace the search in `out`.
        threads: of training; by default all cores.
        seed: of the search and of each training run.
        report: called after each trial.
        progress: True shows a bar for each trial, False none; by default there is one on a terminal and in a
            notebook. A function is called with a `Progress` while a trial is training.
        settings: settings of the trainer, if it is given by name.

    Raises:
        SettingError: an argument is unknown or out of range, or the trainer cannot be scored by the metric.
        TuningError: no trial succeeded.
        OutputError: `out` exists, belongs to another search, or cannot be written.
        KeyboardInterrupt: the search was interrupted before a trial succeeded; later its best result is returned, which
            is not tested.
    """
    if (trials is None) == (seconds is None):
        raise SettingError("a search requires a number of trials or of seconds, and not both")
    check_arguments(tune, trials=trials, seconds=seconds, half=half, size=size)
    if isinstance(trainer, str):
        base = new_trainer(trainer, settings)
    elif settings:
        raise SettingError(f"give {next(iter(settings))} to the trainer itself, or the trainer by its name")
    else:
        base = trainer
    threads, seed = check_threads_and_seed(threads, seed, base)
    check_search(base, out, metric=metric, vary=vary, resume=resume, force=force)
    text = as_corpus(corpus, base)
    scoring = new_metric(
        metric, base, text, labels=labels, half=half, k=k, size=size, validation=validation, threads=threads, seed=seed
    )
    varies_epochs = any(one.partition("=")[0].strip() == EPOCHS for one in vary)
    can_halve = hasattr(base, EPOCHS) and base.accepts_run_options and not varies_epochs
    if halving and not can_halve:
        raise SettingError(f"{S.halving} requires a trainer with epochs, which must not be varied")
    is_halving = can_halve if halving is None else halving
    space = search_space(base, vary, {*fixed, *settings, *scoring.fixed, *[EPOCHS] * is_halving})
    for name in space:
        if name in scoring.fixed:
            raise SettingError(f"{S[name]} cannot be varied with the metric loss: it changes what the loss measures")
    # encoded once for all trials, and after all checks that do not need the text
    with showing(progress, "searching") as shown, text.encode(threads=threads) as encoded:
        ranges = {
            name: ",".join(map(str, one.choices)) if one.choices else f"{one.low:g}..{one.high:g}"
            for name, one in space.items()
        }
        study = {
            "trainer": base.trainer_name, "settings": base, "vary": ranges,
            "metric": scoring.description, "halving": is_halving, "seed": seed, "threads": threads, "size": size,
            "k": k, "corpus": encoded.fingerprint, "test_items": scoring.fingerprint,
        }  # fmt: skip
        folder = None if out is None else StudyFolder.create(out, study, resume=resume, force=force)
        end = math.inf if seconds is None else perf_counter() + seconds
        with nullcontext() if folder is None else folder.removed_without_result():
            part = scoring.training_part(encoded, base)
            source = text if part is encoded else part
            search = Search(base, source, scoring, space, is_halving, threads, seed, end, folder, report, shown)
            search.resume([] if folder is None else folder.trials)
            search.run(trials)
    return search.tuning


def check_search(
    trainer: Trainer, out: str | os.PathLike[str] | None, *, metric: Metrics, vary: Sequence[str], resume: bool,
    force: bool,
) -> None:  # fmt: skip
    """Refuse, before the corpus is read, a search that cannot run here or whose folder exists."""
    if not callable(metric):
        check_metric(metric, trainer)
    if vary:
        search_space(trainer, vary)
    if resume and out is None:
        raise SettingError(f"{S.resume} requires {S.out}, the folder of the search")
    trainer.check_installation()
    import_optuna()
    if out is not None:
        StudyFolder.check(out, resume=resume, force=force)
