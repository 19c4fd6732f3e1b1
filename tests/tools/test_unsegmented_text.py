"""The comparison of models of unsegmented text, with a stand-in for the segmenter."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
import unsegmented_text

from embeddings.errors import OutputError, SettingError
from embeddings.eval.benchmark.workspace import read_rows
from embeddings.eval.suite import Suite

SETTINGS = {"dim": 4, "epochs": 1, "negatives": 2, "seed": 1, "threads": 1, "subsample": 0.0}


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
def suite(tmp_path):
    pairs = [("東京", "京都", 9), ("東京", "大学", 2), ("大阪", "京都", 8), ("大学", "大阪", 1)]
    pairs += [("東学", "京阪", 5)]  # of known characters, that never stand side by side
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{a}\t{b}\t{rating}\n" for a, b, rating in pairs), encoding="utf-8")
    return Suite.read(similarity=[path])


@pytest.mark.slow
def test_every_model_has_a_row(text, suite, tmp_path, segmenter):
    found = unsegmented_text.compare_models(text, tmp_path / "out", suite, **SETTINGS)
    assert [row["model"] for row in found] == [
        "sembei",
        "sembei, compositional",
        "skip-gram of characters, means",
        "skip-gram of words by jieba",
    ]
    assert [row["pairs covered"] for row in found] == [4, 5, 5, 4]
    assert read_rows(tmp_path / "out" / "results.csv")[3]["vectors"] == found[3]["vectors"] == 4
    lines = (tmp_path / "out" / "results.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| s") for line in lines) == 4
    with pytest.raises(OutputError, match="exists"):
        unsegmented_text.compare_models(text, tmp_path / "out", suite, **SETTINGS)


def test_a_missing_segmenter_is_reported_before_training(text, suite, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(SettingError, match="pip install jieba"):
        unsegmented_text.compare_models(text, tmp_path / "out", suite, **SETTINGS)
    with pytest.raises(SystemExit) as ended:
        unsegmented_text.main([str(text), str(tmp_path / "out"), "--similarity", str(tmp_path / "pairs.txt")])
    assert ended.value.code == 1
    assert "pip install jieba" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
