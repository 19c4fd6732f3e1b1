"""Checks that no output replaces an input."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from embeddings.errors import SettingError
from embeddings.training.run_log_reader import is_log_file
from embeddings.vectors import format_dispatch

if TYPE_CHECKING:
    from embeddings.corpora import Corpus

Inputs = Sequence[tuple[str, Path]]  # files that a command reads, with the options that name them
CONTINUED_MODEL, CONFIG = "embeddings.continued", "embeddings.config"  # keys of paths in the click context
INPUT_OPTIONS = (
    "init",
    "continue",
    "vocabulary",
    "phrases",
    "stop_similarity",
    "stop_analogy",
    "stop_labels",
    "validation",
    "labels",
    "autotune_validation",
    "autotune_similarity",
    "autotune_analogy",
    "config",
)
REPLACEABLE = ("--init", "--continue")  # inputs that the output may replace if it is given the same path
CLASSIFIER_FILES = (".bin", ".ftz")  # of fastText


def is_within(path: str | os.PathLike[str], place: str | os.PathLike[str]) -> bool:
    """Whether a path is `place` or lies inside it."""
    return Path(path).resolve().is_relative_to(Path(place).resolve())


def keeps_classifier(out: str) -> bool:
    """Whether a trained classifier is saved at this path as a whole, not only its vectors."""
    return not is_vector_file(out) or Path(out).suffix.lower() in CLASSIFIER_FILES


def is_vector_file(out: str) -> bool:
    """Whether `out` names a vector file rather than a model folder."""
    return Path(out).suffix.lower() in format_dispatch.extensions() and not Path(out).is_dir()


def output_files(out: str) -> list[Path]:
    """The files, or the folder, that saving at `out` writes."""
    if not is_vector_file(out):
        return [Path(out)]
    return list(format_dispatch.output_files(out, format=None, counts=None, options={}))


def checkpoint_folder(out: str) -> Path:
    """The folder of the checkpoints of a model saved at `out`."""
    return Path(out).with_name(f"{Path(out).name}.checkpoints")


def search_folder(out: str) -> Path:
    """The folder of the search whose best model is saved at `out`."""
    return Path(out).with_name(f"{Path(out).name}.search")


def inputs() -> Inputs:
    """The files that the options of the current command name, the corpus excepted."""
    context = click.get_current_context()
    paths = {**context.params, "continue": context.meta.get(CONTINUED_MODEL), "config": context.meta.get(CONFIG)}
    named = [(f"--{name.replace('_', '-')}", Path(paths[name])) for name in INPUT_OPTIONS if paths.get(name)]
    return [(option, path) for option, path in named if path.exists()]  # others name built-in sets or "auto"


def check_training_outputs(out: str, log: str | None, corpus: "Corpus") -> None:
    """Refuse paths for a model, its checkpoints and its log that would replace an input."""
    check_outside_corpus(out, corpus)
    check_outside_corpus(log, corpus, "--log")
    check_not_input(output_files(out), inputs())
    check_not_input([checkpoint_folder(out)], inputs())
    check_log(log, out)


def check_outside_corpus(out: str | None, corpus: "Corpus", option: str = "--out") -> None:
    """Refuse an output that is a file of the corpus or lies in a corpus folder."""
    for target in output_files(out) if out else []:
        for path in corpus.paths:
            if is_within(target, path):
                raise SettingError(f"{option} {target} is part of the corpus {path}; choose another path")


def check_not_input(targets: Sequence[Path], inputs: Inputs, *, replaceable: Sequence[str] = REPLACEABLE) -> None:
    """Refuse targets that would replace an input or an unrelated file.

    The first target, which the user has named, may replace an input of the options in `replaceable`.
    """
    for number, target in enumerate(targets):
        for option, path in inputs:
            if number == 0 and option in replaceable and target.resolve() == path.resolve():
                continue
            if is_within(path, target) or (is_within(target, path) and target.exists()):
                raise SettingError(f"output {target} would overwrite {option} {path}; choose another path")
    format_dispatch.check_companions(targets)


def check_log(log: str | None, out: str) -> None:
    """Refuse a log in an output, or in place of an input; a new log in an input folder is allowed."""
    if log is None:
        return
    is_log = not os.path.lexists(log) or (Path(log).is_file() and is_log_file(Path(log)))
    conflicts = [("--out", path) for path in output_files(out)] + [("the checkpoints", checkpoint_folder(out))]
    conflicts += [(option, path) for option, path in inputs() if not is_log or is_within(path, log)]
    for option, path in conflicts:
        if is_within(log, path):
            raise SettingError(f"--log {log} conflicts with {option} {path}; choose another path")
