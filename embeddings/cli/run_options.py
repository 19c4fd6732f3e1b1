"""Options for how training starts and runs: pretrained vectors, checkpoints, logs, early stopping, replicas."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from embeddings.cli.options import ALLOW_PICKLE, is_given, option
from embeddings.cli.saving import CONTINUED_MODEL, checkpoint_folder
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.sources import File, resolve_source
from embeddings.eval.early_stopping import EarlyStopping
from embeddings.kernels.merge_rows import RULES
from embeddings.models.loading import load, load_model
from embeddings.models.model import Model
from embeddings.models.text_settings import LABEL_PREFIX, label_prefix, phrase_settings
from embeddings.settings import flag
from embeddings.support.files import atomic_write
from embeddings.support.remote.address import is_remote
from embeddings.training.callbacks import Callback, RunStart
from embeddings.training.checkpoints import Checkpoints
from embeddings.training.init_vectors import INIT_MODES, InitFrom
from embeddings.training.replicas import MAX_REPLICAS, Replicas, default_interval
from embeddings.training.run_log import RunLog
from embeddings.training.run_options import RemoteTraining, RunOptions
from embeddings.training.trainer import Trainer
from embeddings.vectors.vectors import Vectors

INIT_DEFAULTS = {
    "init": None,
    "init_mode": None,
    "init_duplicates": None,
    "freeze": False,
    "allow_pickle": False,
    "continued": None,
}
DEPENDENT = {  # options that a trainer has only if it supports this
    "init": ("init", "init_mode", "init_duplicates", "freeze", "allow_pickle"),
    "freeze": ("freeze",),
    "continued": ("continued",),
}
CONTINUE = "--continue"


def init_options(trainer: type[Trainer]) -> list[click.Parameter]:
    """The options of `train` that initialise a model, without those that a trainer does not support."""
    if not trainer.accepts_run_options:
        return []
    left_out = {name for key in trainer.unsupported for name in DEPENDENT[key]}
    if len(trainer.init_modes) == 1:
        left_out.add("init_mode")
    return [option for option in all_init_options() if option.name not in left_out]


def all_init_options() -> list[click.Parameter]:
    """All options that initialise a model."""
    return [
        option(
            "--init",
            "Initialise words from these pretrained vectors, and other words randomly; without --dim, the dimension is "
            "theirs.",
            "VECTORS",
        ),
        option(
            "--init-mode",
            "How the vectors of --init are used. initial: training starts from them; concatenate: they are the first "
            "components of the vectors, zeros for other words, and only the remaining components are trained; project: "
            "vectors are their products with a trained matrix, and other words are trained as usual.  "
            "[default: initial]",
            list(INIT_MODES),
        ),
        option(
            "--init-duplicates",
            "Vector of a word that several pretrained words match in lower case: that of the most frequent, or the "
            "average. exact matches only identical spellings.  [default: most-frequent]",
            ["most-frequent", "average", "exact"],
        ),
        option("--freeze", "Do not update the pretrained vectors of --init.", bool),
        ALLOW_PICKLE,
        click.Option(
            [CONTINUE, "continued"],
            metavar="MODEL",
            is_eager=True,
            callback=use_model_settings,
            help="Continue training this model on new text: its settings become the defaults, new words are added, "
            "counts are summed.",
        ),
    ]


def use_model_settings(ctx: click.Context, parameter: click.Parameter, path: str | None) -> Model | None:
    """Load the model and make its settings the defaults of the command; a configuration file overrides them."""
    if path is None:
        return None
    ctx.meta[CONTINUED_MODEL] = path
    model = load_model(path)
    if model.name != ctx.info_name:
        raise click.UsageError(f"{path} is a {model.name} model; continue it with: embeddings train {model.name}")
    from embeddings.corpora.word_rules import recorded_settings

    text = model.record.get("text")
    known = {str(option.name) for option in ctx.command.params} - {"continued", "phrases"}
    settings = dict(model.settings)
    if isinstance(text, dict):
        settings |= {**text, **recorded_settings(text), **phrase_settings(model)}
    settings |= {LABEL_PREFIX: prefix} if (prefix := label_prefix(model)) else {}
    defaults = {name: value for name, value in settings.items() if name in known and value is not None}
    ctx.default_map = {**defaults, **(ctx.default_map or {})}
    return model


def load_vectors(init: str | Vectors, *, allow_pickle: bool) -> Vectors:
    """The vectors of --init, which may be loaded already."""
    return init if isinstance(init, Vectors) else load(init, allow_pickle=allow_pickle)


def default_dim(init: Vectors, mode: str | None, dim: int) -> int:
    """The dimension of a model without --dim, given the vectors of --init and the default of the trainer."""
    return {"concatenate": init.dim + dim, "project": dim}.get(mode or "initial", init.dim)


def run_arguments(
    init: str | Vectors | None, init_mode: Any, init_duplicates: Any, freeze: bool, allow_pickle: bool,
    continued: Model | None,
) -> dict[str, Any]:  # fmt: skip
    """The arguments of `RunOptions` for these options."""
    if init is None:
        init_options = {
            "--init-mode": init_mode,
            "--init-duplicates": init_duplicates,
            "--freeze": freeze,
            "--allow-pickle": allow_pickle,
        }
        for name, value in init_options.items():
            if value:
                raise click.UsageError(f"{name} requires --init")
        return {"continued": continued}
    return {
        "continued": continued,
        "init": InitFrom(
            load_vectors(init, allow_pickle=allow_pickle),
            init_duplicates or "most-frequent",
            freeze,
            init_mode or "initial",
        ),
    }


def add_trainer_name(arguments: list[str]) -> list[str]:
    """Prepend the name of the trainer of the --continue model to the arguments of `train` if they have none."""
    if not arguments or not arguments[0].startswith("-"):
        return arguments
    for word, following in zip(arguments, [*arguments[1:], None], strict=True):
        name, _, value = word.partition("=")
        if name == CONTINUE:
            path = value or following
            if path is None:
                raise click.UsageError(f"{CONTINUE} requires the path of a model")
            return [load_model(path).name, *arguments]
    return arguments


NEVER = "never"
OUTPUT_RECORD = "saved.json"  # in the checkpoint folder: identifies the output that an interrupted run has saved
DEFAULTS = {
    "checkpoint_every": "auto",
    "resume": False,
    "log": None,
    "stop_similarity": None,
    "stop_analogy": None,
    "stop_labels": None,
    "validation": None,
    "stop_patience": None,
    "decay_on_plateau": None,
    "replicas": 0,
    "merge_every": None,
    "merge_rule": None,
    "cluster": None,
    "workers": None,
    "threads_per_worker": None,
    "worker_timeout": None,
}


def options(trainer: type[Trainer]) -> list[click.Parameter]:
    """The options of `train` that control a run; none for a trainer that does not support them."""
    if not trainer.accepts_run_options:
        return []
    left_out = {"stop_similarity", "stop_analogy"} if trainer.reads_labels else {"stop_labels"}
    if trainer.word_predictor is None:
        left_out.add("validation")
    return [option for option in all_options() if option.name not in left_out]


def all_options() -> list[click.Option]:
    """All options that control a run."""
    return [
        option(
            "--checkpoint-every",
            "Interval of checkpoints, written to OUT.checkpoints: a time (30s, 10m, 1h) or a number of training words "
            "(500kw, 5Mw). auto: a minute, or longer if writing would take more than 1 % of the time. never: none.",
            "INTERVAL",
            default="auto",
        ),
        option("--resume", "Resume from the last checkpoint, if there is one.", bool),
        option("--log", "Write progress to this file as JSON lines; --resume appends.", "FILE"),
        option(
            "--stop-similarity",
            "Score each epoch on the dev half of this similarity set, stop when the score no longer improves, and save "
            "the best epoch.",
            "NAME|FILE",
        ),
        option(
            "--stop-analogy", "Like --stop-similarity, with analogies; both together use the mean score.", "NAME|FILE"
        ),
        option(
            "--stop-labels",
            "Score each epoch on these labelled texts by the F1 of the predicted label, stop when the score no longer "
            "improves, and save the best epoch.",
            "FILE",
        ),
        option(
            "--validation",
            "Measure the loss of held-out text after each epoch, stop when it no longer falls, and save the best "
            "epoch: a text, or a share such as 0.05 that is cut from CORPUS and not trained on.",
            "TEXT|SHARE",
        ),
        option("--stop-patience", "Stop after this many epochs without improvement.  [default: 2]", 1),
        option(
            "--decay-on-plateau",
            "Where early stopping would stop, halve the learning rate and continue from the best "
            "epoch, at most N times; use it with --schedule constant.",
            1,
            metavar="N",
        ),
        *replica_options(),
    ]


def replica_options() -> list[click.Option]:
    """The options of replicas."""
    return [
        option(
            "--replicas",
            "Train N copies of all tables, each on a share of the corpus, and merge them at regular intervals: the "
            "result is bit-reproducible with any number of threads. 0: threads update the same tables without locks.",
            (0, MAX_REPLICAS),
            metavar="N",
            default=0,
        ),
        option(
            "--merge-every",
            "Words that each replica reads between two merges; fewer at the start.  [default: "
            f"{default_interval(2):,} for 2 replicas, {default_interval(4):,} for 4, {default_interval(5):,} for more]",
            1,
            metavar="WORDS",
        ),
        option(
            "--merge-rule",
            f"How changes of a row by several replicas are combined.  [default: {Replicas.rule}]",
            list(RULES),
        ),
        *cluster_options(),
    ]


def cluster_options() -> list[click.Option]:
    """The options of training on several machines."""
    return [
        option(
            "--cluster",
            "Train on the workers of a Ray cluster: local:N for N processes on this machine, auto for the cluster that "
            "this machine belongs to, or the address of its head. Each worker is a replica, unless --replicas is set.",
            "auto|local:N|ray://HOST:PORT",
        ),
        option("--workers", "Number of workers of --cluster.  [default: N of local:N, or one for each machine]", 1),
        option(
            "--threads-per-worker",
            "Threads of each worker, which update its tables without locks, or train its share of --replicas.  "
            "[default: 1]",
            1,
        ),
        option(
            "--worker-timeout",
            "Replace a worker that needs this many seconds longer for an interval than half of the others; the result "
            "stays the same.  [default: 300]",
            1.0,
            metavar="SECONDS",
        ),
    ]


def replicas_for(count: int, merge_every: int | None, merge_rule: Any, has_cluster: bool = False) -> Replicas | None:
    """The replicas that the options ask for; with a cluster, these are its workers unless there are more."""
    changes = {"merge_every": merge_every, "rule": merge_rule}
    given = {name: value for name, value in changes.items() if value is not None}
    if count == 0 and given and not has_cluster:
        raise click.UsageError("--merge-every and --merge-rule require --replicas or --cluster")
    return Replicas(count, **given) if count else None


def cluster_for(address: str | None, options: dict[str, Any]) -> RemoteTraining | None:
    """The cluster that the options ask for."""
    given = {name: value for name, value in options.items() if value is not None}
    if address is None:
        for name in ("workers", "threads_per_worker", "worker_timeout"):
            if name in given:
                raise click.UsageError(f"{flag(name)} requires --cluster; on this machine alone, use --threads")
        return None
    from embeddings.cluster.ray_cluster import Cluster

    return Cluster(address, **given)


def run_options_for(
    out: str, trainer: Trainer, report: Callable[[str], None], *, init: dict[str, Any], force: bool,
    checkpoint_every: str, resume: bool, replicas: int = 0, merge_every: int | None = None,
    merge_rule: str | None = None, cluster: str | None = None, workers: int | None = None,
    threads_per_worker: int | None = None, worker_timeout: float | None = None,
    labels: LabelFormat | None = None, **callback_options: Any,
) -> RunOptions:  # fmt: skip
    """The `RunOptions` that the command line asks for."""
    checkpoints = None
    if checkpoint_every != NEVER and trainer.accepts_run_options:
        checkpoints = Checkpoints(checkpoint_folder(out), every=checkpoint_every, force=force)
    elif resume:
        raise click.UsageError(f"--resume requires checkpoints: leave out --checkpoint-every {NEVER}")
    callbacks = [resume_reporter(report)] if resume else []
    callbacks += callbacks_for(resume, force, labels, **callback_options)
    copies = replicas_for(replicas, merge_every, merge_rule, cluster is not None)
    sizes = {"workers": workers, "threads_per_worker": threads_per_worker, "worker_timeout": worker_timeout}
    remote = cluster_for(cluster, {**sizes, "merge_every": merge_every, "rule": merge_rule})
    return RunOptions(
        **init, checkpoints=checkpoints, resume=resume, callbacks=callbacks, replicas=copies, cluster=remote,
        rate_advice=not is_given("learning_rate"),
    )  # fmt: skip


def callbacks_for(
    resume: bool, force: bool, labels: LabelFormat | None, *, log: str | None, stop_similarity: str | None,
    stop_analogy: str | None, stop_labels: str | None, validation: str | None, stop_patience: int | None,
    decay_on_plateau: int | None,
) -> list[Callback]:  # fmt: skip
    """The callbacks that the options ask for."""
    callbacks: list[Callback] = []
    sets: dict[str, Any] = {"similarity": stop_similarity or (), "analogy": stop_analogy or ()}
    if stop_labels is not None:
        sets = {"labels": stop_labels, "label_format": labels}
    if validation is not None:
        if any(sets.values()):
            raise click.UsageError("--validation cannot be combined with --stop-similarity or --stop-analogy")
        sets = {"validation": text_or_share(validation)}
    if any(sets.values()):
        callbacks.append(EarlyStopping(**sets, patience=stop_patience or 2, decay_on_plateau=decay_on_plateau or 0))
    for name, value in (("--stop-patience", stop_patience), ("--decay-on-plateau", decay_on_plateau)):
        if value is not None and not callbacks:
            options = "--stop-similarity, --stop-analogy or --validation" if labels is None else "--stop-labels"
            raise click.UsageError(f"{name} requires {options}")
    if log is not None:
        callbacks.append(RunLog(log, append=resume, force=force))
    return callbacks


def text_or_share(value: str) -> str | float:
    """The path of an existing text, or a share."""
    if not (is_remote(value) or Path(value).exists()):
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


def record_saved_output(checkpoints: Checkpoints, out: str) -> None:
    """Record that an interrupted run has saved `out`, so that resuming may replace it."""
    with atomic_write(checkpoints.folder / OUTPUT_RECORD, force=True) as path:
        path.write_text(json.dumps(file_identity(out)), encoding="utf-8")


def is_saved_by_interrupted_run(out: str) -> bool:
    """Whether `out` was saved by the interrupted run that left the checkpoints next to it."""
    try:
        recorded = json.loads((Checkpoints(checkpoint_folder(out)).folder / OUTPUT_RECORD).read_text(encoding="utf-8"))
        return bool(recorded == file_identity(out))
    except (OSError, ValueError):
        return False


def file_identity(path: str) -> list[Any]:
    """Distinguishes a file or folder from another one of the same name."""
    if is_remote(path):
        return [source.status().identity for source in resolve_source(path) if isinstance(source, File)]
    status = Path(path).stat()
    return [status.st_ino, status.st_mtime_ns, status.st_size]


def remove_checkpoints(checkpoints: Checkpoints | None, out: str) -> None:
    """Remove the checkpoints of a run whose model is saved."""
    if checkpoints is not None:
        (checkpoints.folder / OUTPUT_RECORD).unlink(missing_ok=True)
        checkpoints.remove_all()
