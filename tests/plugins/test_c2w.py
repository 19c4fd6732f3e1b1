"""Words composed of characters by a recurrent network."""

import numpy as np
import pytest
from commands import refused
from neural_models import (
    DAMAGES,
    change_table,
    character_model,
    language_model,
    naive_convolution,
    naive_spelling,
)

import embeddings as em
from embeddings.errors import SettingError


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


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["character_inputs", "forward_weights", "projection_weights"])
def test_damaged_c2w_models_give_one_line(name, damage, tmp_path):
    character_model().save(tmp_path / "m")
    change_table(tmp_path / "m", name, DAMAGES[damage])
    assert name in refused("neighbours", tmp_path / "m", "catz", code=1)


@pytest.mark.parametrize(
    "change", [lambda points: points[::-1].copy(), lambda points: points[:0], lambda points: points.astype(np.int64)]
)
def test_damaged_alphabets_give_one_line(change, tmp_path):
    character_model().save(tmp_path / "m")
    change_table(tmp_path / "m", "code_points", change)
    assert "code_points" in refused("neighbours", tmp_path / "m", "catz", code=1)


@pytest.mark.parametrize("word", ["cat", "x", "zzzz", "lunchtime", "a" * 50, "日本"])
def test_a_cnn_composes_as_a_naive_network(word):
    model = language_model(word_network="cnn", filters=2, character_dim=3)
    expected = naive_convolution(model.tables, word[:40])
    np.testing.assert_allclose(model.compose([word, "cat"])[0], expected, rtol=1e-4, atol=1e-5)


def test_variants_are_equal_after_saving(tmp_path):
    for number, settings in enumerate([{"word_network": "lookup"}, {"word_network": "cnn", "filters": 1}]):
        model = language_model(**settings)
        model.save(tmp_path / str(number))
        loaded = em.load_model(tmp_path / str(number))
        np.testing.assert_array_equal(loaded.vectors.matrix, model.vectors.matrix)
        if number:
            np.testing.assert_array_equal(loaded.compose(["catz"]), model.compose(["catz"]))
        else:
            assert loaded.composer is None


@pytest.mark.parametrize("name", ["filters6_weights", "gate_bias", "highway_weights"])
def test_damaged_cnn_models_give_one_line(name, tmp_path):
    language_model(word_network="cnn", filters=1).save(tmp_path / "m")
    change_table(tmp_path / "m", name, DAMAGES["fewer rows"])
    assert name in refused("neighbours", tmp_path / "m", "catz", code=1)


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"filters": 3}, ["filters=3", "cnn"]),
        ({"word_network": "cnn", "character_hidden_size": 7}, ["character_hidden_size=7", "bilstm"]),
        ({"word_network": "lookup", "max_characters": 7}, ["max_characters=7", "bilstm or cnn"]),
        ({"tie": True}, ["tie=True", "lookup"]),
        ({"tie": True, "word_network": "lookup", "hidden_size": 7}, ["tie=True", "hidden_size"]),
        ({"tie": True, "word_network": "lookup", "objective": "adaptive-softmax"}, ["tie=True", "objective"]),
        ({"carry_state": True}, ["carry_state=True", "shuffle=False"]),
        ({"objective": "adaptive-softmax", "negatives": 3}, ["negatives=3"]),
        ({"dropout": 1}, ["dropout"]),
        ({"word_network": "gru"}, ["word_network"]),
    ],
)
def test_settings_without_effect_are_refused(settings, names):
    with pytest.raises(SettingError) as caught:
        em.C2W(**settings)
    assert all(name in str(caught.value) for name in names)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("setting", ["tie", "carry_state", "word_network"])
def test_context2vec_refuses_settings_of_language_models(setting):
    with pytest.raises(SettingError, match=setting):
        em.train("context2vec", ["a b c"], **{setting: True})
