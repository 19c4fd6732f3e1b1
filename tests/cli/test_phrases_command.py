"""`embeddings phrases`, and phrases in `train` and `vocabulary`."""

import json
from pathlib import Path

import pytest
from commands import expect

import embeddings as em

SMALL = ["--dim", "4", "--epochs", "1", "--threads", "1", "--min-count", "1"]
LINES = [
    f"{a} new york {b}" for a in ("in", "from", "to", "old", "near") for b in ("is", "was", "cat", "on", "by", "a")
]


@pytest.fixture
def text(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in LINES))
    return tmp_path


def test_phrases_are_found_saved_and_trained(text):
    settings = ["--threshold", "1", "--min-count", "6"]
    result = expect("phrases", "rows.jsonl", *settings, "-o", "p.tsv")
    assert result.stdout == "phrase\tcount\tscore\ttype\nnew york\t30\t3.2\t-\n"
    assert "found 1 phrase\n" in result.stderr
    assert (text / "p.tsv").read_text() == "phrase\tcount\tscore\ttype\tpass\nnew york\t30\t3.2\t-\t1\n"
    result = expect("phrases", "rows.jsonl", *settings, "--json", "--types", "other,adjective-noun", "--quiet")
    assert json.loads(result.stdout) == [{"phrase": "new york", "count": 30, "score": 3.2, "type": "other"}]
    result = expect("train", "cbow", "rows.jsonl", "-o", "m", "--phrases", "p.tsv", "--joiner", "+", *SMALL)
    assert "1 phrase at 30 positions" in result.stderr
    words = set(em.load("m").words)
    assert "new+york" in words
    assert not words & {"new", "york"}
    expect("train", "cbow", "rows.jsonl", "-o", "n", "--phrases", "p.tsv", "--phrase-mode", "alternate", *SMALL)
    assert {"new_york", "new", "york"} <= set(em.load("n").words)


def test_a_vocabulary_with_phrases_is_counted_and_trained(text):
    (text / "list").write_text("New York\nlost horizon\n")
    result = expect("vocabulary", "rows.jsonl", "--phrases", "list", "-o", "v.txt", "--top", "1")
    assert result.stdout == "word\tcount\nnew_york\t30\n"
    assert "1 phrase at 30 positions; 1 phrase with words not in the corpus\n" in result.stderr
    expect("train", "skipgram", "rows.jsonl", "--phrases", "list", "--vocabulary", "v.txt", "-o", "m", "--dim", "4")
    assert em.load("m").words[0] == "new_york"


def test_no_phrases(text):
    result = expect("phrases", "rows.jsonl", "-o", "p.tsv")
    assert (result.stdout, "found 0 phrases" in result.stderr) == ("", True)
    result = expect("train", "cbow", "rows.jsonl", "-o", "m", "--phrases", "auto", *SMALL)
    assert "0 phrases at 0 positions\n" in result.stderr
