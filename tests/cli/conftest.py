"""Fixtures shared by the tests of commands."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import MODEL, TEXT, expect

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path / "text.txt"


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what commands read."""
    place = tmp_path_factory.mktemp("inputs")
    (place / "text.txt").write_text(TEXT)
    (place / "labels.txt").write_text("__label__a good fine\n__label__b bad poor\n" * 50)
    (place / "pairs.tsv").write_text("king\tqueen\t9\ndog\tcat\t8\nking\tbone\t1\nland\tbone\t3\nking\tunseen\t2\n")
    (place / "questions.txt").write_text(": animals\nking queen dog cat\nking queen dog unseen\n")
    rows = [{"id": i, "text": f"the cat number{i} sat\non the mat", "lang": "en"} for i in range(50)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "more.csv").write_text("body\n" + "the dog\n" * 10)
    words = ["the", "king", "queen", "rules", "land", "dog", "cat", "eats", "bone"]
    em.Vectors(words, np.random.default_rng(1).normal(size=(9, 6))).save(place / "v.bin")
    expect("train", "skipgram", place / "text.txt", "-o", place / "model", "--subsample", 0, *MODEL)
    expect("train", "classifier", place / "labels.txt", "-o", place / "classifier", *MODEL)
    return place


@pytest.fixture
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a copy of what commands read."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def vectors() -> em.Vectors:
    """Vectors of four words, one of them a phrase."""
    words = ["the", "king", "queen", "new york"]
    return em.Vectors(words, np.random.default_rng(0).standard_normal((4, 6)), counts=[9, 5, 5, 1])


@pytest.fixture
def model(tmp_path: Path, vectors: em.Vectors) -> Path:
    """A saved model of these vectors with tables of different shapes."""
    output = np.arange(24, dtype=np.float32).reshape(4, 6)
    tables = {"output": output, "bias": np.ones(3, np.float32), "positions": np.ones((5, 6), np.float32)}
    vocabulary = Vocabulary(vectors.words, [9, 5, 5, 1], total=30)
    model = em.Model("skipgram", vectors=vectors, vocabulary=vocabulary, tables=tables, settings={"dim": 6})
    model.save(tmp_path / "m")
    return tmp_path / "m"
