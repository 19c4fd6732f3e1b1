"""The phrases that become examples, and composition by models: saved, loaded, by type, and corrupt."""

import json

import numpy as np
import pytest
from composition_data import synthetic_phrases

import embeddings as em
from embeddings.corpora.phrases import PhraseList, Triple
from embeddings.corpora.vocabulary import UnknownWordError, Vocabulary
from embeddings.errors import FormatError, SettingError
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, find_examples, to_examples

WORDS = ["red", "car", "play", "role", "the", "red_car", "play_role", "car_role", "play_the_role", "run_car"]
VOCABULARY = Vocabulary(WORDS, np.arange(len(WORDS), 0, -1))
HOW = em.TensorIndexing(min_phrases=50, fit_epochs=3)


def named(found):
    return [(found.types[type], *(WORDS[row] for row in rows)) for type, *rows in found.rows.tolist()]


def test_joined_words_are_phrases_with_types():
    found = find_examples(VOCABULARY, em.TensorIndexing(), joiner="_")
    assert named(found) == [
        ("adjective-noun", "red", "car", "red_car"),
        ("noun-noun", "car", "role", "car_role"),
        ("verb-object", "play", "role", "play_role"),
    ]


def test_listed_phrases_keep_their_types(tmp_path):
    (tmp_path / "list.tsv").write_text("phrase\ttype\nred car\tstrange\nplay the role\t-\nblue car\tstrange\n")
    how = em.TensorIndexing(phrase_list=str(tmp_path / "list.tsv"))
    found = find_examples(VOCABULARY, how, joiner="_")
    assert named(found) == [("strange", "red", "car", "red_car"), ("verb-object", "play", "role", "play_the_role")]
    assert found.left_out == 1
    given = PhraseList([("car", "role")])
    assert named(find_examples(VOCABULARY, HOW, phrases=given, joiner="_")) == [
        ("noun-noun", "car", "role", "car_role")
    ]
    with pytest.raises(SettingError, match="phrase_list"):
        find_examples(VOCABULARY, how, phrases=given, joiner="_")


def test_phrases_as_path_list_tuples_or_iterator(tmp_path):
    (tmp_path / "list.tsv").write_text("phrase\ttype\nred car\tstrange\n")
    for given, type in [
        (tmp_path / "list.tsv", "strange"),
        (str(tmp_path / "list.tsv"), "strange"),
        (["red car"], "adjective-noun"),
        ([("red", "car")], "adjective-noun"),
        ((one for one in ["red car"]), "adjective-noun"),
    ]:
        assert named(find_examples(VOCABULARY, HOW, phrases=given, joiner="_")) == [(type, "red", "car", "red_car")]
    with pytest.raises(TypeError, match="Triple"):
        find_examples(VOCABULARY, HOW, phrases=[Triple("x", "red", "car", "red_car", 1), "red car"], joiner="_")
    with pytest.raises(FormatError, match="red car"):
        find_examples(VOCABULARY, HOW, phrases="red car", joiner="_")


def test_a_list_is_lower_cased_like_the_corpus(tmp_path):
    (tmp_path / "list.tsv").write_text("Red Car\n")
    how = em.TensorIndexing(phrase_list=str(tmp_path / "list.tsv"))
    assert named(find_examples(VOCABULARY, how, joiner="_", case="lower")) == [
        ("adjective-noun", "red", "car", "red_car")
    ]
    assert named(find_examples(VOCABULARY, how, joiner="_", case="keep")) == []


def test_triples_are_used_unchanged_and_of_two_tokens_for_the_same_words_the_more_frequent_one():
    triples = [
        Triple("x", "red", "car", "role", 1),
        Triple("x", "red", "sky", "role", 1),
        Triple("x", "red", "car", "play", 2),
        Triple("other", "red", "car", "the", 3),
    ]
    found = to_examples(VOCABULARY, [*triples, triples[2]])
    assert named(found) == [(ANY, "red", "car", "the"), ("x", "red", "car", "play")]
    assert found.left_out == 2


@pytest.mark.parametrize("joiner", ["", "a", " "])
def test_invalid_joiners_are_refused(joiner):
    with pytest.raises(SettingError, match="joiner"):
        find_examples(VOCABULARY, em.TensorIndexing(), joiner=joiner)


@pytest.fixture(scope="module")
def made():
    vectors, triples, _ = synthetic_phrases()
    return HOW.fit(vectors, triples, threads=1, seed=3)


def test_a_loaded_model_composes_the_same(made, tmp_path):
    made.save(tmp_path / "model")
    again = em.Model.load(tmp_path / "model")
    assert again.record == made.record
    assert again.settings == made.settings
    assert set(again.tables) == set(made.tables)
    for function in Composer.of(made).known_functions("red"):
        a, b = (one.compose("w1", "w2", type="red", function=function) for one in (made, again))
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(
        again.compose(["w1 w2", "w1_w2", "w1", "w1 unheard"]), made.compose(["w1 w2", "w1_w2", "w1", "w1 unheard"])
    )


