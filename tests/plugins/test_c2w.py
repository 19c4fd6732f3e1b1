"""Words composed of characters by a recurrent network."""

import numpy as np
import pytest
from commands import refused
from neural_models import (
    change_table,
    character_model,
    naive_spelling,
)

import embeddings as em


@pytest.mark.parametrize("word", ["cat", "über", "x", "cats", "zzzz", "ligature", "日本", "a" * 50])
def test_any_spelling_has_the_vector_of_a_naive_network(word):
    model = character_model()
    np.testing.assert_allclose(model.compose([word])[0], naive_spelling(model.tables, word), rtol=1e-4, atol=1e-5)


def test_spellings_are_composed_together_as_alone():
    model = character_model()
    words = ["cat", "fishes", "", "x", "lunchtime", "日本"]
    np.testing.assert_allclose(model.compose(words), [model.compose([word])[0] for word in words], atol=1e-6)
    assert not model.compose([""]).any()
    np.testing.assert_allclose(em.lookup(model, ["cats"], "subwords"), model.compose(["cats"]), atol=1e-6)
    assert model.vectors.most_similar("cat", top=1)[0][1] <= 1


@pytest.mark.parametrize(
    "change", [lambda points: points[::-1].copy(), lambda points: points[:0], lambda points: points.astype(np.int64)]
)
def test_damaged_alphabets_give_one_line(change, tmp_path):
    character_model().save(tmp_path / "m")
    change_table(tmp_path / "m", "code_points", change)
    assert "code_points" in refused("neighbours", tmp_path / "m", "catz", code=1)
