"""Measurements of commands on small texts."""

import numpy as np
import pytest
from studies import command_times
from studies.grid import read_rows
from study import main

pytestmark = pytest.mark.slow


def rows_of(path):
    return [line.strip("| ").split(" | ") for line in path.read_text().splitlines() if line.startswith("| ")]


def test_first_and_second_runs_have_a_row(tmp_path):
    main(["first-runs", "--command", "neighbours", "--out", str(tmp_path / "runs")])
    _, _, (name, *numbers) = rows_of(tmp_path / "runs.md")
    assert name == "neighbours"
    assert len(numbers) == 4
    assert all(float(number) > 0 for number in numbers)


def test_commands_of_evidence_have_a_row_each(tmp_path):
    words = ["music", "musical", "war", "battle", "river", "lake", "art", "man", "king", "woman", "first", "second"]
    lines = [" ".join(np.random.default_rng(n).permutation(words)) + "\n\n" for n in range(60)]
    (tmp_path / "text.txt").write_text("".join(lines))
    arguments = ["--corpus", str(tmp_path / "text.txt"), "--rounds", "1", "--resamples", "2"]
    main(["evidence-times", *arguments, "--out", str(tmp_path / "timings")])
    names = [row[0] for row in rows_of(tmp_path / "timings.md")[2:]]
    assert len(names) == 10
    assert names[0].startswith("train skipgram CORPUS -o model")
    assert names[-1] == "analogy model man king woman --confidence replicates"
    explained = (tmp_path / "explain.md").read_text()
    assert [line.split(":")[0] for line in explained.splitlines() if line.startswith("`")] == [
        "`music` and `musical`", "`war` and `battle`", "`river` and `lake`",
    ]  # fmt: skip


def test_answers_of_the_explorer_are_timed(tmp_path, monkeypatch):
    monkeypatch.setattr(command_times, "QUERIES", 3)
    main(["explorer-times", "--words", "3000", "--out", str(tmp_path / "explore")])
    _, _, (words, *numbers) = rows_of(tmp_path / "explore.md")
    assert words == "3,000"
    assert len(numbers) == len(command_times.ExplorerTimes.columns)
    assert {row["measure"] for row in read_rows(tmp_path / "explore.tsv")} == set(command_times.ExplorerTimes.columns)
