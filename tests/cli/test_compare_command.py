"""`embeddings compare`: paired tests of two models."""

import json

import numpy as np
import pytest
from commands import expect, table

import embeddings as em


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["the", "king", "queen", "rules", "land", "dog", "cat", "eats", "bone"]
    em.Vectors(words, np.random.default_rng(1).normal(size=(9, 6))).save("v.bin")
    (tmp_path / "pairs.tsv").write_text("king\tqueen\t9\ndog\tcat\t8\nking\tbone\t1\nland\tbone\t3\nking\tunseen\t2\n")
    (tmp_path / "questions.txt").write_text(": animals\nking queen dog cat\nking queen dog unseen\n")
    return tmp_path


def test_compare_prints_paired_tests():
    rows = json.loads(expect("compare", "v.bin", "v.bin", "--similarity", "pairs.tsv", "--json").stdout)
    assert [(row["measure"], row["difference"], row["items"]) for row in rows] == [
        ("spearman", 0, 4),
        ("pearson", 0, 4),
    ]
    lines = table(expect("compare", "v.bin", "v.bin", "--similarity", "pairs.tsv").stdout)
    assert [(row["measure"], row["items"], row["first"]) for row in lines] == [
        ("spearman", "4", "v.bin"),
        ("pearson", "4", "v.bin"),
    ]


def test_compare_without_common_items(folder):
    em.Vectors(["other", "words"], np.eye(2)).save("other.bin")
    result = expect("compare", "v.bin", "other.bin", "--similarity", "pairs.tsv")
    assert result.stdout == ""
    assert "nothing to compare" in result.stderr
    result = expect("compare", "v.bin", "v.bin", "other.bin", "--similarity", "pairs.tsv")
    assert "v.bin" in result.stdout
    assert result.stderr.rstrip().endswith("other.bin")


def test_a_classifier_beside_word_vectors_is_reported(folder):
    (folder / "labels.txt").write_text("__label__a the king queen\n__label__b dog cat bone\n" * 5)
    expect("train", "classifier", "labels.txt", "-o", "topics", "--dim", 4, "--epochs", 1, "--threads", 1)
    result = expect("compare", "topics", "v.bin", "--similarity", "pairs.tsv")
    assert "topics is a classifier" in result.stderr
    assert "v.bin is" not in result.stderr
