"""`embeddings induce`."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, process, table

import embeddings as em

NEW = "the emu rules the bone\nthe emu eats the land\nyak\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(TEXT + NEW)
    (tmp_path / "new.txt").write_text("Emu\nthe land\nyak\nking\n\n")
    expect("train", "skipgram", "corpus.txt", "-o", "model", "--subsample", 0, "--min-count", 5, *SMALL)
    return tmp_path


def test_new_words_join_the_vectors(folder):
    fit = ["--min-count", 5, "--ridge", 0.1]
    result = process("induce", "model", "corpus.txt", "new.txt", "-o", "v.txt", *fit)
    assert result.returncode == 0, result.stderr
    rows = table(result.stdout)
    assert [(row["word"], row["contexts"], row["induced"]) for row in rows] == [
        ("emu", "2", "True"), ("the_land", "101", "True"), ("yak", "0", "False"),
    ]  # fmt: skip
    assert "king" in result.stderr
    assert "yak" in result.stderr
    vectors, model = em.load("v.txt"), em.load_model("model")
    assert vectors.words == [*model.vectors.words, "emu", "the_land"]
    fitted = em.analysis.fit_context_map(model, em.Corpus("corpus.txt"), min_count=5, ridge=0.1)
    expected = em.analysis.ContextInducer(model, em.Corpus("corpus.txt"), fitted)(["emu"])[0]
    assert vectors["emu"] == pytest.approx(expected, abs=1e-5)
    again = expect("induce", "model", "corpus.txt", "new.txt", "-o", "w.txt", *fit, "--only-new", "--json")
    assert json.loads(again.stdout)[0] == {"word": "emu", "contexts": 2, "induced": True}
    only = em.load("w.txt")
    assert only.words == ["emu", "the_land"]
    assert np.array_equal(only["emu"], vectors["emu"])
    expect("induce", "v.txt", "corpus.txt", "new.txt", "-o", "x.txt", "--method", "mean", code=1)  # all are known
    (folder / "other.txt").write_text(NEW * 3)
    result = expect("induce", "model", "other.txt", "new.txt", "-o", "y.txt", "--method", "mean")
    assert "another text" in result.stderr
