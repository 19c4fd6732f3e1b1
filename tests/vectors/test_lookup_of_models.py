"""Models in place of vectors."""

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.models.model import Model


def test_a_model_stands_for_its_vectors(tmp_path):
    vectors = em.Vectors(["a", "b", "c"], np.array([[1, 0], [0.5, 1], [0, 1]]))
    model = Model("any", vectors=vectors, vocabulary=Vocabulary(["a", "b", "c"], [3, 2, 1]))
    assert em.lookup(model, ["a", "?"]).tolist() == em.lookup(vectors, ["a", "?"]).tolist()
    assert em.align(model, onto=model).residual == em.align(vectors, onto=vectors).residual
    assert em.merge(model, model).matrix.tolist() == vectors.matrix.tolist()
    em.build_index(model, "exact").save(tmp_path / "index")
    index = em.load_index(tmp_path / "index", model)
    assert vectors.most_similar("a", index=index) == vectors.most_similar("a")
    for call in (
        lambda: em.lookup("v", ["a"]),
        lambda: em.align(vectors, onto=3),
        lambda: em.merge(vectors, None),
        lambda: em.build_index("v"),
        lambda: em.load_index(tmp_path / "index", "v"),
    ):
        with pytest.raises(SettingError, match="Vectors or a Model"):
            call()
