"""The comparison of vectors from words of several rules."""

import csv
import runpy
from pathlib import Path

import pytest
from commands import TEXT

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "eval" / "results" / "languages"


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(ROOT / "tools" / "tokenizer_comparison.py"))


def test_the_recorded_table_is_that_of_the_results(tool):
    with (RESULTS / "results.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert (RESULTS / "results.md").read_text("utf-8") == tool["markdown"](rows)


def test_each_rule_is_trained_and_scored(tool, tmp_path):
    (tmp_path / "t.txt").write_text(TEXT.replace("dog", "caf\u00e9").replace("cat", "cafe\u0301"), "utf-8")
    (tmp_path / "pairs.txt").write_text("king\tqueen\t9\nking\tcaf\u00e9\t1\nland\tbone\t5\n", "utf-8")
    options = ["--language", "x", "--text", str(tmp_path / "t.txt"), "--dim", "4", "--epochs", "1"]
    rules = ["--rule", "tokenizer=alphanumeric normalize=none", "--rule", "tokenizer=words"]
    out = tmp_path / "out"
    tool["main"]([str(out), *options, *rules, "--similarity", str(tmp_path / "pairs.txt")])
    tool["main"]([str(out), *options, *rules[:2], "--language", "y"])
    lines = [line.split(" | ") for line in (out / "results.md").read_text("utf-8").splitlines()[2:]]
    assert [line[3] for line in lines] == ["9", "8", "9"]
    assert [line[5].endswith("3 of 3 |") for line in lines] == [True, True, False]
