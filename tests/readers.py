"""Who has read what we write, and whom we have read: a table of the tests that passed, `pytest --readers FILE`.

A test says so by a mark, `reads` or `writes`: the format, the distribution on PyPI whose version is told, and what
was checked. The table is rewritten only where every marked test ran and passed.
"""

import datetime
import re
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

HEAD = """# Who has read which format

Each row is a test that passed with this version of the library on Python {python}, {date}:
`pytest tests/formats -m "reads or writes" --readers docs/formats.md`, with the extras `test` and `ecosystem`.
"""
KINDS = {"reads": "They read what is written here", "writes": "What they write is read here"}
COLUMNS = "| format | library | version | what is checked | test in `tests/formats` |\n|---|---|---|---|---|"
MARKS = re.compile(r"^@pytest\.mark\.(reads|writes)\((.*?)\)$", re.M | re.S)  # as they stand in a source


class Readers:
    """Collects the outcomes of marked tests."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[tuple[str, ...], set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over."""
        for name, value in report.user_properties:
            if name in KINDS and (report.when == "call" or report.outcome != "passed"):
                self.rows.setdefault((name, *value), set()).add(report.outcome)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """All tests are over."""
        failed = [
            f"{row[1]} by {row[2]}: {', '.join(found)}" for row, found in self.rows.items() if found != {"passed"}
        ]
        if failed or not self.rows:
            terminalreporter.write_line(f"{self.path} is left as it is; {'; '.join(failed) or 'no test is marked'}")
        else:
            self.path.write_text(self.page(), encoding="utf-8")

    def page(self) -> str:
        """The page."""
        python = ".".join(map(str, sys.version_info[:3]))
        return HEAD.format(python=python, date=datetime.datetime.now(datetime.UTC).date()) + "".join(self.sections())

    def sections(self) -> Iterator[str]:
        """A table for each kind."""
        for kind, title in KINDS.items():
            found = sorted(row[1:] for row in self.rows if row[0] == kind)
            lines = [
                f"| `{form}` | {library} | {version(library)} | {checked} | `{test}` |"
                for form, library, checked, test in found
            ]
            yield "\n".join(["", f"## {title}", "", COLUMNS, *lines, ""])


def note(item: pytest.Item) -> None:
    """Keep what the marks of a test say with its reports."""
    for kind in KINDS:
        for mark in item.iter_markers(kind):
            test = f"{item.path.name}::{item.originalname}"  # type: ignore[attr-defined]
            item.user_properties.append((kind, (*mark.args, test)))
