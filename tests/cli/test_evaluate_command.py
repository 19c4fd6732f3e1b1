"""`embeddings evaluate` and `compare` of word vectors."""

import json

import numpy as np
from commands import SMALL, TEXT, expect, refused, table

import embeddings as em

COLUMNS = ["vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "covered", "total"]


def test_json_and_tables(folder):
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


def test_learned_vectors_of_unknown_words_are_reported_apart(folder):
    (folder / "corpus.txt").write_text(TEXT + "an emu and a yak\n")
    (folder / "pairs.txt").write_text("king queen 9\ndog zebra 2\ncat emu 5\nking yak 1\n")
    expect("train", "skipgram", "corpus.txt", "-o", "learned", "--min-count", 5, "--unknown-rows", 1, *SMALL)
    score = ["evaluate", "learned", "--similarity", "pairs.txt"]
    (row, *_) = table(expect(*score).stdout)
    assert (row["covered"], row["total"]) == ("1", "4")
    (row, *_) = table(expect(*score, "--unknown", "learned").stdout)
    assert (row["covered"], row["composed"], row["total"]) == ("4", "3", "4")
    assert "unknown_rows" in refused("evaluate", "model", "--similarity", "pairs.txt", "--unknown", "learned", code=2)
    assert "--similarity" in refused("evaluate", "learned", "--stats", "--unknown", "learned", code=2)


def test_compare_prints_paired_tests(folder):
    command = ["compare", "v.bin", "v.bin", "--similarity", "pairs.tsv"]
    rows, lines = json.loads(expect(*command, "--json").stdout), table(expect(*command).stdout)
    expected = [("spearman", 0, 4), ("pearson", 0, 4)]
    assert [(row["measure"], row["difference"], row["items"]) for row in rows] == expected
    assert [(row["measure"], float(row["difference"]), int(row["items"])) for row in lines] == expected
    assert {row["first"] for row in lines} == {"v.bin"}


def test_compare_without_common_items(folder):
    em.Vectors(["other", "words"], np.eye(2)).save("other.bin")
    result = expect("compare", "v.bin", "other.bin", "--similarity", "pairs.tsv")
    assert result.stdout == ""
    assert "nothing to compare" in result.stderr
    result = expect("compare", "v.bin", "v.bin", "other.bin", "--similarity", "pairs.tsv")
    assert "v.bin" in result.stdout
    assert result.stderr.rstrip().endswith("other.bin")
    result = expect("compare", "classifier", "v.bin", "--similarity", "pairs.tsv")
    assert "classifier is a classifier" in result.stderr
    assert "v.bin is" not in result.stderr
