"""`embeddings index` and `neighbours --index`."""

import json

import numpy as np
import pytest
from commands import expect

from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("vectors")
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(300)]
    rows = rng.standard_normal((30, 10)).repeat(10, axis=0) + 0.2 * rng.standard_normal((300, 10))
    Vectors(words, rows).save(place / "v.bin")
    Vectors(words, rows[::-1]).save(place / "other.bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        result = expect("index", "lsh", "v.bin", "-o", "saved", "--bits", "128", "--rerank", "300")
    assert result.stdout == ""
    assert "lsh index of 300 vectors" in result.stderr
    assert result.stderr.endswith(" MB to saved\n")
    return place


@pytest.fixture(autouse=True)
def folder(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def test_index_json(folder):
    summary = json.loads(expect("index", "lsh", "v.bin", "-o", "json.lsh", "--bits", "64", "--json").stdout)
    assert (summary["out"], summary["kind"], summary["rows"], summary["dim"]) == ("json.lsh", "lsh", 300, 10)
    assert summary["settings"]["bits"] == 64


def test_a_saved_index_answers_as_exact_search_does():
    exact = expect("neighbours", "v.bin", "w3", "w77", "--top", 4).stdout
    assert len(exact.splitlines()) == 9
    for index in ("saved", "lsh:rerank=300", "faiss:factory=Flat", "exact"):
        assert expect("neighbours", "v.bin", "w3", "w77", "--top", 4, "--index", index).stdout == exact


def test_a_saved_faiss_index_needs_consent():
    expect("index", "faiss", "v.bin", "-o", "trusted", "--factory", "Flat")
    exact = expect("neighbours", "v.bin", "w3", "--top", 4).stdout
    assert expect("neighbours", "v.bin", "w3", "--top", 4, "--index", "trusted", "--allow-faiss").stdout == exact
    assert "load it with --allow-faiss" in expect("neighbours", "v.bin", "w3", "--index", "trusted", code=1).stderr