def test_texts_are_composed_by_the_interface_of_all_models(made):
    rows = made.compose(["w1 w2", "w1_w2", "w1", "w1 unheard", "w1 w2 w3", ""])
    np.testing.assert_allclose(rows[0], made.compose("w1", "w2"), rtol=1e-6)
    np.testing.assert_array_equal(rows[1], rows[0])
    assert not rows[2:].any()
    np.testing.assert_array_equal(made.vectors["w1 w2"], made.compose("w1", "w2"))
    with pytest.raises(UnknownWordError, match="no vector for 'w1 unheard'"):
        made.vectors["w1 unheard"]


def test_each_text_is_composed_by_the_functions_of_its_type(made):
    pairs = [(f"w{i}", f"w{j}") for i in range(30) for j in range(30)]
    expected = [made.compose(*pair) for pair in pairs]
    assert {Composer.of(made).type_of(*pair) for pair in pairs} == {"red", "blue", "any"}
    rows = made.compose([" ".join(pair) for pair in pairs])
    np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)


def adjectives_and_nouns():
    """Vectors of adjectives, nouns and a verb; only some of their phrases are tokens."""
    rng, adjectives = np.random.default_rng(1), ["red", "green", "black", "white", "old", "new"]
    nouns = ["car", "house", "door", "boat", "tree", "bird", "hat", "dress"]
    pairs = [(a, b) for a in [*adjectives, *nouns] for b in nouns if (a, b) != ("red", "car") and a != b]
    words = [*adjectives, *nouns, "drive", "of", *(f"{a}_{b}" for a, b in pairs if (a, b) != ("car", "door"))]
    return em.Vectors(words, rng.normal(size=(len(words), 6)).astype(np.float32), counts=np.full(len(words), 5))


def test_an_unlisted_phrase_has_the_type_of_its_words(tmp_path):
    model = em.TensorIndexing(min_phrases=20, fit_epochs=2).fit(adjectives_and_nouns(), threads=1)
    model.save(tmp_path / "m")
    for known in (model, em.Model.load(tmp_path / "m")):
        composer = Composer.of(known)
        assert composer.example("red", "car") is None
        assert composer.type_of("red", "car") == "adjective-noun"
        assert composer.type_of("car", "door") == "noun-noun"
        assert composer.type_of("drive", "car") == "any", "no functions were fitted for verbs and objects"
        assert composer.type_of("of", "car") == composer.type_of("unheard", "car") == "any"
        by_type = known.compose("red", "car", type="adjective-noun")
        np.testing.assert_array_equal(known.compose("red", "car"), by_type)
        assert (by_type != known.compose("red", "car", type="any")).any()


def test_types_come_from_the_lexicon_and_untyped_models_have_none(tmp_path):
    (tmp_path / "tags.tsv").write_text("".join(f"{word}\tNOUN\n" for word in ("red", "green", "black", "Car", "hat")))
    how = em.TensorIndexing(min_phrases=5, held_out=0.2, fit_epochs=1, lexicon=str(tmp_path / "tags.tsv"))
    model = how.fit(adjectives_and_nouns(), threads=1)
    (tmp_path / "tags.tsv").unlink()
    assert Composer.of(model).type_of("red", "car") == "noun-noun"
    again = em.TensorIndexing(min_phrases=20, fit_epochs=1, typed=False).fit(model, threads=1)
    assert Composer.of(again).type_of("red", "car") == "any"
    assert "parts-of-speech" not in again.tables


def test_own_is_the_vector_of_the_phrase_itself(made):
    words = made.vectors.words
    _, first, second, phrase, _ = made.tables["phrases"][5].tolist()
    np.testing.assert_array_equal(
        made.compose(words[first], words[second], function="own"), made.vectors.matrix[phrase]
    )
    missing = next((a, b) for a in words[:30] for b in words[:30] if f"{a}_{b}" not in words)
    with pytest.raises(UnknownWordError, match=f"{missing[0]} {missing[1]}"):
        made.compose(*missing, function="own")


def test_neighbours_exclude_the_words_of_the_phrase(made):
    vectors = made.vectors
    found = Composer.of(made).neighbours("w1", "w2", function="additive", top=len(vectors))
    query = vectors["w1"] + vectors["w2"]
    assert found == [row for row in vectors.most_similar(query, top=len(vectors)) if row[0] not in ("w1", "w2")]


