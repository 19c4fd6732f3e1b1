"""Saving results: outputs replace no input, are checked before the work starts, and are saved elsewhere on failure."""

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli.output import quantity
from embeddings.cli.signals import ignored_signals
from embeddings.errors import FormatError, OutputError, SettingError, marked
from embeddings.models.model_files import check_target
from embeddings.support.files import check_file
from embeddings.support.remote.address import display_name
from embeddings.vectors import file_format

if TYPE_CHECKING:
    from embeddings.corpora import Corpus
    from embeddings.vectors.vectors import Vectors


Inputs = Sequence[tuple[str, Path]]  # files that a command reads, with the options that name them
CONTINUED_MODEL, CONFIG = "embeddings.continued", "embeddings.config"  # keys of paths in the click context
INPUT_OPTIONS = (
    "init", "continue", "vocabulary", "phrases", "stop_similarity", "stop_analogy", "stop_labels", "validation",
    "labels", "config",
)  # fmt: skip
REPLACEABLE = ("--init", "--continue")  # inputs that the output may replace if it is given the same path
CLASSIFIER_FILES = (".bin", ".ftz")  # of fastText


def check_extension(path: str, extensions: Sequence[str], *, force: bool) -> None:
    """Refuse a path that cannot be written, or with an unknown extension."""
    if Path(path).suffix.lower() not in extensions:
        raise FormatError(f"{path}: the extension must be one of {', '.join(extensions)}")
    check_file(path, force=force)


def keeps_classifier(out: str) -> bool:
    """Whether a trained classifier is saved at this path as a whole, not only its vectors."""
    return not is_vector_file(out) or Path(out).suffix.lower() in CLASSIFIER_FILES


def is_vector_file(out: str) -> bool:
    """Whether `out` names a vector file rather than a model folder; raises SettingError if it names neither."""
    if out in ("", "-"):
        raise SettingError(f"--out must be the name of a file or folder, not of standard output, got {out!r}")
    suffix = Path(out).suffix.lower()
    return bool(suffix) and suffix in file_format.extensions() and not Path(out).is_dir()


def output_files(out: str) -> list[Path]:
    """The files, or the folder, that saving at `out` writes."""
    if not is_vector_file(out):
        return [Path(out)]
    return file_format.output_files(out)


def checkpoint_folder(out: str) -> Path:
    """The folder of the checkpoints of a model saved at `out`."""
    return Path(out).with_name(f"{Path(out).name}.checkpoints")


def inputs() -> Inputs:
    """The files that the options of the current command name, the corpus excepted."""
    context = click.get_current_context()
    paths = {**context.params, "continue": context.meta.get(CONTINUED_MODEL), "config": context.meta.get(CONFIG)}
    named = [(f"--{name.replace('_', '-')}", Path(paths[name])) for name in INPUT_OPTIONS if paths.get(name)]
    return [(option, path) for option, path in named if path.exists()]  # others name built-in sets or "auto"


def check_training_outputs(out: str, log: str | None, corpus: "Corpus") -> None:
    """Refuse paths for a model, its checkpoints and its log that would replace an input."""
    files = output_files(out)
    check_outside_corpus(out, corpus)
    check_not_input([*files, checkpoint_folder(out)], inputs())
    if log is None:
        return
    from embeddings.training.run_log import is_log_file

    outputs = [*(("--out", path) for path in files), ("the checkpoints", checkpoint_folder(out))]
    check_not_input([Path(log)], [*outputs, *corpus_paths(corpus)], may_add=False)
    if not (os.path.isfile(log) and is_log_file(Path(log))):  # an earlier log in an input folder is replaced
        check_not_input([Path(log)], inputs(), replaceable=())


def corpus_paths(corpus: "Corpus") -> Inputs:
    """The files and folders of a corpus."""
    return [("the corpus", Path(path)) for path in corpus.paths]


def check_outside_corpus(out: str, corpus: "Corpus") -> None:
    """Refuse an output that is a file of the corpus or lies in a corpus folder."""
    check_not_input(output_files(out), corpus_paths(corpus), may_add=False)


