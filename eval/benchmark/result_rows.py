"""The runs as rows of a CSV file, every setting and figure a column."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embeddings.support.files import atomic_write

Row = dict[str, Any]

SETS = {"wordsim353": "WordSim-353", "simlex999": "SimLex-999", "google-analogies": "Google analogies"}
WRONG = "error of "  # the set of documents that are told
PARTS = ("semantic", "syntactic")  # of the analogies
MEASURES = ("spearman", "accuracy")  # of test sets
SEEN, TOTAL = " seen", " total"  # columns beside that of a set
TIMES = ("training_cpu", "training_wall", "whole_cpu", "whole_wall")  # seconds
MEMORY = ("peak_memory", "private_memory")  # bytes
FIGURES = (*TIMES, *MEMORY, "words_read")
RUN = ("corpus_words", "tool", "version", "seed")  # what tells runs of a shape apart
WORDS = ("trainer", "tool", "version", "error")  # columns that are text even where they look like numbers


def columns(rows: Sequence[Row]) -> list[str]:
    """trainer, the settings of all trainers, threads, then the run, its figures and its error."""
    quality = [f"{name}{part}" for name in sets_of(rows) for part in ("", SEEN, TOTAL)]
    return [*settings_of(rows), *RUN, *FIGURES, *quality, "error"]


def settings_of(rows: Sequence[Row]) -> list[str]:
    """The columns that make a shape."""
    quality = {f"{name}{part}" for name in sets_of(rows) for part in ("", SEEN, TOTAL)}
    found = dict.fromkeys(name for row in rows for name in row)
    return [name for name in found if name not in (*RUN, *FIGURES, "error") and name not in quality]


def sets_of(rows: Sequence[Row]) -> list[str]:
    """The test sets and parts of them that runs were judged by; those that always judge words come first."""
    judged = dict.fromkeys(name.removesuffix(SEEN) for row in rows for name in row if name.endswith(SEEN))
    of_words = not any(row.get("documents") for row in rows)
    return list(dict.fromkeys([*(SETS if of_words else ()), *judged]))


def write(rows: Sequence[Row], path: Path) -> None:
    """All rows as a CSV file, an older one replaced; what is not known is left empty.

    Raises:
        OutputError: it cannot be written.
    """
    write_cells(rows, columns(rows), path)


def write_cells(rows: Sequence[Row], names: Sequence[str], path: Path) -> None:
    """The cells of these columns.

    Raises:
        OutputError: as `write`.
    """
    text = io.StringIO(newline="")
    out = csv.DictWriter(text, names, restval="", lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    write_text(text.getvalue(), path)


def write_text(text: str, path: Path) -> None:
    """A text file in place of an older one.

    Raises:
        OutputError: it cannot be written.
    """
    with atomic_write(path, force=True) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


def read(path: Path) -> list[Row]:
    """The rows of such a file: numbers as numbers, None where there is nothing."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: value(name, text) for name, text in row.items()} for row in csv.DictReader(file)]


def value(name: str, text: str) -> Any:
    """The value of a cell."""
    if name in WORDS or not text:
        return text if name in WORDS else None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
