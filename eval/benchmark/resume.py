"""Going on with results that stand in a folder: runs that were made are kept, the missing ones are made."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embeddings.errors import EmbeddingsError
from embeddings.eval.benchmark import result_rows
from embeddings.eval.benchmark.result_rows import Row


class ResumeError(EmbeddingsError):
    """Results that cannot be gone on with."""


def earlier(folder: Path, now: dict[str, Any]) -> list[Row]:
    """The runs in a folder that came to their end; none where it holds no results.

    Arguments:
        now: the facts of this comparison, as `embeddings.eval.benchmark.machine.facts` gives them.

    Raises:
        ResumeError: they were made on another machine or corpus or with other versions, or cannot be read.
    """
    table, facts = folder / "results.csv", folder / "machine.json"
    if not table.exists():
        return []
    try:
        was, found = json.loads(facts.read_text(encoding="utf-8")), result_rows.read(table)
        differing = [name for name in now if name not in ("date", "tools") and was[name] != now[name]]
        tools = [name for name in now["tools"] if was["tools"].get(name, now["tools"][name]) != now["tools"][name]]
        missing = [name for name in (*result_rows.RUN, "trainer", "threads", "error") if found and name not in found[0]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResumeError(f"{folder} holds no results to go on with: {' '.join(repr(error).split()):.100}") from None
    if missing:
        raise ResumeError(f"{table} has no column {missing[0]!r}; it holds no results to go on with")
    for name in differing:
        told = f"{name} {json.dumps(was[name]):.100}, and now {json.dumps(now[name]):.100}"
        raise ResumeError(f"the results in {folder} cannot be gone on with: they are of {told}")
    for name in tools:
        told = f"{name} {was['tools'][name]}, and now it is {now['tools'][name]}"
        raise ResumeError(f"the results in {folder} cannot be gone on with: they are of {told}")
    now["tools"] = was["tools"] | now["tools"]
    return [row for row in found if not row["error"]]


def made(row: Row, before: Sequence[Row]) -> bool:
    """Whether a run with the settings, tool and seed of a row stands among others."""
    return any(all(cell(one.get(name)) == cell(value) for name, value in row.items()) for one in before)


def cell(value: Any) -> str:
    """A value as a file of results has it."""
    return "" if value is None else str(value)
