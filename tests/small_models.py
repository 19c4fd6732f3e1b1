"""A model of random word vectors, of which small copies are made."""

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
