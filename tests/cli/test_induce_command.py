"""`embeddings induce`."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, process, refused, table

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
    result = process("induce", "model", "corpus.txt", "new.txt", "-o", "v.txt", *fit, "--save-map", "map")
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
    again = expect("induce", "model", "corpus.txt", "new.txt", "-o", "w.txt", "--map", "map", "--only-new", "--json")
    assert json.loads(again.stdout)[0] == {"word": "emu", "contexts": 2, "induced": True}
    described = json.loads(expect("info", "map", "--json").stdout)
    assert (described["what"], described["dim"], described["words"]) == ("map of contexts", 10, fitted.words)
    only = em.load("w.txt")
    assert only.words == ["emu", "the_land"]
    assert np.array_equal(only["emu"], vectors["emu"])
    expect("induce", "v.txt", "corpus.txt", "new.txt", "-o", "x.txt", "--method", "mean", code=1)  # all are known


def test_bad_input_is_refused_in_one_line(folder):
    common = ["induce", "model", "corpus.txt", "new.txt", "-o", "v.txt", "--quiet"]
    assert "ridge" in refused(*common, "--min-count", 5, code=2)
    assert "--min-count" in refused(*common, "--min-count", 1000, code=1)
    (folder / "empty.txt").write_text("\n \n")
    assert "empty.txt" in refused("induce", "model", "corpus.txt", "empty.txt", "-o", "v.txt", code=1)
    (folder / "other.txt").write_text("etwas ganz anderes\n" * 9)
    assert "no word of the corpus" in expect("induce", "model", "other.txt", "new.txt", "-o", "v.txt", code=1).stderr
    (folder / "broken.txt").write_text("king 1 nan\nland 1 2\n")
    assert "king" in expect("induce", "broken.txt", "corpus.txt", "new.txt", "-o", "v.txt", code=1).stderr
    assert "overwrite" in refused("induce", "model", "corpus.txt", "new.txt", "-o", "new.txt", "--force", code=2)
    (folder / "new.npy").write_bytes(b"")  # its companion new.txt is an input
    assert "WORDS new.txt" in refused("induce", "model", "corpus.txt", "new.txt", "-o", "new.npy", "--force", code=2)
    assert "--map" in refused(*common, "--map", "map", "--ridge", 1, code=2)
    assert "--map" in refused(*common, "--map", "map", "--save-map", "n", code=2)
    assert "--ridge" in refused(*common, "--method", "mean", "--ridge", 1, code=2)
    assert "does not exist" in refused(*common, "--map", "map", code=1)
    assert not (folder / "v.txt").exists()


def test_another_corpus_is_noted(folder):
    (folder / "other.txt").write_text(NEW * 3)
    result = expect("induce", "model", "other.txt", "new.txt", "-o", "v.txt", "--method", "mean")
    assert "another text" in result.stderr