def check_not_input(
    targets: Sequence[Path], inputs: Inputs, *, replaceable: Sequence[str] = REPLACEABLE, may_add: bool = True
) -> None:
    """Refuse targets that would replace an input.

    The first target, which the user has named, may replace an input of the options in `replaceable`.

    Arguments:
        may_add: whether targets may be new files in the folders of inputs.
    """
    for number, target in enumerate(targets):
        for option, path in inputs:
            # a link, or a way through another folder, leads to the same file
            output, read = target.resolve(), path.resolve()
            if number == 0 and option in replaceable and output == read:
                continue
            is_part = output.is_relative_to(read) and not (may_add and not target.exists())
            if is_part or read.is_relative_to(output):
                names = display_name(target), display_name(path)
                raise SettingError(f"output {names[0]} would overwrite {option} {names[1]}; choose another path")


def check_vector_output(out: str, inputs: Inputs, format: str | None, *, force: bool) -> None:
    """Refuse an output of vectors that would replace an input, or cannot be written."""
    check_not_input(file_format.output_files(out, format=format), inputs)
    file_format.check_export(out, format=format, force=force)


Save = Callable[[str, Any, bool], Any]  # takes a path, the result, and whether to replace existing output


def model_writer(out: str, force: bool, *, is_classifier: bool = False) -> Save:
    """The function that saves a model at `out`: as a folder, or only its vectors in a file.

    A classifier can be saved in a file for fastText.
    """
    if is_classifier and Path(out).suffix.lower() in CLASSIFIER_FILES and not Path(out).is_dir():
        if Path(out).suffix.lower() != ".bin":
            raise SettingError(f"{out} is for a quantised classifier: save a folder, then use the command quantize")
        check_file(out, force=force)
        return lambda path, model, force: model.classifier.export(path, force=force)
    if is_vector_file(out):
        file_format.check_export(out, force=force)
        return lambda path, model, force: model.vectors.save(path, force=force)
    check_folder_name(out, file_format.extensions())
    check_target(out, force=force)
    return lambda path, model, force: model.save(path, force=force)


def check_folder_name(out: str, extensions: Iterable[str] = ()) -> None:
    """Refuse a new model folder whose name has the extension of a file; `extensions` are those of possible files."""
    suffix = Path(out).suffix
    if suffix[1:2].isalpha() and suffix != ".model" and not Path(out).is_dir():  # .model may be in names of folders
        known = ", ".join(extensions)
        files = f", or a file with one of the extensions {known}" if known else ""
        raise SettingError(f"--out {out} must be a folder, whose name has no extension{files}")


def save(write: Save, result: Any, out: str, force: bool) -> Any:
    """Write a result at `out` and return what `write` returns; if that fails, write it elsewhere."""
    with ignored_signals():
        try:
            return write(out, result, force)
        except Exception as error:  # any error: hours of work must not be lost
            # the folder may have vanished, or another process may have written the output: both leave other places
            raise OutputError(f"{marked(error)}; {save_elsewhere(write, result, out)}") from error


def save_vectors(
    vectors: "Vectors", out: str, format: str | None, force: bool, report: Callable[[str], None]
) -> list[str]:
    """Write vectors at `out`, report it, and return the paths of the files."""

    def write(path: str, result: "Vectors", force: bool) -> list[Path]:
        return file_format.write(result, path, format=format, force=force)

    paths = list(map(display_name, save(write, vectors, out, force)))
    report(f"saved {quantity(len(vectors), 'vector')} of dimension {vectors.dim} to {' and '.join(paths)}")
    return paths


def save_elsewhere(write: Save, result: Any, out: str) -> str:
    """Save a result that could not be saved at `out`; returns a message that says where."""
    target = Path(out)
    for is_temporary in (False, True):
        with suppress(Exception):
            path = target.with_name(f"{target.stem}.1{target.suffix}")
            if is_temporary:
                path = Path(tempfile.mkdtemp(prefix="embeddings-rescued-")) / target.name[-100:]
            write(str(path), result, False)
            return f"the result is saved in {display_name(path)}"
    return "saving it elsewhere failed too"
