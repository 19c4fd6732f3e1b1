"""Search for the settings of a trainer in one call."""

import math
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Annotated, Any, Literal

from embeddings.corpora.corpus import Corpus
from embeddings.errors import S, SettingError
from embeddings.eval.tuning.metrics import Metrics, check_metric, new_metric
from embeddings.eval.tuning.search import EPOCHS, Search, describe_space, import_optuna, search_space
from embeddings.eval.tuning.study_folder import StudyFolder, Trial, Tuning
from embeddings.settings import Positive, Range, check_arguments
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.training.train import new_trainer
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import as_corpus, check_threads_and_seed

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
    size: int | None = None,
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
            given values, as in initializer=normal,xavier. By default all settings with a range, unless they are set,
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
        out: the folder of the search: trials, the best model, tables and a picture; none by default. If no trial
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
    check_arguments(tune, trials=trials, seconds=seconds, half=half)
    base, constant = as_trainer(trainer, settings), {*fixed, *settings}
    threads, seed = check_threads_and_seed(threads, seed, base)
    check_search(base, out, metric=metric, vary=vary, resume=resume, force=force)
    text = as_corpus(corpus, base)
    scoring = new_metric(
        metric, base, text, labels=labels, half=half, k=k, size=size, validation=validation, threads=threads, seed=seed
    )
    is_halving = uses_halving(base, halving, vary)
    space = search_space(base, vary, constant | set(scoring.fixed) | ({EPOCHS} if is_halving else set()))
    for name in space:
        if name in scoring.fixed:
            raise SettingError(f"{S[name]} cannot be varied with the metric loss: it changes what the loss measures")
    with showing(progress, "searching") as shown, text.encode(threads=threads) as encoded:
        study = {
            "trainer": base.trainer_name, "settings": base, "vary": describe_space(space),
            "metric": scoring.description, "halving": is_halving, "seed": seed, "threads": threads, "size": size,
            "k": k, "corpus": encoded.fingerprint, "test_items": scoring.fingerprint,
        }  # fmt: skip
        folder, earlier = None, list[Trial]()
        if out is not None:
            folder, earlier = StudyFolder.create(out, study, resume=resume, force=force)
        end = math.inf if seconds is None else perf_counter() + seconds
        with nullcontext() if folder is None else folder.removed_without_result():
            part = scoring.training_part(encoded, base)
            source = text if part is encoded else part
            search = Search(base, source, scoring, space, is_halving, threads, seed, end, folder, report, shown)
            search.resume(earlier)
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


def as_trainer(trainer: str | Trainer, settings: dict[str, Any]) -> Trainer:
    """The trainer with the given settings."""
    if isinstance(trainer, str):
        return new_trainer(trainer, settings)
    if settings:
        raise SettingError(f"give {next(iter(settings))} to the trainer itself, or the trainer by its name")
    return trainer


def uses_halving(trainer: Trainer, halving: bool | None, vary: Sequence[str]) -> bool:
    """Whether trials can be ended early; refuses what excludes it."""
    varies_epochs = any(one.partition("=")[0].strip() == EPOCHS for one in vary)
    is_possible = hasattr(trainer, EPOCHS) and trainer.accepts_run_options
    if halving and varies_epochs:
        raise SettingError(f"{S.halving} cannot be combined with varied epochs: trials are compared at equal epochs")
    if halving and not is_possible:
        raise SettingError(f"{trainer.trainer_name} is not trained in epochs that can be scored: leave out halving")
    return is_possible and not varies_epochs if halving is None else halving
