"""`embeddings train --autotune-...`: a search for the settings that score best."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import corpus_options, init_options, output_paths, run_options
from embeddings.cli.options import is_given, option
from embeddings.cli.output import note, print_json, print_rows
from embeddings.cli.progress_bar import ReadingBar, TrainingBar
from embeddings.cli.saving import model_writer, save
from embeddings.cli.signals import EXIT_INTERRUPT
from embeddings.corpora import Corpus
from embeddings.errors import SettingError
from embeddings.kernels.bus_error import report_bus_errors
from embeddings.kernels.compile_process import compiling
from embeddings.settings import field_types, flag
from embeddings.support.jsonable import to_jsonable
from embeddings.training.compile_ahead import training_work
from embeddings.training.trainer import Trainer

if TYPE_CHECKING:
    from embeddings.eval.tuning import Judgement, Trial, Tuning
    from embeddings.models.model import Model

LIMITS = ("autotune_trials", "autotune_seconds")
LABEL_SETS, WORD_SETS = ("autotune_validation",), ("autotune_similarity", "autotune_analogy")
LABEL_OPTIONS = (*LABEL_SETS, "autotune_metric", "autotune_predictions", "autotune_size")
NAMES = (*LIMITS, *LABEL_OPTIONS, *WORD_SETS)
DEFAULT_SECONDS = 300.0  # as in fastText
UNITS = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}


class FileSize(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click
    """A size in bytes, such as 500k or 2M."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        number, unit = (value[:-1], UNITS[value[-1]]) if value[-1:] in UNITS else (value, 1)
        try:
            size = round(float(number) * unit)
        except (ValueError, OverflowError):
            size = 0
        if size < 1:
            self.fail(f"{value!r} is not a size such as 500k or 2M", param, ctx)
        return size


def options(trainer: type[Trainer]) -> list[click.Parameter]:
    """The options of a search."""
    limits = [
        option("--autotune-trials", "Search for the best settings in N trials.", 1, metavar="N"),
        option(
            "--autotune-seconds",
            "Seconds to search for the best settings.  [default: 300]",
            "SECONDS",
            type=click.FloatRange(0, min_open=True),
        ),
    ]
    if not trainer.reads_labels:
        return [
            *limits,
            option("--autotune-similarity", "Search for settings with the best score on this set.", "NAME|FILE"),
            option("--autotune-analogy", "The same for analogies; both together use the mean score.", "NAME|FILE"),
        ]  # fmt: skip
    return [
        *limits,
        option("--autotune-validation", "Search for settings with the best score on these labelled texts.", "FILE"),
        option(
            "--autotune-metric",
            "Score: f1, precision or recall, over all labels or of one, as in f1:LABEL; macro-f1; or "
            "precision-at-recall:PERCENT or recall-at-precision:PERCENT, also with :LABEL.  [default: f1]",
            "METRIC",
        ),
        option("--autotune-predictions", "Labels to predict for each validation text.  [default: 1]", 1, metavar="K"),
        option(
            "--autotune-size",
            "Quantise the model so that its file has at most this size, such as 2M; OUT is then an .ftz file.",
            "SIZE",
            type=FileSize(),
        ),
    ]


def is_requested(values: dict[str, Any]) -> bool:
    """Whether a search is requested; refuses options that do not go together."""
    names = [name for name in NAMES if values.get(name) is not None]
    if not names:
        return False
    if not any(name in (*LABEL_SETS, *WORD_SETS) for name in names):
        sets = [flag(name) for name in (*LABEL_SETS, *WORD_SETS) if name in values]
        raise click.UsageError(f"{flag(names[0])} requires {' or '.join(sets)}")
    if all(name in names for name in LIMITS):
        raise click.UsageError("--autotune-trials cannot be combined with --autotune-seconds")
    for name in (*run_options.DEFAULTS, *init_options.DEFAULTS):
        if is_given(name):
            raise click.UsageError(f"{flag(name)} cannot be combined with {flag(names[-1])}")
    return True


def train_best(
    trainer: Trainer, search: dict[str, Any], *, corpus: tuple[str, ...], out: str, force: bool, seed: int,
    quiet: bool, as_json: bool, threads: int | None = None, **text_options: Any,
) -> None:  # fmt: skip
    """Search for settings, and save the best model."""
    from embeddings.eval.tuning import tune

    report_bus_errors()
    for name in (*run_options.DEFAULTS, *init_options.DEFAULTS):
        text_options.pop(name, None)
    size = search.get("autotune_size")
    check_size_and_output(size, out)
    write = model_writer(out, force, is_classifier=trainer.reads_labels, is_quantised=size is not None)
    text = Corpus(*corpus, **corpus_options.corpus_arguments(text_options))
    output_paths.check_training_outputs(out, None, text)
    judge = label_judge(text, search, seed, threads) if trainer.reads_labels else word_judge(search)
    bar = TrainingBar(quiet, "searching")
    with ReadingBar(quiet) as reading, compiling(training_work(trainer)):
        encoded = text.encode(report=reading, threads=threads)
    with encoded:
        reading.summarize(encoded)
        with bar:
            tuning = tune(
                trainer, text, judge, trials=search["autotune_trials"],
                seconds=search_seconds(search), fixed=[name for name in field_types(type(trainer)) if is_given(name)],
                threads=threads, seed=seed, report=lambda trial: bar.report(describe(trial)),
            )  # fmt: skip
    save(write, tuning.result, out, force)
    report(tuning, out, as_json=as_json)


