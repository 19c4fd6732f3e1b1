"""Reading the log of a run: its lines, and a summary of the run."""

import json
import os
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.support.jsonable import to_jsonable

FIRST_BYTES = b'{"event": "begin", "time": "'  # of every log
END_BYTES = 1 << 16  # read at either end of a log for a summary
HELD_OUT_LOSS = "held_out_loss"  # among the scores of epochs
STATES = {"end": "ended", "interrupted": "interrupted"}
PROGRESS_FIELDS = ("words", "total_words", "epoch", "learning_rate", "loss", "seconds", "words_per_second")
OLD_FIELDS = {"of_words": "total_words", "rate": "learning_rate", "bundles": "steps"}  # of logs of version 0.1


def is_log(start: bytes) -> bool:
    """Whether a file that starts with these bytes is the log of a run."""
    return start.startswith(FIRST_BYTES)


def is_log_file(path: Path) -> bool:
    """Whether a file is a log, empty, or the cut-off first line of a log; raises OSError if it cannot be read."""
    with path.open("rb") as stream:
        return FIRST_BYTES.startswith(stream.read(len(FIRST_BYTES)))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of all complete lines."""
    lines = parse(read_bytes(path))
    if not lines:
        raise FormatError(f"{path} has no loss curve: it is neither a saved model nor the log of a run")
    return lines


def read_bytes(path: Path, *, ends_only: bool = False) -> bytes:
    """The content of a file, or only its two ends; a file that cannot be read is a FormatError."""
    try:
        if not ends_only:
            return path.read_bytes()
        with path.open("rb") as stream:
            start = stream.read(END_BYTES)
            if os.fstat(stream.fileno()).st_size - len(start) > END_BYTES:
                stream.seek(-END_BYTES, os.SEEK_END)
                start += b"\n"
            return start + stream.read(END_BYTES)
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from error


def parse(content: bytes) -> list[dict[str, Any]]:
    """The objects of all complete lines that are events, with the current names of fields."""
    lines: list[dict[str, Any]] = []
    for line in content.decode("utf-8", "replace").split("\n"):
        try:
            value = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.get("event"), str):
            lines.append({OLD_FIELDS.get(str(name), str(name)): item for name, item in value.items()})
    return lines


def summarize_log(path: Path, *, full: bool = False) -> dict[str, Any]:
    """A summary of the run, or of the last one if there are several, from the two ends of its log.

    Arguments:
        full: read the whole log, and count events.
    """
    lines = parse(read_bytes(path, ends_only=not full))
    starts = [line for line in lines if line["event"] == "begin"]
    start, last = (starts or [{}])[-1], (lines or [{}])[-1]
    state = STATES.get(str(last.get("event")), "running, or killed")
    summary: dict[str, Any] = {"trainer": start.get("trainer"), "state": state}
    summary |= {"started": start.get("time"), "last": last.get("time")}
    summary |= {name: last_number(lines, name) for name in PROGRESS_FIELDS}
    summary |= {name: start.get(name) for name in ("seed", "threads", "replicas", "settings")}
    if full:
        for name, event in (("runs", "begin"), ("checkpoints", "checkpoint"), ("interrupts", "interrupted")):
            summary[name] = sum(line["event"] == event for line in lines)
    result: dict[str, Any] = to_jsonable(summary)
    return result


def last_number(lines: list[dict[str, Any]], name: str) -> Any:
    """The last number of that name in the last run; None if there is none."""
    for line in reversed(lines):
        if is_number(line.get(name)):
            return line[name]
        if line["event"] == "begin":
            break
    return None


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18
