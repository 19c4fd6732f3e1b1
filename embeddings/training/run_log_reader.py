"""The log of a run, read back: its lines, and what they say of the run."""

import json
import os
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.support.jsonable import to_jsonable

FIRST = b'{"event": "begin", "time": "'  # how a log begins, one that a crash cut short too
BLOCK = 1 << 16  # bytes at either end of a log that are enough to know how the run went
ENDS = {"end": "ended", "interrupted": "interrupted"}
WHAT = ("words", "of_words", "epoch", "rate", "loss", "seconds", "words_per_second")


def is_log(start: bytes) -> bool:
    """Whether what begins so is the log of a run."""
    return start.startswith(FIRST)


def is_log_file(path: Path) -> bool:
    """Whether there is the log of a run, or an empty file, or what a crash left of a first line.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        start = stream.read(len(FIRST))
    return FIRST.startswith(start)


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of the lines; a line that was cut short by a crash is passed over.

    Raises:
        FormatError: it cannot be read, or no line of it is one.
    """
    try:
        found = parsed(path.read_bytes())
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    if not found:
        raise FormatError(f"{path} has no curve of a loss: it is neither a saved model nor the log of a run")
    return found


def parsed(content: bytes) -> list[dict[str, Any]]:
    """The objects of all whole lines that tell of an event."""
    found = []
    for line in content.decode("utf-8", "replace").split("\n"):
        try:
            value = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            continue
        found += [value] if isinstance(value, dict) and isinstance(value.get("event"), str) else []
    return found


def ends_of(path: Path) -> list[dict[str, Any]]:
    """The lines at the beginning of a log, and those at its end."""
    with path.open("rb") as stream:
        start = stream.read(BLOCK)
        rest = os.fstat(stream.fileno()).st_size - len(start)
        if rest > BLOCK:
            stream.seek(-BLOCK, os.SEEK_END)
            start += b"\n"
        return parsed(start + stream.read(BLOCK))


def summarize_log(path: Path, *, full: bool = False) -> dict[str, Any]:
    """What a log says of its run, from its beginning and its end; of the last where there are several.

    Arguments:
        full: read all of it, and count what happened.

    Raises:
        FormatError: it cannot be read.
    """
    try:
        found = parsed(path.read_bytes()) if full else ends_of(path)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    begins = [line for line in found if line["event"] == "begin"]
    begin, last = (begins or [{}])[-1], (found or [{}])[-1]
    facts: dict[str, Any] = {"trainer": begin.get("trainer"), "state": state_of(last)}
    facts |= {"begun": begin.get("time"), "last": last.get("time")}
    facts |= {name: newest(found, name) for name in WHAT}
    facts |= {name: begin.get(name) for name in ("seed", "threads", "settings")}
    if full:
        for name, event in (("runs", "begin"), ("checkpoints", "checkpoint"), ("interrupts", "interrupted")):
            facts[name] = sum(line["event"] == event for line in found)
    told: dict[str, Any] = to_jsonable(facts)
    return told


def state_of(last: dict[str, Any]) -> str:
    """How a run stands by the last line of its log."""
    return ENDS.get(str(last.get("event")), "going on, or cut short")


def newest(found: list[dict[str, Any]], name: str) -> Any:
    """The last number of that name that the run in progress gave; None if there is none."""
    for line in reversed(found):
        if is_number(line.get(name)):
            return line[name]
        if line["event"] == "begin":
            break
    return None


def is_number(value: Any) -> bool:
    """Whether JSON has a finite number here."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18
