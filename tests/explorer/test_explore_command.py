"""`embeddings explore`: options and files that are refused."""

import pytest
from commands import refused


@pytest.mark.parametrize(
    ("options", "code", "facts"),
    [
        (["--groups", "0"], 2, ["--groups"]),
        (["--groups", "101"], 2, ["--groups", "100"]),
        (["--groups", "groups.tsv"], 2, ["--groups"]),
        (["--confidence", "."], 1, ["embeddings stability"]),
        (["--case", "keep"], 2, ["--case", "--corpus"]),
        (["--documents", "--corpus", "text.txt"], 2, ["--documents", "--corpus"]),
        (["--corpus", "missing.txt"], 1, ["missing.txt"]),
        (["--texts", "."], 1, ["index of texts"]),
        (["--allow-faiss"], 2, ["--texts"]),
        (["--port", "70000"], 2, ["--port"]),
        (["--map-words", "100001"], 2, ["--map-words"]),
    ],
)
def test_wrong_options_are_refused(folder, monkeypatch, options, code, facts):
    monkeypatch.chdir(folder)
    message = refused("explore", "model", "--no-browser", *options, code=code)
    assert all(fact in message for fact in facts), message


def test_replicates_of_other_vectors_are_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert "other vectors" in refused("explore", "words.parquet", "--confidence", "replicates", code=2)
