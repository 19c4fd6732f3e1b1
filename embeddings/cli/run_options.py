"""How a run is carried out, as options: checkpoints, going on from them, a log, an early end."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli.output_paths import checkpoints_beside

if TYPE_CHECKING:
    from embeddings.training.callbacks import Callback
    from embeddings.training.checkpoints import Checkpoints
    from embeddings.training.run_options import Conduct

NEVER = "never"
SAVED = "saved.json"  # beside checkpoints: which output an interrupted run has saved
NAMES = ("checkpoint_every", "resume", "log", "stop_similarity", "stop_analogy", "stop_patience")


def options() -> list[click.Parameter]:
    """The options of a run."""
    return [
        click.Option(
            ["--checkpoint-every"],
            metavar="EVERY",
            default="auto",
            show_default=True,
            help="Write a checkpoint to OUT.checkpoints every 30s, 10m or 1h, or every 500kw or 5Mw, words of the "
            "corpus. auto: every minute, or so rarely that it takes less than 1 % of the time. never: none.",
        ),
        click.Option(
            ["--resume"], is_flag=True, help="Go on from the last checkpoint; from the beginning where there is none."
        ),
        click.Option(
            ["--log"], metavar="FILE", help="Write how the run goes as lines of JSON; --resume goes on with them."
        ),
        click.Option(
            ["--stop-similarity"],
            metavar="SET",
            help="Judge the vectors after each epoch by a similarity set, a name or a file; end when they get no "
            "better, and save the best.",
        ),
        click.Option(["--stop-analogy"], metavar="SET", help="The same by an analogy set; of both, by the mean."),
        click.Option(
            ["--stop-patience"], type=click.IntRange(1), help="Epochs without gain after which it ends.  [default: 2]"
        ),
    ]


def conduct_of(
    out: str, trainer: Any, say: Callable[[str], None], *, start: dict[str, Any], force: bool, checkpoint_every: str,
    resume: bool, **more: Any,
) -> "Conduct":  # fmt: skip
    """What the options ask for; checked, before hours of work.

    Raises:
        SettingError: they are wrong, or the trainer does not know what they ask for.
        OutputError: the log exists, or there are checkpoints.
        FormatError: a set cannot be read.
    """
    from embeddings.training.checkpoints import Checkpoints
    from embeddings.training.run_options import Conduct, arguments, takes_conduct

    source = click.get_current_context().get_parameter_source("checkpoint_every")
    unasked = source in (None, click.core.ParameterSource.DEFAULT) and not resume
    checkpoints = None
    if checkpoint_every != NEVER and (takes_conduct(trainer) or not unasked):
        checkpoints = Checkpoints(checkpoints_beside(out), every=checkpoint_every, force=force)
    elif resume:
        raise click.UsageError(f"--resume goes on from checkpoints: leave out --checkpoint-every {NEVER}")
    callbacks = told_by(say, resume) if resume else []
    callbacks += asked(resume, force, **more)
    conduct = Conduct(**start, checkpoints=checkpoints, resume=resume, callbacks=callbacks)
    name = str(click.get_current_context().info_name)
    arguments(trainer, name, conduct)
    conduct.check(name, trainer)
    return conduct


def check_resumed(conduct: "Conduct", trainer: Any, threads: int | None, seed: int) -> None:
    """Refuse to go on from checkpoints of another run, before the corpus is read.

    Raises:
        CheckpointError: naming what differs.
    """
    if conduct.resume:
        from embeddings.training.task import run_settings

        own = (str(click.get_current_context().info_name), trainer)
        name, settings = getattr(trainer, "learner", own)
        threads, seed = run_settings(threads, seed)
        conduct.check_resumed(name, settings, threads, seed)


def asked(
    resume: bool, force: bool, *, log: str | None, stop_similarity: str | None, stop_analogy: str | None,
    stop_patience: int | None,
) -> "list[Callback]":  # fmt: skip
    """The callbacks of the options."""
    from embeddings.eval.early_stopping import EarlyStopping
    from embeddings.training.run_log import RunLog

    found: list[Callback] = []
    if stop_similarity is not None or stop_analogy is not None:
        found.append(
            EarlyStopping(similarity=stop_similarity or (), analogy=stop_analogy or (), patience=stop_patience or 2)
        )
    elif stop_patience is not None:
        raise click.UsageError("--stop-patience is of use only with --stop-similarity or --stop-analogy")
    if log is not None:
        found.append(RunLog(log, append=resume, force=force))
    return found


def told_by(say: Callable[[str], None], resume: bool) -> "list[Callback]":
    """What says where a run goes on from."""
    from embeddings.training.callbacks import Begin, Callback

    class Told(Callback):
        def begin(self, begin: Begin) -> None:
            went = f"going on after {begin.words:,} of {begin.of_words:,} words"
            say(went if begin.words else "there is no checkpoint yet: from the beginning")

    return [Told()]


def note_saved(checkpoints: "Checkpoints", out: str) -> None:
    """Take down that an interrupted run has saved what it had: going on from its checkpoint replaces that."""
    from embeddings.support.files import replacing

    if checkpoints.found():
        with replacing(checkpoints.folder / SAVED, force=True) as fresh:
            fresh.write_text(json.dumps(identity(out)), encoding="utf-8")


def was_saved(out: str) -> bool:
    """Whether what is there now was saved by an interrupted run whose checkpoints are beside it."""
    try:
        known = json.loads((checkpoints_beside(out) / SAVED).read_text(encoding="utf-8"))
        return bool(known == identity(out))
    except (OSError, ValueError):
        return False


def identity(out: str) -> list[int]:
    """What tells a file or folder from one that was written in its place."""
    status = Path(out).stat()
    return [status.st_ino, status.st_mtime_ns, status.st_size]


def finished(checkpoints: "Checkpoints | None", out: str) -> None:
    """Remove the checkpoints of a run whose model is saved."""
    if checkpoints is not None:
        (checkpoints_beside(out) / SAVED).unlink(missing_ok=True)
        checkpoints.sweep(everything=True)
