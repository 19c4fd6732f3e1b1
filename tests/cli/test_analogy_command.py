"""`embeddings analogy`: analogies of words."""

import json

import numpy as np
import pytest
from commands import expect

import embeddings as em


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["the", "king", "queen", "dog", "cat"]
    vectors = em.Vectors(words, np.random.default_rng(1).normal(size=(5, 4)))
    vectors.save("v.bin")
    return vectors


def test_analogies(vectors):
    options = ["--json", "--top", "2", "--method", "3cosmul"]
    rows = json.loads(expect("analogy", "v.bin", "king", "queen", "dog", *options).stdout)
    assert [(row["word"], row["score"]) for row in rows] == vectors.analogy(
        "king", "queen", "dog", method="3cosmul", top=2
    )
