"""`embeddings evaluate`."""

import json

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, refused, table

import embeddings as em

COLUMNS = ["vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "covered", "total"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["the", "king", "queen", "rules", "land", "dog", "cat", "eats", "bone"]
    em.Vectors(words, np.random.default_rng(1).normal(size=(9, 6))).save("v.bin")
    (tmp_path / "pairs.tsv").write_text("king\tqueen\t9\ndog\tcat\t8\nking\tbone\t1\nland\tbone\t3\nking\tunseen\t2\n")
    (tmp_path / "questions.txt").write_text(": animals\nking queen dog cat\nking queen dog unseen\n")
    return tmp_path


def test_json_and_tables():
    sets = ["--similarity", "pairs.tsv", "--analogy", "questions.txt"]
    rows = json.loads(expect("evaluate", "v.bin", "v.bin", *sets, "--json").stdout)
    assert {"vectors", "set", "measure", "value", "covered", "total"} <= set(rows[0])
    assert [(row["covered"], row["total"]) for row in rows if row["measure"] == "spearman"] == [(4, 5), (4, 5)]
    assert {(row["covered"], row["total"]) for row in rows if row["section"] == "animals"} == {(1, 2)}
    lines = table(expect("evaluate", "v.bin", *sets).stdout)
    assert list(lines[0]) == COLUMNS
    assert "animals" not in {row["section"] for row in lines}
    assert "animals" in {row["section"] for row in table(expect("evaluate", "v.bin", *sets, "--sections").stdout)}


def test_scores_before_a_failure_are_printed(folder):
    (folder / "bad.bin").write_bytes((folder / "v.bin").read_bytes()[:-5])
    result = expect("evaluate", "v.bin", "bad.bin", "--similarity", "pairs.tsv", "--json", code=1)
    assert [row["vectors"] for row in json.loads(result.stdout)] == ["v.bin", "v.bin"]


def test_learned_vectors_of_unknown_words_are_reported_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(TEXT + "an emu and a yak\n")
    (tmp_path / "pairs.txt").write_text("king queen 9\ndog zebra 2\ncat emu 5\nking yak 1\n")
    expect("train", "skipgram", "corpus.txt", "-o", "model", "--min-count", 5, "--unknown-rows", 1, *SMALL)
    score = ["evaluate", "model", "--similarity", "pairs.txt"]
    (row, *_) = table(expect(*score).stdout)
    assert (row["covered"], row["total"]) == ("1", "4")
    (row, *_) = table(expect(*score, "--unknown", "learned").stdout)
    assert (row["covered"], row["composed"], row["total"]) == ("4", "3", "4")
    expect("train", "skipgram", "corpus.txt", "-o", "plain", *SMALL)
    assert "unknown_rows" in refused("evaluate", "plain", "--similarity", "pairs.txt", "--unknown", "learned", code=2)
    assert "--similarity" in refused("evaluate", "model", "--stats", "--unknown", "learned", code=2)