def search_seconds(search: dict[str, Any]) -> float | None:
    """The seconds of a search without a number of trials."""
    if search["autotune_trials"] is not None:
        return None
    return DEFAULT_SECONDS if search["autotune_seconds"] is None else search["autotune_seconds"]


def check_size_and_output(size: int | None, out: str) -> None:
    """Quantised classifiers are written as .ftz files, and no others are."""
    if size is not None and Path(out).suffix.lower() != ".ftz":
        raise SettingError(f"--autotune-size writes a quantised classifier: --out must end in .ftz, got {out}")


def label_judge(text: Corpus, search: dict[str, Any], seed: int, threads: int | None) -> "Callable[[Model], Judgement]":
    """What scores a classifier, after quantising it if its size is limited."""
    from embeddings.eval.tuning import Judgement
    from embeddings.eval.tuning.label_judge import LabelJudge
    from embeddings.eval.tuning.model_size import quantize_to_size

    assert text.labels is not None
    metric, k = search["autotune_metric"] or "f1", search["autotune_predictions"] or 1
    judge = LabelJudge.read(
        search["autotune_validation"],
        text.labels,
        metric,
        k=k,
        threads=threads,
        encoding=text.encoding,
        encoding_errors=text.encoding_errors,
    )
    size = search["autotune_size"]

    def score(model: "Model") -> Judgement:
        if size is None:
            return Judgement(judge(model.classifier), model)
        small, cutoff = quantize_to_size(model.classifier, size, seed)
        return Judgement(judge(small), small, {"cutoff": cutoff})

    return score


def word_judge(search: dict[str, Any]) -> "Callable[[Model], Judgement]":
    """What scores word vectors: the mean over similarity and analogies."""
    from embeddings.eval.early_stopping import mean_score
    from embeddings.eval.suite import Suite
    from embeddings.eval.tuning import Judgement

    similarity, analogy = search["autotune_similarity"] or (), search["autotune_analogy"] or ()
    suite = Suite.read(similarity=similarity, analogy=analogy, restrict=None)
    return lambda model: Judgement(mean_score(suite, model), model)


def describe(trial: "Trial") -> str:
    """A trial as a line."""
    settings = " ".join(f"{flag(name)} {value}" for name, value in trial.settings.items())
    result = f"score {trial.score:.4f}" if trial.score is not None else f"failed: {trial.reason}"
    return f"trial {trial.number}: {result}, {trial.seconds:.1f} s  {settings}"


def report(tuning: "Tuning", out: str, *, as_json: bool) -> None:
    """Print the trials and the command that repeats the best one."""
    rows = [row(trial, tuning) for trial in tuning.trials]
    command = winning_command(tuning)
    if as_json:
        assert tuning.best is not None
        best = {"trial": tuning.best.number, "score": tuning.best.score, "command": command}
        print_json(to_jsonable({"out": out, **best, "interrupted": tuning.is_interrupted, "trials": rows}))
    else:
        print_rows(rows)
        note(f"saved trial {tuning.best and tuning.best.number} to {out}; the command that trains it:")
        note(command)
    if tuning.is_interrupted:
        raise click.exceptions.Exit(EXIT_INTERRUPT)


def row(trial: "Trial", tuning: "Tuning") -> dict[str, Any]:
    """A trial as a row of the table, with the settings and details of all trials as columns."""
    settings = dict.fromkeys(name for one in tuning.trials for name in one.settings)
    details = dict.fromkeys(name for one in tuning.trials for name in one.details)
    values = {name: trial.settings.get(name) for name in settings} | {name: trial.details.get(name) for name in details}
    score = trial.score if trial.score is not None else f"failed: {trial.reason}"
    best = "best" if trial is tuning.best else ""
    return {"trial": trial.number, "score": score, "best": best, "seconds": round(trial.seconds, 2), **values}


def winning_command(tuning: "Tuning") -> str:
    """The command line that trains with the best settings, and quantises if the size is limited."""
    context = click.get_current_context()
    out = context.params["out"]
    folder = out if context.params.get("autotune_size") is None else str(Path(out).with_suffix(""))
    words = ["embeddings", *context.command_path.split()[1:]]
    assert tuning.best is not None
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        if isinstance(parameter, click.Argument):
            words += value or ()
        elif name in (*NAMES, "config", "force", "as_json", "quiet") or not is_given(name) or value is None:
            continue
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0] if value else (parameter.secondary_opts or parameter.opts)[0])
        else:
            words += ["-o", folder] if name == "out" else [parameter.opts[0], str(value)]
    for name, value in tuning.best.settings.items():
        words += [flag(name), str(value)]
    if folder == out:
        return shlex.join(words)
    quantize = ["embeddings", "quantize", folder, "-o", out, "--cutoff", str(tuning.best.details["cutoff"]), "--qnorm"]
    quantize += ["--qout"] * (tuning.result.quantised_output is not None)
    quantize += ["--seed", str(context.params["seed"])] * is_given("seed")
    return f"{shlex.join(words)} && {shlex.join(quantize)}"
