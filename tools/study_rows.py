"""Tables of results: files of tab-separated rows below the names of their columns."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def append_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows to a table; a new one begins with the names of the columns."""
    heads = [] if path.exists() else [columns]
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([*heads, *rows])


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
