"""`embeddings evaluate` and `compare` of vectors."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, table
from text_sets import WORDS, write_sets

import embeddings as em
from embeddings.eval.evaluation import KINDS

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


MORE = {  # settings beside those of the sets
    "pairs": {"left_column": "b", "right_column": "a", "rating_column": "score", "pool": "sif", "remove_components": 1},
    "retrieval": {"index": "exact", "ranking": ["vectors", "lexical"]},
}


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    rows = np.random.default_rng(1).standard_normal((60, 8))
    em.Vectors(WORDS, rows, counts=range(120, 60, -1)).save(folder / "vectors.bin")
    return write_sets(folder)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("perplexity", "labels")])
def test_options_of_every_kind_are_arguments_of_the_library(kind, sets, monkeypatch):
    settings = sets[kind] | MORE.get(kind, {})
    monkeypatch.chdir(sets["similarity"]["similarity"].parent)
    options = []
    for name, value in settings.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "ranking":
            options += [word for one in value for word in (flag, one)]
        else:
            options += [flag] if value is True else [flag, *np.atleast_1d(value)]
    rows = json.loads(expect("evaluate", "vectors.bin", *options, "--json").stdout)
    assert rows == json.loads(json.dumps([asdict(one) for one in em.evaluate("vectors.bin", **settings)]))
