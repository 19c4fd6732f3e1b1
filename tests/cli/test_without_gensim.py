"""Commands without gensim, which has no wheels for Python 3.14."""

import pickle
import sys

import numpy as np
import pytest
from commands import expect, refused, table

import embeddings as em


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    """A file of vectors in the current folder; gensim cannot be imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "gensim"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.chdir(tmp_path)
    words = ["tiger", "cat", "book", "paper", "computer", "keyboard", "train", "car"]
    em.Vectors(words, np.random.default_rng(1).standard_normal((8, 4))).save("v.bin")
    return "v.bin"


@pytest.mark.parametrize("command", [["evaluate"], ["compare", "v.bin"]])
def test_the_default_test_sets_are_those_that_are_installed(vectors, command):
    result = expect(*command, vectors)
    assert {"wordsim353"} <= {row["set"] for row in table(result.stdout)} <= {"wordsim353", "google-analogies"}
    (note,) = [line for line in result.stderr.splitlines() if "simlex999" in line]
    assert "gensim, which is not installed" in note


def test_a_file_of_the_name_of_a_set_is_used(vectors, tmp_path):
    (tmp_path / "simlex999").write_text("tiger\tcat\t7\nbook\tpaper\t6\ntrain\tcar\t5\n")
    result = expect("evaluate", vectors)
    assert "simlex999" in {row["set"] for row in table(result.stdout)}
    assert "left out" not in result.stderr


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        (["evaluate", "v.bin", "--similarity", "simlex999"], ["simlex999", "file"]),
        (["export", "v.bin", "out", "--format", "gensim"], ["word2vec-text", "word2vec-binary"]),
        (["export", "v.bin", "out.kv"], ["word2vec-text", "word2vec-binary"]),
        (["info", "in.kv", "--full", "--allow-pickle"], ["in.kv", "save_word2vec_format"]),
        (["neighbours", "in.kv", "tiger", "--allow-pickle"], ["in.kv", "save_word2vec_format"]),
    ],
)
def test_what_requires_gensim_is_refused_in_one_line(vectors, tmp_path, command, facts):
    (tmp_path / "in.kv").write_bytes(pickle.dumps({"a": 1}))
    message = refused(*command, code=1)
    for fact in ("gensim", "not installed", "pip install gensim", "3.13", *facts):
        assert fact in message
    assert "unexpected" not in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.kv", "v.bin"]


def test_pickles_are_described_but_refused_unless_allowed(vectors, tmp_path):
    (tmp_path / "in.kv").write_bytes(pickle.dumps({"a": 1}))
    assert "gensim" in expect("info", "in.kv").stdout
    assert "--allow-pickle" in refused("neighbours", "in.kv", "tiger", code=1)
