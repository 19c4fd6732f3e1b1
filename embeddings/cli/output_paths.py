"""Where a command reads and where it writes, kept apart: no input is lost to an output."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from embeddings.errors import SettingError

if TYPE_CHECKING:
    from embeddings.corpora import Corpus

Inputs = Sequence[tuple[str, Path]]  # what is read, each with the option or argument that names it
CONTINUED = "embeddings.continued"  # where the path of the model of --continue is, in a command's context
CONFIG = "embeddings.config"  # and that of --config
READ = ("init", "continue", "vocab", "phrases", "stop_similarity", "stop_analogy", "config")
RENEWED = ("--init", "--continue")  # what may be replaced by what is learned from it, if that is asked for by name


def within(path: str | os.PathLike[str], place: str | os.PathLike[str]) -> bool:
    """Whether a path is that place, or lies in it."""
    inner, outer = Path(path).resolve(), Path(place).resolve()
    return inner == outer or outer in inner.parents


def is_vector_file(out: str) -> bool:
    """Whether vectors alone are saved there, and no whole model."""
    from embeddings.vectors import format_dispatch

    return Path(out).suffix.lower() in format_dispatch.endings() and not Path(out).is_dir()


def written(out: str) -> list[Path]:
    """The folder, or the files, that saving at `out` leaves."""
    from embeddings.vectors import format_dispatch

    if not is_vector_file(out):
        return [Path(out)]
    return format_dispatch.plan(out, format=None, counts=None, options={})[1]


def checkpoints_beside(out: str) -> Path:
    """The folder of the checkpoints of what is saved there."""
    target = Path(out)
    return target.with_name(f"{target.name}.checkpoints")


def inputs() -> Inputs:
    """What the options of the command name that is read, beside its corpus; not names of sets, nor "auto"."""
    context = click.get_current_context()
    given = {**context.params, "continue": context.meta.get(CONTINUED), "config": context.meta.get(CONFIG)}
    read = [(f"--{name.replace('_', '-')}", Path(given[name])) for name in READ if given.get(name)]
    return [(option, path) for option, path in read if path.exists()]


def check_run(out: str, log: str | None, corpus: "Corpus") -> None:
    """Refuse places for a model and its log where something would be lost.

    Raises:
        SettingError: naming what.
    """
    check_apart(out, corpus)
    check_apart(log, corpus, "--log")
    check_spared(written(out), inputs())
    check_spared([checkpoints_beside(out)], inputs())
    check_log(log, out)


def check_apart(out: str | None, corpus: "Corpus", option: str = "--out") -> None:
    """Refuse an output of which a file is a part of the corpus, or would become one.

    Raises:
        SettingError: it is a file of the corpus or lies in a folder that was given as one.
    """
    for target in written(out) if out else []:
        for path in corpus.paths:
            if within(target, path):
                raise SettingError(f"{option} {target} is a part of the corpus {path}; choose another place")


def check_spared(targets: Sequence[Path], read: Inputs, *, renewed: Sequence[str] = RENEWED) -> None:
    """Refuse outputs, the one that was asked for first, that would replace what is read, or what is not theirs.

    What is asked for by name may replace the inputs of the options in `renewed`.

    Raises:
        SettingError: naming both.
        OutputError: as `format_dispatch.check_beside`.
    """
    from embeddings.vectors import format_dispatch

    for number, target in enumerate(targets):
        for option, path in read:
            if number == 0 and option in renewed and target.resolve() == path.resolve():
                continue
            if within(path, target) or (within(target, path) and target.exists()):
                raise SettingError(f"{target} would be written over {option} {path}; choose another place")
    format_dispatch.check_beside(targets)


def check_log(log: str | None, out: str) -> None:
    """Refuse a log in the place of what the run saves or has read, or within it: one of them would be lost.

    A log of its own in a folder that is read replaces nothing.

    Raises:
        SettingError: naming both.
    """
    from embeddings.training.run_log_reader import starts_log

    if log is None:
        return
    own = not os.path.lexists(log) or (Path(log).is_file() and starts_log(Path(log)))
    found = [("--out", path) for path in written(out)] + [("the checkpoints", checkpoints_beside(out))]
    found += [(option, path) for option, path in inputs() if not own or within(path, log)]
    for option, path in found:
        if within(log, path):
            raise SettingError(f"--log {log} is in the place of {option} {path}, or within it; choose another")
