"""The log of a run as JSON lines, written while training runs."""

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import IO, Any

from embeddings.errors import OutputError, SettingError
from embeddings.models.model import Model
from embeddings.support.files import check_file
from embeddings.support.foreign_files import is_stream
from embeddings.support.local_paths import check_local
from embeddings.support.logs import log
from embeddings.support.records import to_jsonable
from embeddings.training.callbacks import Callback, EpochEnd, RunStart
from embeddings.training.progress import Progress

FIRST_BYTES = b'{"event": "begin", "time": "'  # of every log
HELD_OUT_LOSS = "held_out_loss"  # among the scores of epochs


def is_log_file(path: Path) -> bool:
    """Whether a file is a log, empty, or the cut-off first line of a log; raises OSError if it cannot be read."""
    with path.open("rb") as stream:
        return FIRST_BYTES.startswith(stream.read(len(FIRST_BYTES)))


def is_finite_number(value: Any) -> bool:
    """Whether a JSON value is a number of magnitude below 1e18, so neither NaN nor infinite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18


PROGRESS_INTERVAL = 1.0  # seconds


class RunLog(Callback):
    """Writes one JSON object per line for each event of a run.

    Events are begin, progress (once per second), epoch (if a callback scores models), checkpoint, interrupted and end.
    Every line has `event` and `time` (UTC); lines after the start have `words`, `epoch`, `learning_rate`, `loss` (the
    mean since the last progress line, or of the epoch) and `seconds`; lines of epochs have `scores` by name. Lines are
    written immediately. A resumed run appends to its log.

    Arguments:
        path: the file to write.
        append: append to an existing log.
        force: replace an existing file.

    Raises:
        SettingError: `path` is not a path.
        OutputError: the file exists, cannot be written, or is not a log to append to.
    """

    def __init__(self, path: str | os.PathLike[str], *, append: bool = False, force: bool = False) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise SettingError(f"a log requires the path of a file, got {path!r:.80}")
        check_local(path, "log")
        stream = is_stream(Path(path))  # written to, never replaced
        self.path = Path(path) if stream else check_file(path, force=append or force)
        if append and not stream and self.path.exists() and not is_log_file(self.path):
            raise OutputError(f"cannot append to {self.path}, which is not the log of a run; choose another name")
        self.append = append
        self.stream: IO[str] | None = None
        self.last_progress = 0.0
        self.losses: list[float] = []

    def on_run_start(self, run_start: RunStart) -> None:
        """Write the fingerprint of the run; first end a line that a crash cut short."""
        is_cut = False
        try:
            if self.append and self.path.exists() and self.path.stat().st_size:
                with self.path.open("rb") as stream:
                    stream.seek(-1, os.SEEK_END)
                    is_cut = stream.read(1) != b"\n"
            mode = "a" if self.append else "w"
            self.stream = self.path.open(mode, encoding="utf-8", errors="backslashreplace")  # \udcff is JSON too
            self.stream.write("\n" * is_cut)
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror or error}") from error
        self.append = True  # a second run with the same object does not replace the lines of the first
        self.last_progress, self.losses = 0.0, []
        words = {"words": run_start.words, "total_words": run_start.total_words}
        self.write("begin", **words, **run_start.fingerprint)

    def on_progress(self, progress: Progress) -> None:
        """Write progress, once per second and at the end."""
        self.losses += [progress.loss] if progress.loss is not None else []
        if perf_counter() - self.last_progress >= PROGRESS_INTERVAL or progress.words == progress.total:
            self.last_progress = perf_counter()
            loss, self.losses = fmean(self.losses) if self.losses else None, []
            self.write("progress", **{**progress_values(progress), "loss": loss})

    def on_scores(self, epoch_end: EpochEnd) -> None:
        """Write the loss of an epoch and the scores of its model."""
        values = {"loss": epoch_end.loss, "scores": epoch_end.scores}
        self.write("epoch", **{**progress_values(epoch_end.progress), "epoch": epoch_end.epoch, **values})

    def on_checkpoint(self, path: Path, progress: Progress) -> None:
        """Write the path of a checkpoint."""
        self.write("checkpoint", **progress_values(progress), path=str(path))

    def on_interrupt(self, progress: Progress) -> None:
        """Write the progress so far, and close the log."""
        self.write("interrupted", **progress_values(progress))
        self.close()

    def on_run_end(self, model: Model) -> Model:
        """Write the record of the model, and close the log."""
        self.write("end", **model.record)
        self.close()
        return model

    def write(self, event: str, **values: Any) -> None:
        """Write a line and flush it; a full disk does not end the run."""
        if self.stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps(to_jsonable({"event": event, "time": now, **values}), ensure_ascii=False)
        try:
            self.stream.write(line + "\n")
            self.stream.flush()
        except OSError as error:
            log.warning("no more lines are written to %s: %s", self.path, error.strerror or error)
            self.close()

    def close(self) -> None:
        """Write no more lines."""
        stream, self.stream = self.stream, None
        if stream is not None:
            with suppress(OSError):
                stream.close()


def progress_values(progress: Progress) -> dict[str, Any]:
    """The values of a line about progress."""
    return {
        "words": progress.words,
        "total_words": progress.total,
        "unit": progress.unit,
        "epoch": progress.epoch,
        "learning_rate": progress.learning_rate,
        "loss": progress.loss,
        "seconds": round(progress.seconds, 3),
        "words_per_second": round(progress.words_per_second),
    }
