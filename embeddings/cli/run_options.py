"""Options for how training starts and runs: pretrained vectors, checkpoints, logs, early stopping, replicas."""

from collections.abc import Callable
from typing import Any

import click

from embeddings.cli.command_help import Option
from embeddings.cli.options import from_signature, option, require, take_arguments
from embeddings.cli.saving import CONTINUED_MODEL, checkpoint_folder
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.word_rules import recorded_settings
from embeddings.eval.early_stopping import EarlyStopping
from embeddings.models.loading import load, load_model
from embeddings.models.model import Model
from embeddings.models.text_settings import LABEL_PREFIX, label_prefix, phrase_settings
from embeddings.support.local_paths import may_exist
from embeddings.training.callbacks import Callback, RunStart
from embeddings.training.checkpoints import Checkpoints
from embeddings.training.init_vectors import InitFrom
from embeddings.training.replicas import Replicas
from embeddings.training.run_log import RunLog
from embeddings.training.run_options import ClusterBase, RunOptions
from embeddings.training.trainer import Trainer
from embeddings.vectors.vectors import Vectors

INIT = {"duplicates": "--init-duplicates", "freeze": None}  # of `InitFrom`
STOPPING = {  # parameters of `EarlyStopping` and their options
    "similarity": "--stop-similarity NAME|FILE",
    "analogy": "--stop-analogy NAME|FILE",
    "labels": "--stop-labels FILE",
    "validation": "TEXT|SHARE",
    "patience": "--stop-patience N",
    "decay_on_plateau": "N",
}
REPLICAS = {  # parameters of `Replicas` and their options
    "count": "--replicas N",
    "merge_every": "WORDS",
    "rule": "--merge-rule",
}
CLUSTER = {"address": "--cluster", "workers": None}  # parameters of `Cluster`
DEPENDENT = {  # options that a trainer has only if it supports this
    "init": ("init", "init_duplicates", "freeze"),
    "freeze": ("freeze",),
    "continued": ("continued",),
}
CONTINUE = "--continue"


def use_model_settings(ctx: click.Context, parameter: click.Parameter, path: str | None) -> Model | None:
    """Load the model and make its settings the defaults of the command; a configuration file overrides them."""
    if path is None:
        return None
    ctx.meta[CONTINUED_MODEL] = path
    # this option is eager: its defaults must be known before click converts the other options
    model = load_model(path)
    if model.name != ctx.info_name:
        raise click.UsageError(f"{path} is a {model.name} model; continue it with: embeddings train {model.name}")
    text = model.record.get("text")
    known = {str(option.name) for option in ctx.command.params} - {"continued", "phrases"}
    settings = dict(model.settings)
    if isinstance(text, dict):
        settings |= {**text, **recorded_settings(text), **phrase_settings(model)}
    settings |= {LABEL_PREFIX: prefix} if (prefix := label_prefix(model)) else {}
    # of earlier versions; a setting can become repeatable
    repeatable = {option.name for option in ctx.command.params if isinstance(option, click.Option) and option.multiple}
    settings |= {name: [value] for name, value in settings.items() if name in repeatable and isinstance(value, str)}
    defaults = {name: value for name, value in settings.items() if name in known and value is not None}
    ctx.default_map = {**defaults, **(ctx.default_map or {})}
    return model


def add_trainer_name(arguments: list[str]) -> list[str]:
    """Prepend the name of the trainer of the --continue model to the arguments of `train` if they have none."""
    if not arguments or not arguments[0].startswith("-"):
        return arguments
    for word, following in zip(arguments, [*arguments[1:], None], strict=True):
        name, _, value = word.partition("=")
        path = value or following
        if name == CONTINUE and path is not None:
            return [load_model(path).name, *arguments]
    return arguments


NEVER = "never"


