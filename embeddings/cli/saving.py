"""Saving results: checked before the work starts, protected from interrupts, saved elsewhere on failure."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from embeddings.cli.output_paths import CLASSIFIER_FILES, is_vector_file
from embeddings.cli.signals import ignored_signals
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.models.model_files import check_target
from embeddings.support.files import check_file
from embeddings.support.remote.address import is_remote
from embeddings.vectors import format_dispatch

Save = Callable[[str, Any, bool], Any]  # takes a path, the result, and whether to replace existing output


def model_writer(out: str, force: bool, *, is_classifier: bool = False, is_quantised: bool = False) -> Save:
    """The function that saves a model at `out`: as a folder, or only its vectors in a file.

    A classifier can be saved in a file for fastText, and a quantised one only so.
    """
    if not out:
        raise SettingError("--out must be a file or folder name, got ''")
    if is_classifier and Path(out).suffix.lower() in CLASSIFIER_FILES and not Path(out).is_dir():
        return classifier_writer(out, force, is_quantised=is_quantised)
    if is_vector_file(out):
        format_dispatch.check_export(out, force=force)
        return lambda path, model, force: model.vectors.save(path, force=force)
    check_folder_name(out)
    check_target(out, force=force)
    return lambda path, model, force: model.save(path, force=force)


def classifier_writer(out: str, force: bool, *, is_quantised: bool) -> Save:
    """The function that saves a classifier in a file for fastText."""
    if is_quantised:
        check_file(out, force=force)
        return lambda path, classifier, force: classifier.export(path, force=force)
    if Path(out).suffix.lower() != ".bin":
        raise SettingError(f"{out} is for a quantised classifier: save a folder, then use the command quantize")
    check_file(out, force=force)
    return lambda path, model, force: model.classifier.export(path, force=force)


def check_folder_name(out: str) -> None:
    """Refuse a new model folder whose name looks like a vector file of an unknown format, or like an option."""
    suffix = Path(out).suffix
    if out == "-":
        raise SettingError("--out - is not supported: a model cannot be written to standard output")
    if suffix[1:2].isalpha() and not Path(out).is_dir():
        known = ", ".join(format_dispatch.extensions())
        raise FormatError(
            f"{out}: no format has the extension {suffix!r}; use one of {known}, or a name without an extension for a "
            "model folder"
        )


def save(write: Save, result: Any, out: str, force: bool) -> Any:
    """Write a result at `out` and return what `write` returns; if that fails, write it elsewhere."""
    with ignored_signals():
        try:
            return write(out, result, force)
        except Exception as error:  # any error: hours of work must not be lost
            raise OutputError(f"{error}; {save_elsewhere(write, result, out)}") from error


def save_elsewhere(write: Save, result: Any, out: str) -> str:
    """Save a result that could not be saved at `out`; returns a message that says where."""
    target = Path(out)
    for number in range(1, 11):
        path = target.with_name(f"{target.stem}.{number}{target.suffix}")
        if number == 10 or is_remote(out):
            path = Path(tempfile.mkdtemp(prefix="embeddings-rescued-")) / target.name[-100:]
        try:
            write(str(path), result, False)
        except Exception:
            if is_remote(out):
                break
            continue
        return f"the result is saved in {path}"
    return "saving it elsewhere failed too"
