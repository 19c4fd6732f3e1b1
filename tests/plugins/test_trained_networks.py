"""Recurrent models: saved models are equal and need only numpy; what they refuse."""

import sys

import numpy as np
import pytest
from commands import refused
from neural_models import DAMAGES, change_table, character_model, context_model, naive_context, naive_lstm
from small_models import change_settings

import embeddings as em
from embeddings.errors import EmbeddingsError, FormatError, SettingError
from embeddings.models.model import word_predictor


def test_saved_models_are_equal_and_need_no_pytorch(tmp_path, monkeypatch):
    for model in (context_model(), character_model()):
        model.save(tmp_path / model.name)
    monkeypatch.setitem(sys.modules, "torch", None)
    loaded = em.load_model(tmp_path / "context2vec")
    np.testing.assert_array_equal(loaded.context_vector("a [] x"), context_model().context_vector("a [] x"))
    vectors = em.load(tmp_path / "c2w")
    np.testing.assert_array_equal(vectors.compose_words(["cats"]), character_model().compose(["cats"]))


@pytest.mark.parametrize("trainer", ["context2vec", "c2w"])
def test_training_without_pytorch_says_what_to_install(trainer, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(EmbeddingsError, match=r"torch.*pip install 'embeddings-toolkit\[neural\]'"):
        em.train(trainer, ["no text is read"], min_count=1)


def naive_hidden(model, sentence, place):
    """What predicts a word of a sentence."""
    if model.name == "context2vec":
        return naive_context(model.tables, sentence, place)
    rows = [model.tables["marks"][1], *(model.vectors.matrix[word] for word in sentence[:place])]
    return naive_lstm(rows, model.tables["sentence_weights"], model.tables["sentence_bias"])


def naive_losses(model, lines, max_length):
    """-log P of each word of some lines."""
    output = model.tables.get("next_words", model.vectors.matrix)
    for line in lines:
        for start in range(0, len(line), max_length):
            sentence = line[start : start + max_length]
            for place, word in enumerate(sentence):
                scores = output @ naive_hidden(model, sentence, place)
                scores = scores + model.tables["bias"][:, 0] if "bias" in model.tables else scores
                yield np.log(np.exp(scores).sum()) - scores[word]


@pytest.mark.parametrize("objective", ["nce", "sampled-softmax", "full-softmax"])
@pytest.mark.parametrize("new_model", [context_model, character_model])
def test_the_loss_of_a_text_equals_that_of_a_naive_network(new_model, objective, monkeypatch):
    monkeypatch.setattr("embeddings.plugins.neural.trained_networks.MAX_WORDS", 5)
    model, lines = new_model(objective), [[0, 1, 2], [], [3], [5, 4, 3, 2, 1, 0, 8, 8]]
    model.settings["max_length"] = 4
    predictor = word_predictor(model)
    ids, borders = np.concatenate([np.array(line, np.int64) for line in lines]), np.cumsum([0, 3, 0, 1, 8])
    loss, count = predictor.total_loss(ids, borders)
    assert count == 12
    np.testing.assert_allclose(loss, sum(naive_losses(model, lines, 4)), rtol=1e-5)


def test_other_models_have_no_contexts():
    with pytest.raises(SettingError, match="train context2vec"):
        character_model().context_vector("a [] b")
    with pytest.raises(SettingError, match="list of texts"):
        context_model().context_vectors("a [] b")


PARTS = {  # tables of a model, and the command that reads them
    context_model: (["left_inputs", "right_weights", "hidden_weights", "context_weights", "left_marks"], "substitutes"),
    character_model: (["character_inputs", "forward_weights", "projection_weights"], "neighbours"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("new_model", "name"), [(model, name) for model in PARTS for name in PARTS[model][0]])
def test_damaged_tables_give_one_line(new_model, name, damage, tmp_path):
    new_model().save(tmp_path / "m")
    change_table(tmp_path / "m", name, DAMAGES[damage])
    assert name in refused(PARTS[new_model][1], tmp_path / "m", "a [] b", code=1)


@pytest.mark.parametrize(("name", "value"), [("dim", 7), ("hidden_size", "many"), ("input_dim", 2**40), ("no", 1)])
def test_damaged_settings_give_one_line(name, value, tmp_path):
    context_model().save(tmp_path / "m")
    change_settings(tmp_path / "m", **{name: value})
    with pytest.raises(FormatError, match="broken"):
        em.load_model(tmp_path / "m").context_vector("a [] b")
    refused("substitutes", tmp_path / "m", "a [] b", code=1)