OPTIONS: list[click.Option] = [
    option(
        "--init",
        "Initialise words from these pretrained vectors, and other words randomly; without --dim, the dimension is "
        "theirs.",
        "VECTORS",
    ),
    *from_signature(InitFrom, {"duplicates": None}, **INIT),
    Option(
        [CONTINUE, "continued"],
        metavar="MODEL",
        is_eager=True,
        callback=use_model_settings,
        help="Continue training this model on new text: its settings become the defaults, new words are added, "
        "counts are summed.",
    ),
    option(
        "--checkpoint-every",
        "Interval of checkpoints, written to OUT.checkpoints: a time (30s, 10m, 1h) or a number of training words "
        "(500kw, 5Mw). auto: a minute, or longer if writing would take more than 1 % of the time. never: none.",
        "INTERVAL",
        default="auto",
    ),
    *from_signature(RunOptions, resume=None),
    *from_signature(RunLog, path="--log FILE"),
    *from_signature(EarlyStopping, dict.fromkeys(STOPPING), **STOPPING),
    *from_signature(Replicas, {**dict.fromkeys(REPLICAS), "count": 0}, **REPLICAS),
    option(
        "--cluster",
        "Train on the workers of a Ray cluster: local:N for N processes on this machine, auto for the cluster that "
        "this machine belongs to, or the address of its head. Each worker has --threads, by default one, and is a "
        "replica, unless --replicas is set.",
        "auto|local:N|ray://HOST:PORT",
    ),
    option("--workers", "Number of workers of --cluster.  [default: N of local:N, or one for each machine]", 1),
]


def options(trainer: type[Trainer]) -> list[click.Option]:
    """The options of `train` that start and control a run, except options that a trainer does not support."""
    if not trainer.accepts_run_options:
        return []
    left_out = {name for key in trainer.unsupported for name in DEPENDENT[key]}
    left_out |= {"stop_similarity", "stop_analogy"} if trainer.reads_labels else {"stop_labels"}
    if trainer.word_predictor is None and not trainer.reads_vectors:
        left_out.add("validation")
    return [option for option in OPTIONS if option.name not in left_out]


def run_options_for(
    out: str, report: Callable[[str], None], options: dict[str, Any], *, force: bool, threads: int | None,
    labels: LabelFormat | None,
) -> RunOptions:  # fmt: skip
    """The `RunOptions` that the command line asks for.

    Arguments:
        options: the values of the options; they are removed.
    """
    start = {"continued": options.pop("continued", None)}
    init, how = options.pop("init", None), take_arguments(options, INIT)
    for name in DEPENDENT["init"]:
        require(name, "init")
    if init is not None:
        start["init"] = InitFrom(init if isinstance(init, Vectors) else load(init), **how)
    resume, every = options.pop("resume", False), options.pop("checkpoint_every", NEVER)
    callbacks = [resume_reporter(report)] if resume else []
    callbacks += early_stopping(options, labels)
    if (log := options.pop("log", None)) is not None:
        callbacks.append(RunLog(log, append=resume, force=force))
    replicas, of_cluster = take_arguments(options, REPLICAS), take_arguments(options, CLUSTER)
    copies = replicas.pop("count", 0)
    for name in ("merge_every", "merge_rule"):
        require(name, "replicas", "cluster")
    require("workers", "cluster", why="; on this machine alone, use --threads")
    cluster: ClusterBase | None = None
    if "address" in of_cluster:
        from embeddings.cluster.cluster_training import Cluster

        cluster = Cluster(**of_cluster, **replicas, threads_per_worker=threads or 1)
    return RunOptions(
        **start,
        checkpoints=None if every == NEVER else Checkpoints(checkpoint_folder(out), every=every, force=force),
        resume=resume,
        callbacks=callbacks,
        replicas=Replicas(copies, **replicas) if copies or (replicas and cluster is None) else None,
        cluster=cluster,
    )


def early_stopping(options: dict[str, Any], labels: LabelFormat | None) -> list[Callback]:
    """The early stopping that the options ask for, if they do."""
    arguments = take_arguments(options, STOPPING)
    if "validation" in arguments:
        arguments["validation"] = text_or_share(arguments["validation"])
    if "labels" in arguments:
        arguments["label_format"] = labels
    return [EarlyStopping(**arguments)] if arguments else []


def text_or_share(value: str) -> str | float:
    """The path of an existing text, or a share."""
    if not may_exist(value):
        try:
            return float(value)
        except ValueError:
            pass
    return value


def resume_reporter(report: Callable[[str], None]) -> Callback:
    """A callback that reports where training resumes."""

    class ResumeReporter(Callback):
        def on_run_start(self, run_start: RunStart) -> None:
            position = f"Resuming after {run_start.words:,} of {run_start.total_words:,} {run_start.unit}"
            report(position if run_start.words else "No checkpoint found; starting from the beginning")

    return ResumeReporter()
