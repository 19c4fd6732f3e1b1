"""Models of recurrent networks need only numpy: what they compute, how they are saved, and what they refuse."""

import json
import sys

import numpy as np
import pytest
from commands import expect, process, refused, table
from hypothesis import given
from hypothesis import strategies as st
from neural_models import WORDS, character_model, context_model, naive_context, naive_lstm, naive_spelling

import embeddings as em
from embeddings.errors import EmbeddingsError, FormatError, SettingError
from embeddings.kernels.block import LAST
from embeddings.kernels.sentence_block import new_sentence_block
from embeddings.models.prediction import word_predictor
from embeddings.plugins.neural.sentence_batches import batches, groups_of_similar_length, pad, reading_order
from embeddings.support import tensors

UNKNOWN = len(WORDS)


def rows_of(text):
    return [WORDS.index(word) if word in WORDS else UNKNOWN for word in text.split()]


@pytest.mark.parametrize("text", ["the cat ate a [] for lunch", "[] ate", "the dog []", "[]", "the [] CAT, zzz!"])
def test_context_vectors_equal_a_naive_network(text):
    model, plain = context_model(), text.lower().replace(",", "").replace("!", "")
    ids = rows_of(plain)
    expected = naive_context(model.tables, ids, plain.split().index("[]"))
    np.testing.assert_allclose(model.context_vector(text), expected, rtol=1e-4, atol=1e-5)


def test_several_texts_have_the_vectors_of_each():
    model, texts = context_model(), ["a [] for lunch", "[]", "the cat ate a [] for a lunch and then x []"[:-3], "x []"]
    np.testing.assert_allclose(model.context_vectors(texts), [model.context_vector(one) for one in texts], atol=1e-6)
    assert model.context_vectors([]).shape == (0, 6)


def test_all_contexts_of_sentences_are_encoded():
    model = context_model()
    encoder = em.Context2Vec.context_encoder(model)
    sentences = [np.array(one) for one in ([0, 1, 2, 9, 3, 4], [5], [30, 1], [2, 2, 2, 2])]
    for ids, rows in zip(sentences, encoder(sentences), strict=True):
        expected = [naive_context(model.tables, ids.tolist(), place) for place in range(len(ids))]
        np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)


def test_substitutes_are_the_nearest_words():
    model, text = context_model(), "the cat [] a fish"
    vector = model.context_vector(text)
    cosines = model.vectors.matrix @ vector / np.linalg.norm(model.vectors.matrix, axis=1) / np.linalg.norm(vector)
    expected = [WORDS[row] for row in np.argsort(-cosines)[:3]]
    assert [word for word, _ in model.substitutes(text, top=3)] == expected


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


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 100))
def test_groups_hold_each_sentence_once_and_are_small(lengths, most):
    groups = list(groups_of_similar_length(np.array(lengths, np.int64), most))
    assert sorted(np.concatenate(groups).tolist() if groups else []) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[row] for row in group) <= most


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=7), min_size=1, max_size=6))
def test_readers_see_the_words_before_and_after_each_word(sentences):
    ids, lengths = pad([np.array(one) for one in sentences])
    order = reading_order(ids, lengths, 99)
    for row, sentence in enumerate(sentences):
        for place in range(len(sentence)):
            assert order.forward[row, : place + 1].tolist() == [99, *sentence[:place]]
            assert order.backward[row, : order.known[row, place] + 1].tolist() == [99, *sentence[:place:-1]]


def test_batches_hold_all_words_of_a_block():
    block, lengths = new_sentence_block(40, 0), [3, 9, 1, 4, 4, 2]
    block.starts[1 : len(lengths) + 1] = np.cumsum(lengths)
    block.cursor[LAST] = len(lengths)
    seen = []
    for batch in batches(block, 10):
        for places, length in zip(batch.places, batch.lengths, strict=True):
            seen += places[:length].tolist()
    assert sorted(seen) == list(range(sum(lengths)))


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [("I ate lunch", "no gap"), ("[] ate []", "2 gaps"), (b"[]", "string"), (["[]"], "string")],
)
def test_texts_need_one_gap(text, problem):
    with pytest.raises(SettingError, match=problem):
        context_model().context_vector(text)


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
    monkeypatch.setattr("embeddings.plugins.neural.trained_networks.GROUP_WORDS", 5)
    model, lines = new_model(objective), [[0, 1, 2], [], [3], [5, 4, 3, 2, 1, 0, 8, 8]]
    model.settings["max_length"] = 4
    predictor = word_predictor(model)
    ids, borders = np.concatenate([np.array(line, np.int64) for line in lines]), np.cumsum([0, 3, 0, 1, 8])
    loss, count = predictor.total_loss(ids, borders)
    assert count == 12
    np.testing.assert_allclose(loss, sum(naive_losses(model, lines, 4)), rtol=1e-5)


