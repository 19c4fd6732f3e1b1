"""Tables of the documentation are those of the recorded rows, and studies have what the command needs."""

import json
import re
from pathlib import Path
from typing import ClassVar

import pytest
from studies.grid import Grid, append_rows, markdown, pivot, read_rows, take_turns
from study import STUDIES, find, main

RESULTS = Path(__file__).parents[2] / "eval" / "results"


def test_the_documentation_names_every_study_and_its_options():
    root = RESULTS.parents[1]
    pages = [*(root / "docs").rglob("*.md"), root / "CONTRIBUTING.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages).replace("\\\n", " ")
    assert {name for name in STUDIES if f"`{name}`" not in text and f"tools/study.py {name}" not in text} == set()
    commands = re.findall(r"tools/study\.py ([a-z-]+)([^`\n]*)", text)
    assert len(commands) >= len(STUDIES)
    for name, arguments in commands:
        options = {one.replace("-", "_") for one in re.findall(r"--([a-z-]+)", arguments)} - {"out", "only_table"}
        assert options <= set(find(name).defaults), (name, arguments)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_help_text(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(f"--{option.replace('_', '-')}" in text for option in find(name).defaults)
    assert find(name).__doc__.splitlines()[0] in text


class Squares(Grid):
    """Squares of numbers."""

    results = "squares"
    keys = rows = ("number",)
    columns: ClassVar = {"square": ".1f"}
    packages = ("numpy",)
    about = "About {text}."
    defaults: ClassVar = {"number": [1, 2], "text": str}

    def measure(self, number):
        return [("square", number * number)]


@pytest.fixture
def squares(monkeypatch):
    monkeypatch.setitem(STUDIES, "squares", "x:y")
    monkeypatch.setattr("study.find", lambda name: Squares)


def test_a_grid_measures_what_is_missing(tmp_path, squares, capsys):
    arguments = ["squares", "--text", "a", "--out", str(tmp_path / "new" / "table")]
    main([*arguments, "--number", "3"])
    main([*arguments, "--number", "3", "4000"])
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == ["3", "4000"]
    assert read_rows(tmp_path / "new" / "table.tsv")[1] == {"number": "4000", "measure": "square", "value": "16000000"}
    about, *lines = (tmp_path / "new" / "table.md").read_text().splitlines()
    assert about.endswith(" About a.")
    assert lines == ["", "| number | square |", "| --- | ---: |", "| 3 | 9.0 |", "| 4,000 | 16000000.0 |"]
    assert json.loads((tmp_path / "new" / "table.json").read_text())["machine"]["packages"]["numpy"]


def test_errors_are_one_line(tmp_path, squares, monkeypatch, capsys):
    monkeypatch.setattr(Squares, "cells", lambda self: [])
    for arguments, message in (
        (["--text", "a"], "squares has nothing to measure with these options: see --help"),
        (["--only-table"], "table.tsv does not exist: run squares without --only-table"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["squares", *arguments, "--out", str(tmp_path / "table")])
        (line,) = capsys.readouterr().err.splitlines()
        assert (ended.value.code, line.startswith("Error: "), line.endswith(message)) == (1, True, True)


def test_helpers(tmp_path):
    assert markdown("abc", [], names=(0, 2)).splitlines()[1] == "| --- | ---: | --- |"
    counts = {"a": 0, "b": 0}

    def run(name):
        counts[name] += 1
        return {"count": counts[name]}

    turns = list(take_turns({name: lambda name=name: run(name) for name in counts}, 2))
    assert turns == [("a", 1, "count", 2), ("b", 1, "count", 2), ("a", 2, "count", 3), ("b", 2, "count", 3)]
    append_rows(tmp_path / "t.tsv", ("measure", "value"), [("x", 1)])
    append_rows(tmp_path / "t.tsv", ("measure", "value"), [("x", 2)])
    assert pivot(read_rows(tmp_path / "t.tsv"), [], {"x": ".1f"}) == "| x |\n| ---: |\n| 1.5 |\n"
