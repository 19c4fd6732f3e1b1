"""The examples of the guide are what the tokenizer returns."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_examples_are_current():
    tool = runpy.run_path(str(ROOT / "tools" / "language_table.py"))
    page = tool["PAGE"].read_text("utf-8")
    assert tool["with_table"](page) == page
    assert page.count("| `") >= 30
