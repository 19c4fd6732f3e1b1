"""A run as lines of JSON: how it went, for whoever looks at it later or while it runs."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import IO, Any

from embeddings.errors import OutputError, SettingError
from embeddings.models.model import Model
from embeddings.support.files import check_file, is_stream
from embeddings.support.jsonable import to_jsonable
from embeddings.support.logs import log
from embeddings.training.callbacks import RunStart, Callback
from embeddings.training.progress import Progress
from embeddings.training.run_log_reader import is_log_file

EVERY = 1.0  # seconds between lines of progress


class RunLog(Callback):
    """Writes a line of JSON for each event of a run: begin, progress (once a second), checkpoint, interrupt, end.

    Every line has `event`, `time` (UTC) and, once words are read, `words`, `epoch`, `rate`, `loss` (the mean since the
    last line of progress) and `seconds`. Lines are written at once. A run that goes on is appended to its log.

    Arguments:
        path: of the file.
        append: go on with a log that is there.
        force: replace a file that is there.

    Raises:
        SettingError: `path` is none.
        OutputError: it exists, cannot be written, or is to be gone on with and is no log.
    """

    def __init__(self, path: str | os.PathLike[str], *, append: bool = False, force: bool = False) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise SettingError(f"a log must have the path of a file, not {path!r:.80}")
        stream = is_stream(Path(path))  # it is written to and not replaced
        self.path = Path(path) if stream else check_file(path, force=append or force)
        if append and not stream and self.path.exists() and not is_log_file(self.path):
            raise OutputError(f"{self.path} is no log of a run, and is not gone on with: choose another name")
        self.append = append
        self.stream: IO[str] | None = None
        self.told = 0.0
        self.losses: list[float] = []

    def on_run_start(self, run_start: RunStart) -> None:
        """The trainer, its settings, and what else names the run."""
        try:
            self.stream = opened(self.path, self.append)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {error.strerror or error}") from error
        self.append = True  # a second run of the same object leaves the lines of the first
        self.told, self.losses = 0.0, []
        self.write("begin", words=run_start.words, of_words=run_start.total_words, **run_start.fingerprint)

    def on_progress(self, progress: Progress) -> None:
        """Where the run is, once a second and at its end."""
        self.losses += [progress.loss] if progress.loss is not None else []
        if perf_counter() - self.told >= EVERY or progress.words == progress.total:
            self.told = perf_counter()
            loss = sum(self.losses) / len(self.losses) if self.losses else None
            self.losses.clear()
            self.write("progress", **{**facts(progress), "loss": loss})

    def on_checkpoint(self, path: Path, progress: Progress) -> None:
        """Where it is."""
        self.write("checkpoint", **facts(progress), path=str(path))

    def on_interrupt(self, progress: Progress) -> None:
        """How far the run came."""
        self.write("interrupted", **facts(progress))
        self.close()

    def on_run_end(self, model: Model) -> Model:
        """The record of the model."""
        self.write("end", **model.record)
        self.close()
        return model

    def write(self, event: str, **values: Any) -> None:
        """A line, on its way to the disk when this returns; a full disk does not end the run."""
        if self.stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            self.stream.write(json.dumps(to_jsonable({"event": event, "time": now, **values}), ensure_ascii=False) + "\n")
            self.stream.flush()
        except OSError as error:
            log.warning("%s ends here: %s", self.path, error.strerror or error)
            self.close()

    def close(self) -> None:
        """Nothing more is written."""
        stream, self.stream = self.stream, None
        if stream is not None:
            try:
                stream.close()
            except OSError:
                return


def opened(path: Path, append: bool) -> IO[str]:
    """The file, to write lines to; a line that a crash cut short is ended."""
    cut = False
    if append and path.exists() and path.stat().st_size:
        with path.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            cut = stream.read(1) != b"\n"
    file = path.open("a" if append else "w", encoding="utf-8")
    file.write("\n" * cut)
    return file


def facts(progress: Progress) -> dict[str, Any]:
    """What a line says of where the run is."""
    return {
        "words": progress.words,
        "of_words": progress.total,
        "epoch": progress.epoch,
        "rate": progress.rate,
        "loss": progress.loss,
        "seconds": round(progress.seconds, 3),
        "words_per_second": round(progress.words_per_second),
    }
