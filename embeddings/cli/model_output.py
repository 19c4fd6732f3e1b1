"""Saving what a run has learned: checked before it starts, not interrupted while it is written, never lost."""

import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from embeddings.cli.output_paths import is_vector_file
from embeddings.errors import OutputError, SettingError

Save = Callable[[str, Any, bool], Any]  # the place, what is saved, and whether what is there is replaced
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def checked(out: str, force: bool) -> Save:
    """How a model is saved at a place such as `out`, which is checked now: hours of work come before it is done.

    Raises:
        SettingError: `out` is empty.
        OutputError: it exists (unless `force`) or cannot be written.
    """
    from embeddings.models.model_files import check_target
    from embeddings.vectors import format_dispatch

    if not out:
        raise SettingError("--out must be the name of a folder or file, not ''")
    if is_vector_file(out):
        format_dispatch.check(out, force=force)
        return lambda place, model, force: model.vectors.save(place, force=force)
    check_target(out, force=force)
    return lambda place, model, force: model.save(place, force=force)


def save(write: Save, model: Any, out: str, force: bool) -> Any:
    """Write a model or vectors at `out`; if that fails now, somewhere else; gives what `write` gives.

    Raises:
        OutputError: it could not be saved in `out`; the message says where it is instead.
    """
    with uninterrupted():
        try:
            return write(out, model, force)
        except Exception as error:  # whatever it is, hours of work must not be lost
            raise OutputError(f"{error}; {rescued(write, model, out)}") from error


def rescued(write: Save, model: Any, out: str) -> str:
    """Where a model was saved that could not be saved in `out`."""
    for place in places(Path(out)):
        try:
            write(str(place), model, False)
        except Exception:
            continue
        return f"what was learned is saved in {place}"
    return "nor could it be saved anywhere else"


def places(out: Path) -> Iterator[Path]:
    """Where to save instead of `out`: beside it, then in a temporary folder, made only when it comes to that."""
    for number in range(1, 10):
        yield out.with_name(f"{out.stem}.{number}{out.suffix}")
    yield Path(tempfile.mkdtemp(prefix="embeddings-rescued-")) / out.name[-100:]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C, and the signals that end a process, until the block is over."""

    def later(number: int, frame: FrameType | None) -> None:
        click.echo("saving what was learned; one moment", err=True)

    present = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    before = {number: signal.signal(number, later) for number in present}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
