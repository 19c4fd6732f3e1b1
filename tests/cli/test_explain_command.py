"""`embeddings explain`."""

import json
from pathlib import Path

import pytest
from commands import SMALL, TEXT, expect, refused, table


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(TEXT)
    return tmp_path


def test_contexts_of_two_words(folder):
    expect("train", "skipgram", "corpus.txt", "-o", "model", "--subsample", 0, *SMALL)
    result = expect("explain", "model", "corpus.txt", "king", "queen", "--quiet")
    figures, contexts, lines = result.stdout.split("\n\n")
    pairs = dict(line.split("\t") for line in figures.splitlines())
    assert (pairs["count"], pairs["joint_count"]) == ("50", "0")
    assert -1 <= float(pairs["cosine"]) <= 1
    assert table(contexts)[0]["context"] in {"rules", "land"}
    assert {row["keyword"] for row in table(lines)} == {"king", "queen"}
    assert {row["context"] for row in table(lines)} == {row["context"] for row in table(contexts)}
    assert "another text" not in result.stderr
    evidence = json.loads(expect("explain", "model", "corpus.txt", "king", "queen", "--json").stdout)
    assert sum(context["share"] for context in evidence["contexts"]) == pytest.approx(1)
    never = json.loads(expect("explain", "model", "corpus.txt", "king", "dog", "--json").stdout)
    assert (never["joint_count"], never["pmi"]) == (0, None)
    (folder / "other.txt").write_text(TEXT * 2)
    assert "another text" in expect("explain", "model", "other.txt", "king", "queen").stderr
    assert "--case" in refused("explain", "model", "corpus.txt", "king", "queen", "--case", "keep", code=2)
    expect("export", "model", "v.txt")
    evidence = json.loads(expect("explain", "v.txt", "corpus.txt", "king", "cat", "--case", "keep", "--json").stdout)
    assert evidence["same_corpus"] is None
