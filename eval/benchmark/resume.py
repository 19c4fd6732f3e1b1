"""Resuming a benchmark without repeating completed runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embeddings.errors import EmbeddingsError
from embeddings.eval.benchmark.result_rows import RUN, Row, read_rows


class ResumeError(EmbeddingsError):
    """Results that cannot be resumed."""


def completed_runs(folder: Path, machine: dict[str, Any]) -> list[Row]:
    """The successful runs in a folder, if any; adds the tools of the earlier benchmark to the machine record."""
    table = folder / "results.csv"
    if not table.exists():
        return []
    try:
        record, rows = json.loads((folder / "machine.json").read_text(encoding="utf-8")), read_rows(table)
        pairs = {name: (record[name], machine[name]) for name in machine if name not in ("date", "tools")}
        pairs |= {tool: (record["tools"].get(tool, now), now) for tool, now in machine["tools"].items()}
        missing = [name for name in (*RUN, "trainer", "threads", "error") if rows and name not in rows[0]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResumeError(f"cannot resume from {folder}: {' '.join(repr(error).split()):.100}") from None
    if missing:
        raise ResumeError(f"cannot resume from {table}: it has no column {missing[0]!r}")
    for name, (before, now) in pairs.items():
        if before != now:
            values = f"{name} is {json.dumps(now):.100}, was {json.dumps(before):.100}"
            remedy = "choose another folder, or set force=True to start over"
            raise ResumeError(f"cannot resume from {folder}: {values}; {remedy}")
    machine["tools"] = record["tools"] | machine["tools"]
    return [row for row in rows if not row["error"]]


def is_completed(row: Row, runs: Sequence[Row]) -> bool:
    """Whether the runs include one with the settings, tool and seed of a row."""

    def cell(value: Any) -> str:
        return "" if value is None else str(value)

    return any(all(cell(one.get(name)) == cell(value) for name, value in row.items()) for one in runs)
