"""Words composed of characters by a recurrent network."""

import json

import numpy as np
import pytest
from commands import refused
from neural_models import (
    DAMAGES,
    change_table,
    character_model,
    naive_spelling,
)

import embeddings as em
from embeddings.errors import FormatError


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


VARIANTS = {  # settings of earlier versions, with a value whose models are refused
    "word_network": "lookup",
    "tie": True,
    "carry_state": True,
    "objective": "adaptive-softmax",
}


def change_settings(folder, **changes):
    content = json.loads((folder / "model.json").read_text())
    content["settings"] |= changes
    (folder / "model.json").write_text(json.dumps(content))


@pytest.mark.parametrize("setting", VARIANTS)
def test_models_of_removed_variants_are_refused_in_one_line(setting, tmp_path):
    character_model().save(tmp_path / "m")
    change_settings(tmp_path / "m", **{setting: VARIANTS[setting]})
    message = refused("neighbours", tmp_path / "m", "catz", code=1)
    assert f"{setting}={VARIANTS[setting]}" in message
    with pytest.raises(FormatError, match=setting):
        em.load_model(tmp_path / "m")


def test_models_with_removed_settings_at_their_defaults_are_loaded(tmp_path):
    model = character_model()
    model.save(tmp_path / "m")
    change_settings(tmp_path / "m", word_network="bilstm", filters=25, carry_state=False, tie=False)
    loaded = em.load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.compose(["catz"]), model.compose(["catz"]))
    assert loaded.settings == model.settings