def test_perplexity_of_a_text(tmp_path):
    (tmp_path / "text.txt").write_text("the cat ate a bird\nunseen words\n")
    character_model().save(tmp_path / "m")
    rows = table(expect("evaluate", tmp_path / "m", "--perplexity", tmp_path / "text.txt").stdout)
    expected = np.mean(list(naive_losses(character_model(), [[0, 1, 2, 3]], 100)))
    values = {row["measure"]: float(row["value"]) for row in rows}
    np.testing.assert_allclose(values["perplexity"], np.exp(expected), rtol=1e-3)
    context_model().save(tmp_path / "c")
    message = refused("evaluate", tmp_path / "c", "--perplexity", tmp_path / "text.txt", code=2)
    assert "negative sampling" in message
    for model in (character_model(), context_model("nce")):
        with pytest.raises(SettingError, match=f"this {model.name} model lacks"):
            model.predict_output_word(["cat"])


def test_other_models_have_no_contexts():
    with pytest.raises(SettingError, match="train context2vec"):
        character_model().context_vector("a [] b")
    with pytest.raises(SettingError, match="list of texts"):
        context_model().context_vectors("a [] b")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"objective": "full-softmax", "negatives": 3}, "negatives=3 has no effect"),
        ({"objective": "hierarchical-softmax"}, "objective must be one of"),
        ({"device": "tpu"}, "device must be one of auto, cpu, cuda"),
        ({"max_length": 0}, "max_length must be"),
        ({"batch_words": 0}, "batch_words must be"),
    ],
)
def test_settings_are_checked(settings, problem):
    for trainer in (em.Context2Vec, em.C2W):
        with pytest.raises(SettingError, match=problem):
            trainer(**settings)


def change_table(folder, name, change):
    """Save a model's folder again with one array changed or left out."""
    path = folder / "tensors.safetensors"
    arrays = {key: np.array(array) for key, array in tensors.load(path).items()}
    arrays[name] = change(arrays[name])
    tensors.save({key: array for key, array in arrays.items() if array is not None}, path)


DAMAGES = {
    "missing": lambda array: None,
    "fewer rows": lambda array: array[:-1],
    "float64": lambda array: array.astype(np.float64),
    "one axis": lambda array: array.reshape(-1),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["left_inputs", "right_weights", "hidden_bias", "context_weights", "left_marks"])
def test_damaged_context2vec_models_give_one_line(name, damage, tmp_path):
    context_model().save(tmp_path / "m")
    if damage == "one axis" and name == "hidden_bias":
        name = "hidden_weights"
    change_table(tmp_path / "m", name, DAMAGES[damage])
    assert name in refused("substitutes", tmp_path / "m", "a [] b", code=1)


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


@pytest.mark.parametrize(("name", "value"), [("dim", 7), ("hidden_size", "many"), ("input_dim", 2**40), ("no", 1)])
def test_damaged_settings_give_one_line(name, value, tmp_path):
    context_model().save(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    content = json.loads(path.read_text())
    content["settings"][name] = value
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match="broken"):
        em.load_model(tmp_path / "m").context_vector("a [] b")
    refused("substitutes", tmp_path / "m", "a [] b", code=1)


def test_the_command_prints_substitutes(tmp_path):
    context_model().save(tmp_path / "m")
    rows = table(expect("substitutes", tmp_path / "m", "a [] for lunch", "[] ate", "--top", 2).stdout)
    expected = [word for text in ("a [] for lunch", "[] ate") for word, _ in context_model().substitutes(text, top=2)]
    assert [row["substitute"] for row in rows] == expected
    assert "one gap" in refused("substitutes", tmp_path / "m", "no gap here", code=2)


def test_commands_work_in_a_process_of_their_own(tmp_path):
    character_model().save(tmp_path / "m")
    result = process("neighbours", tmp_path / "m", "catz", "--top", 2, "--json")
    assert result.returncode == 0, result.stderr
    assert "composed" in result.stderr
    expected = [word for word, _ in character_model().vectors.most_similar("catz", top=2)]
    assert [row["neighbour"] for row in json.loads(result.stdout)] == expected
