"""The runs as rows of a CSV file, with a column for every setting and measurement."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embeddings.models.earlier_versions import translate_settings
from embeddings.support.files import atomic_write

Row = dict[str, Any]

SETS = {"wordsim353": "WordSim-353", "simlex999": "SimLex-999", "google-analogies": "Google analogies"}
ERROR_OF = "error of "  # prefix of the column of a document set
PARTS = ("semantic", "syntactic")  # of the analogies
MEASURES = ("spearman", "accuracy")
COVERED, TOTAL = " covered", " total"  # suffixes of the columns next to that of a set
OLD_COVERED = re.compile(" seen$")  # in files of version 0.1
TIMES = ("training_cpu", "training_wall", "whole_cpu", "whole_wall")  # seconds
MEMORY = ("peak_memory", "private_memory")  # bytes
MEASUREMENTS = (*TIMES, *MEMORY, "words_read")
RUN = ("corpus_words", "tool", "version", "seed")  # what distinguishes runs of a configuration
TEXT_COLUMNS = ("trainer", "tool", "version", "error")  # even where they look like numbers


def setting_columns(rows: Sequence[Row]) -> list[str]:
    """The columns that make a configuration."""
    others = {*RUN, *MEASUREMENTS, "error", *score_columns(rows)}
    return [name for name in dict.fromkeys(name for row in rows for name in row) if name not in others]


def score_columns(rows: Sequence[Row]) -> list[str]:
    """The columns of scores."""
    return [f"{name}{part}" for name in scored_sets(rows) for part in ("", COVERED, TOTAL)]


def scored_sets(rows: Sequence[Row]) -> list[str]:
    """The test sets, and parts of them, that runs have scores for; the standard sets of word vectors come first."""
    names = dict.fromkeys(name.removesuffix(COVERED) for row in rows for name in row if name.endswith(COVERED))
    has_words = not any(row.get("documents") for row in rows)
    return list(dict.fromkeys([*(SETS if has_words else ()), *names]))


def write_rows(rows: Sequence[Row], path: Path, names: Sequence[str] | None = None) -> None:
    """Write rows as a CSV file, replacing an older one; missing values are empty.

    The columns are by default the trainer, the settings of all trainers, threads, then the run, its measurements and
    its error.
    """
    text = io.StringIO(newline="")
    names = names or [*setting_columns(rows), *RUN, *MEASUREMENTS, *score_columns(rows), "error"]
    out = csv.DictWriter(text, names, restval="", lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    write_text(text.getvalue(), path)


def write_text(text: str, path: Path) -> None:
    """Write a text file, replacing an older one."""
    with atomic_write(path, force=True) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file, with numbers as numbers and None for empty cells; names of version 0.1 are translated."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [translate_settings(row) for row in csv.DictReader(file)]
    return [{OLD_COVERED.sub(COVERED, name): parse_value(name, text) for name, text in row.items()} for row in rows]


def parse_value(column: str, text: str) -> Any:
    """The value of a cell."""
    if column in TEXT_COLUMNS:
        return text
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
