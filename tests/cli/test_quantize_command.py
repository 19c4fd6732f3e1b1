"""`embeddings quantize`: options, output and errors."""

import json

import numpy as np
import pytest
from commands import expect, refused
from small_models import word_model
from supervised_models import TEXTS, supervised_model

import embeddings as em


@pytest.fixture
def model(tmp_path):
    (tmp_path / "m.bin").write_bytes(supervised_model().data)
    return tmp_path / "m.bin"


@pytest.fixture
def texts(tmp_path):
    """Labelled texts."""
    (tmp_path / "t.txt").write_text("__label__a the where\n__label__é naïve 北海道\n" * 9, encoding="utf-8")
    return tmp_path / "t.txt"


def test_sizes_are_reported(model, tmp_path):
    result = expect("quantize", model, "-o", tmp_path / "q.ftz", "--cutoff", 20, "--qnorm", "--json")
    small = em.load_classifier(model).quantize(20, qnorm=True)
    written = em.load_classifier(tmp_path / "q.ftz")
    np.testing.assert_array_equal(written.predict_proba(TEXTS), small.predict_proba(TEXTS))
    summary = json.loads(result.stdout)
    assert summary["file"] == str(tmp_path / "q.ftz")
    assert summary["bytes"] == (tmp_path / "q.ftz").stat().st_size
    assert summary["bytes_before"] == model.stat().st_size
    assert "instead of" in result.stderr


def test_training_again(model, texts, tmp_path):
    options = ["--cutoff", 25, "--retrain", texts, "--epochs", 20, "--learning-rate", 0.5, "--threads", 1]
    expect("quantize", model, "-o", tmp_path / "q.ftz", *options)
    predicted = em.load_classifier(tmp_path / "q.ftz").predict(["the where", "naïve 北海道"])
    assert predicted.labels[:, 0].tolist() == ["__label__a", "__label__é"]


def test_a_small_model_of_words(tmp_path):
    model = word_model(words=600)
    model.save(tmp_path / "model")
    arguments = ["--storage", "int8", "--json", "-o", tmp_path / "small"]
    summary = json.loads(expect("quantize", tmp_path / "model", *arguments).stdout)
    assert summary["bytes"] < summary["bytes_before"]
    small = em.load(tmp_path / "small")
    np.testing.assert_allclose(small.matrix, model.vectors.matrix, atol=np.abs(model.vectors.matrix).max() / 127)
    info = expect("info", tmp_path / "small").stdout
    assert "dim\t8" in info
    assert "tables.vectors\t600 8\nstorage.vectors\tint8\n" in info
    assert "exists" in refused("quantize", tmp_path / "model", *arguments, code=1)
