"""`embeddings train --autotune-...`: the search of `embeddings tune`, whose best model is saved as a trained one."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import corpus_options, init_options, output_paths, run_options
from embeddings.cli.options import is_given, option
from embeddings.cli.saving import model_writer, save
from embeddings.cli.tune import COMMON, QUANTISED, FileSize, report, search_settings, winning_command
from embeddings.corpora import Corpus
from embeddings.errors import SettingError
from embeddings.kernels.bus_error import report_bus_errors
from embeddings.settings import flag
from embeddings.training.trainer import Trainer

if TYPE_CHECKING:
    from embeddings.eval.tuning import Tuning

LIMITS = ("autotune_trials", "autotune_seconds")
SETS = ("autotune_validation", "autotune_similarity", "autotune_analogy")
NAMES = (*LIMITS, *SETS, "autotune_metric", "autotune_predictions", "autotune_size")
RUN = (*run_options.DEFAULTS, *init_options.DEFAULTS)  # options of a single run
DEFAULT_SECONDS = 300.0  # as in fastText
STOPPED = "the best model so far is saved"
INTERRUPTED = f"{STOPPED}; repeat the command with --resume --force to continue"


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
            option(
                "--autotune-similarity",
                "Search for the settings with the best score on the dev half of this similarity set.",
                "NAME|FILE",
            ),
            option("--autotune-analogy", "The same for analogies; both together use the mean score.", "NAME|FILE"),
        ]
    return [
        *limits,
        option(
            "--autotune-validation", "Search for the settings with the best score on all these labelled texts.", "FILE"
        ),
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
    ]  # fmt: skip


def is_requested(values: dict[str, Any]) -> bool:
    """Whether a search is requested; refuses options that do not go together."""
    names = [name for name in NAMES if values.get(name) is not None]
    if not names:
        return False
    if not any(name in SETS for name in names):
        known = click.get_current_context().params
        raise click.UsageError(f"{flag(names[0])} requires {' or '.join(flag(name) for name in SETS if name in known)}")
    if all(name in names for name in LIMITS):
        raise click.UsageError("--autotune-trials cannot be combined with --autotune-seconds")
    for name in RUN:
        if name != "resume" and is_given(name):
            raise click.UsageError(f"{flag(name)} cannot be combined with {flag(names[-1])}")
    return True


def train_best(
    trainer: Trainer, values: dict[str, Any], *, corpus: tuple[str, ...], out: str, force: bool, seed: int,
    quiet: bool, as_json: bool, threads: int | None = None, resume: bool = False, **text_options: Any,
) -> None:  # fmt: skip
    """Search for settings, and save the best model."""
    report_bus_errors()
    for name in RUN:
        text_options.pop(name, None)
    size = values["autotune_size"]
    if size is not None and Path(out).suffix.lower() != QUANTISED:
        raise SettingError(f"--autotune-size writes a quantised classifier: --out must end in .ftz, got {out}")
    write = model_writer(out, force, is_classifier=trainer.reads_labels, is_quantised=size is not None)
    text = Corpus(*corpus, **corpus_options.corpus_arguments(text_options))
    folder = output_paths.search_folder(out)
    output_paths.check_training_outputs(out, None, text)
    output_paths.check_not_input([folder], output_paths.inputs())
    tuning = search_settings(
        trainer, text, quiet=quiet, threads=threads, seed=seed, halving=False, out=folder, resume=resume, force=force,
        **search_arguments(values),
    )  # fmt: skip
    save(write, tuning.result, out, force)
    finish(tuning, trainer, folder, out, as_json=as_json)


def search_arguments(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `embeddings.tune` that the options mean."""
    trials, seconds = (values[name] for name in LIMITS)
    limits = {"trials": trials, "seconds": (seconds or DEFAULT_SECONDS) if trials is None else None}
    if values["autotune_validation"] is None:
        sets = {kind: values[f"autotune_{kind}"] for kind in ("similarity", "analogy")}
        return limits | {"metric": [f"{kind}:{name}" for kind, name in sets.items() if name is not None]}
    labels = {"labels": values["autotune_validation"], "half": "all", "size": values["autotune_size"]}
    return limits | labels | {"metric": values["autotune_metric"] or "f1", "k": values["autotune_predictions"] or 1}


def finish(tuning: "Tuning", trainer: Trainer, folder: Path, out: str, *, as_json: bool) -> None:
    """Report a search whose result is saved; its folder is kept only to continue an interrupted one."""
    is_resumable = trainer.accepts_run_options  # which --resume is one of
    if not (tuning.is_interrupted and is_resumable):
        shutil.rmtree(folder, ignore_errors=True)
    command = winning_command(tuning, trainer.trainer_name, (*NAMES, *COMMON), out)
    report(tuning, out, out, command, as_json=as_json, interrupted=INTERRUPTED if is_resumable else STOPPED)
