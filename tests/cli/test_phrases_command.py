"""Phrases on the command line: found, saved, trained, evaluated."""

import json
from pathlib import Path

import pytest
from commands import expect, run

import embeddings as em
import embeddings.corpora.encoder
import embeddings.corpora.phrases
import embeddings.plugins.cbow
import embeddings.plugins.skipgram

SMALL = ["--dim", "4", "--epochs", "1", "--threads", "1", "--min-count", "1"]
LINES = [
    f"{a} new york {b}" for a in ("in", "from", "to", "old", "near") for b in ("is", "was", "cat", "on", "by", "a")
]


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in LINES))
    return tmp_path


def test_phrases_are_found_saved_and_trained(text: Path) -> None:
    shape = ["--threshold", "1", "--min-count", "6"]
    done = expect("phrases", "rows.jsonl", *shape, "-o", "p.tsv")
    assert done.stdout == "phrase\tcount\tscore\ttype\nnew york\t30\t3.2\t-\n"
    assert "found 1 phrase\n" in done.stderr
    assert (text / "p.tsv").read_text() == "phrase\tcount\tscore\ttype\tpass\nnew york\t30\t3.2\t-\t1\n"
    done = expect("phrases", "rows.jsonl", *shape, "--json", "--types", "other,adjective-noun", "--quiet")
    assert json.loads(done.stdout) == [{"phrase": "new york", "count": 30, "score": 3.2, "type": "other"}]
    done = expect("train", "cbow", "rows.jsonl", "-o", "m", "--phrases", "p.tsv", "--joiner", "+", *SMALL)
    assert "1 phrase joined in 30 places\n" in done.stderr
    words = set(em.load(text / "m").words)
    assert "new+york" in words
    assert not words & {"new", "york"}
    expect("train", "cbow", "rows.jsonl", "-o", "n", "--phrases", "p.tsv", "--phrase-words", "alternate", *SMALL)
    assert {"new_york", "new", "york"} <= set(em.load(text / "n").words)


def test_a_vocabulary_with_phrases_is_counted_and_trained(text: Path) -> None:
    (text / "list").write_text("New York\nlost horizon\n")
    done = expect("vocabulary", "rows.jsonl", "--phrases", "list", "-o", "v.txt", "--top", "1")
    assert done.stdout == "word\tcount\nnew_york\t30\n"
    assert "1 phrase joined in 30 places; 1 other with words that the corpus has not\n" in done.stderr
    expect("train", "skipgram", "rows.jsonl", "--phrases", "list", "--vocab", "v.txt", "-o", "m", "--dim", "4")
    assert em.load(text / "m").words[0] == "new_york"


def test_nothing_is_found_and_nothing_is_lost(text: Path) -> None:
    done = expect("phrases", "rows.jsonl", "-o", "p.tsv")
    assert (done.stdout, "found 0 phrases" in done.stderr) == ("", True)
    done = expect("train", "cbow", "rows.jsonl", "-o", "m", "--phrases", "auto", *SMALL)
    assert "0 phrases joined in 0 places\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["phrases", "rows.jsonl", "--threshold", "-2"],
            2,
            "threshold must be 0 or more for the score word2phrase, not -2.0",
        ),
        (
            ["phrases", "rows.jsonl", "-o", "rows.jsonl", "--force"],
            2,
            "--out rows.jsonl is a part of the corpus rows.jsonl; choose another place",
        ),
        (["phrases", "rows.jsonl", "-o", "odd"], 1, "odd exists; choose another name, or --force to replace it"),
        (
            ["train", "cbow", "rows.jsonl", "-o", "m", "--phrases", "odd"],
            1,
            "odd, line 2: two words or more are needed, parted by spaces or '_', not 'york'",
        ),
        (
            ["train", "cbow", "rows.jsonl", "-o", "m", "--phrases", "strange"],
            1,
            "none of 1 phrases has all its words in the corpus",
        ),
        (
            ["train", "cbow", "rows.jsonl", "-o", "m", "--joiner", "+"],
            2,
            "joiner and phrase-words say how phrases become tokens: name the phrases too",
        ),
        (
            ["train", "cbow", "rows.jsonl", "-o", "m", "--phrases", "strange", "--joiner", "a"],
            2,
            "joiner must be marks that are neither letter, digit nor white space, not 'a'",
        ),
    ],
)
def test_what_cannot_be_is_told_in_a_line(text: Path, arguments: list[str], code: int, message: str) -> None:
    (text / "odd").write_text("new york\nyork\n")
    (text / "strange").write_text("xanadu xylophone\n")
    done = run(*arguments)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (code, f"Error: {message}")
    assert not (text / "m").exists()


def test_phrase_analogies_are_judged_where_they_are_named(text: Path) -> None:
    words = ["Boston", "boston_globe", "Cleveland", "cleveland_plain_dealer", "st_louis", "St_Louis_Blues"]
    (text / "v.txt").write_text("6 2\n" + "".join(f"{word} {i} 1\n" for i, word in enumerate(words)))
    rows = expect("evaluate", "v.txt", "--analogy", "google-phrases").stdout.splitlines()
    assert [row.split("\t")[-1] for row in rows[1:]][-1] == "3218"
    assert int(rows[-1].split("\t")[-2]) >= 2
    assert "google-phrases" not in expect("evaluate", "v.txt").stdout
