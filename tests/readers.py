"""A pytest plugin that writes a table of the libraries with which files were exchanged: `pytest --readers FILE`.

The marks `reads` and `writes` of a test name the format, the distribution on PyPI whose version is listed, and what is
checked. The table is written only if all marked tests ran and passed.
"""

import datetime
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

HEADER = """# Which libraries read and write which formats

Each row is a test that passed with this version of the library on Python {python}, {date}:
`pytest tests/formats -m "reads or writes" --readers docs/evidence/formats.md`, with the extras `test` and `ecosystem`.
"""
TITLES = {"reads": "Libraries that read our files", "writes": "Libraries whose files are read here"}
COLUMNS = "| format | library | version | what is checked | test in `tests/formats` |\n|---|---|---|---|---|"
MARKS = re.compile(r"^@pytest\.mark\.(reads|writes)\((.*?)\)$", re.M | re.S)  # in the source of a test


class Readers:
    """Collects the outcomes of marked tests."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[tuple[str, ...], set[str]] = {}  # by mark, format, library, what is checked and test

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of a marked test."""
        for name, value in report.user_properties:
            if name in TITLES and (report.when == "call" or report.outcome != "passed"):
                self.outcomes.setdefault((name, *value), set()).add(report.outcome)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the table, or say why not."""
        failed = [f"{row[1]} by {row[2]}: {', '.join(r)}" for row, r in self.outcomes.items() if r != {"passed"}]
        if failed or not self.outcomes:
            terminalreporter.write_line(f"{self.path} is not written; {'; '.join(failed) or 'no test is marked'}")
        else:
            self.path.write_text(self.page(), encoding="utf-8")

    def page(self) -> str:
        """The page."""
        python = ".".join(map(str, sys.version_info[:3]))
        return HEADER.format(python=python, date=datetime.datetime.now(datetime.UTC).date()) + "".join(self.sections())

    def sections(self) -> Iterator[str]:
        """A table for each kind of mark."""
        for kind, title in TITLES.items():
            rows = sorted(row[1:] for row in self.outcomes if row[0] == kind)
            lines = [
                f"| `{format}` | {library} | {version(library)} | {check} | `{test}` |"
                for format, library, check, test in rows
            ]
            yield "\n".join(["", f"## {title}", "", COLUMNS, *lines, ""])


def record_marks(item: pytest.Item) -> None:
    """Attach the marks of a test to its reports."""
    for kind in TITLES:
        for mark in item.iter_markers(kind):
            test = f"{item.path.name}::{item.originalname}"  # type: ignore[attr-defined]
            item.user_properties.append((kind, (*mark.args, test)))