def test_unknown_functions_types_and_words_are_refused(made):
    with pytest.raises(SettingError, match=r"function.*additive, multi.*'red'.*'sum'"):
        made.compose("w1", "w2", type="red", function="sum")
    with pytest.raises(SettingError, match=r"function.*'tensor'"):
        made.compose("w1", "w2", function="tensor")
    with pytest.raises(UnknownWordError, match="no vector for 'unheard'"):
        made.compose("w1", "unheard")
    with pytest.raises(SettingError, match="compose"):
        made.compose(["w1 w2"], function="additive")
    rows = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    vectors, vocabulary = em.Vectors(["a", "b", "c"], rows), Vocabulary(["a", "b", "c"], [5, 5, 5])
    plain = em.Model("skipgram", vectors=vectors, vocabulary=vocabulary)
    with pytest.raises(SettingError, match="skipgram"):
        plain.compose("a", "b")
    composer = Composer.of(plain)
    np.testing.assert_array_equal(
        composer.compose("a", "b", function="additive"), plain.vectors["a"] + plain.vectors["b"]
    )
    with pytest.raises(SettingError, match=r"function.*additive.*'any'.*'tensor-indexing'"):
        composer.compose("a", "b", function="tensor-indexing")
    np.testing.assert_array_equal(composer.compose("a", "b"), plain.vectors["a"] + plain.vectors["b"])


def corrupted(model, folder, *, tables=None, record=None):
    """The model saved with other tables or another record."""
    changed = em.Model(
        model.name,
        vectors=model.vectors,
        vocabulary=model.vocabulary,
        settings=model.settings,
        tables=model.tables | (tables or {}),
        record=model.record | (record or {}),
        composer=em.TensorIndexing.composer,
    )
    changed.save(folder / "corrupted")
    return em.Model.load(folder / "corrupted")


@pytest.mark.parametrize(
    ("tables", "record", "message"),
    [
        ({"red/tensor-indexing/left": np.zeros((2, 6, 5), np.float32)}, {}, "red/tensor-indexing do not fit 6"),
        ({"red/tensor-indexing/left": np.zeros((0, 6, 6), np.float32)}, {}, "red/tensor-indexing do not fit 6"),
        ({"red/tensor-indexing/right": np.zeros((2, 6, 6), np.float32)}, {}, "red/tensor-indexing do not fit 6"),
        ({"red/weighted-additive/weights": np.zeros(2, np.int64)}, {}, "red/weighted-additive do not fit 6 components"),
        ({"red/additive/left": np.zeros((6, 36), np.float32)}, {}, "red/additive do not fit 6 components"),
        ({"phrases": np.zeros((3, 4), np.int32)}, {}, r"'phrases'.*\(3, 4\)"),
        ({"phrases": np.zeros((3, 5), np.float32)}, {}, "'phrases'.*float32"),
        ({"phrases": np.full((3, 5), 10**6, np.int32)}, {}, "'phrases' refers to missing words, types or parts"),
        ({"phrases": np.full((3, 5), -1, np.int32)}, {}, "'phrases' refers to missing words, types or parts"),
        ({"red/tensor-additive/left": np.float32(1)}, {}, "do not fit"),
        (
            {"parts-of-speech": np.zeros(3, np.int8)},
            {},
            r"'parts-of-speech'.*int8 \(3,\)",
        ),
        ({}, {"types": "red"}, "'phrases'.*types"),
        ({}, {"types": [1, 2]}, "'phrases'.*types"),
    ],
)
def test_corrupt_models_are_refused(made, tmp_path, tables, record, message):
    with pytest.raises(FormatError, match=message):
        corrupted(made, tmp_path, tables=tables, record=record).compose("w1", "w2")


@pytest.mark.parametrize(
    ("record", "joiner"),
    [
        ({}, "_"),
        ({"joiner": "+"}, "+"),
        ({"text": {"phrases": {"joiner": "~"}}}, "~"),
        ({"joiner": "+", "text": {"phrases": {"joiner": "~"}}}, "+"),
        ({"text": {"phrases": None}, "joiner": 3}, "_"),
        ({"text": "odd", "joiner": ""}, "_"),
    ],
)
def test_the_joiner_is_that_of_the_model(record, joiner):
    words = ["red", "car", f"red{joiner}car"]
    vectors, vocabulary = em.Vectors(words, np.ones((3, 2), np.float32)), Vocabulary(words, [5, 5, 5])
    model = em.Model("skipgram", vectors=vectors, vocabulary=vocabulary, record=record)
    assert Composer.of(model).phrase_row("red", "car") == 2


def test_fitting_again_drops_old_functions(made):
    again = em.TensorIndexing(min_phrases=50, fit_epochs=1, typed=False).fit(made, threads=1)
    assert {name.split("/")[0] for name in again.tables} == {"any", "phrases"}
    assert again.record["base"]["model"] == "tensor-indexing"
    json.dumps(again.record)
