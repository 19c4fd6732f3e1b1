"""The comparison of models of unsegmented text, with a stand-in for the segmenter."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
from studies.grid import read_rows
from study import main

SETTINGS = ["--dim", "4", "--epochs", "1", "--negatives", "2", "--subsample", "0"]


@pytest.fixture
def segmenter(monkeypatch):
    """A segmenter that cuts after every second character."""
    made = ModuleType("jieba")
    made.__spec__ = ModuleSpec("jieba", None)
    made.cut = lambda line: [line[at : at + 2] for at in range(0, len(line), 2)]
    monkeypatch.setitem(sys.modules, "jieba", made)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("東京大学\n京都大学\n大阪東京\n" * 20, encoding="utf-8")
    return path


@pytest.fixture
def arguments(text, tmp_path):
    pairs = [("東京", "京都", 9), ("東京", "大学", 2), ("大阪", "京都", 8), ("大学", "大阪", 1)]
    pairs += [("東学", "京阪", 5)]  # of known characters, that never stand side by side
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{a}\t{b}\t{rating}\n" for a, b, rating in pairs), encoding="utf-8")
    out = str(tmp_path / "out" / "results")
    return ["unsegmented", "--text", str(text), "--similarity", str(path), *SETTINGS, "--out", out]


@pytest.mark.slow
def test_every_model_has_a_row(arguments, tmp_path, segmenter):
    main(arguments)
    rows = read_rows(tmp_path / "out" / "results.tsv")
    assert [(row["model"], row["covered"]) for row in rows if row["measure"] == "pairs"] == [
        ("sembei", "4"),
        ("sembei, compositional", "5"),
        ("skip-gram of characters, means", "5"),
        ("skip-gram of words by jieba", "4"),
    ]
    assert rows[-2]["measure"] == "vectors"
    assert rows[-2]["value"] == "4"
    lines = (tmp_path / "out" / "results.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| s") for line in lines) == 4


def test_a_missing_segmenter_is_reported_before_training(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("studies.grid.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    assert "pip install jieba" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.tsv").exists()
