"""A model of random word vectors, of which small copies are made, and saved models with other settings."""

import json

import numpy as np

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.model import Model

RNG = np.random.default_rng(4)


def word_model(words=400, dim=8, **options):
    names = [f"w{number}" for number in range(words)]
    matrix = RNG.standard_normal((words, dim)).astype(np.float32)
    vocabulary = Vocabulary(names, np.arange(words, 0, -1))
    return Model("skipgram", vectors=em.Vectors(names, matrix), vocabulary=vocabulary, **options)


def change_settings(folder, **changes):
    """Write a saved model's record again with other settings."""
    path = folder / "model.json"
    content = json.loads(path.read_text())
    content["settings"] |= changes
    path.write_text(json.dumps(content))
