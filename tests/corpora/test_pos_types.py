"""Types of phrases, the lexicon that determines them, and the triples of a model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import encode

import embeddings as em
from embeddings.corpora.phrases import PhraseList, Phrases, Triple, pos_types, triples
from embeddings.errors import SettingError

TAGS = {"red": "ADJ", "car": "NOUN", "race": "NOUN", "drive": "VERB", "the": "DET", "of": "ADP", "big": "ADJ"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("red car", "adjective-noun"),
        ("race car", "noun-noun"),
        ("drive car", "verb-object"),
        ("drive the car", "verb-object"),
        ("drive of car", "other"),
        ("drive unheard car", "other"),
        ("red the car", "other"),
        ("race of car", "other"),
        ("car red", "other"),
        ("red unheard", "other"),
    ],
)
def test_types_are_determined_by_parts_of_speech(words, expected):
    assert pos_types.phrase_type(words.split(), TAGS) == expected


@settings(deadline=None, max_examples=60)
@given(
    sentences=st.lists(st.lists(st.sampled_from([*TAGS, "else"]), max_size=10), min_size=1, max_size=8),
    names=st.sets(st.sampled_from([*pos_types.TYPES, pos_types.OTHER]), min_size=1),
)
def test_only_phrases_of_the_requested_types_are_detected(tmp_path_factory, sentences, names):
    folder = tmp_path_factory.mktemp("types")
    (folder / "tags").write_text("".join(f"{word}\t{tag}\n" for word, tag in TAGS.items()))
    (folder / "words").write_text("the of")
    shape = {"scoring": "count", "min_count": 1, "connectors": str(folder / "words")}
    with encode([*sentences, ["red", "car"]]) as encoded:
        whole = Phrases(**shape).find(encoded)
        some = Phrases(**shape, types=",".join(names), lexicon=str(folder / "tags")).find(encoded)
    expected = {phrase.words: pos_types.phrase_type(phrase.words, TAGS) for phrase in whole}
    assert {phrase.words: phrase.type for phrase in some} == {
        words: kind for words, kind in expected.items() if kind in names
    }


def test_the_english_lexicon():
    words = pos_types.english_lexicon()
    assert len(words) > 10_000
    assert [words[word] for word in ("red", "car", "use", "the")] == ["ADJ", "NOUN", "VERB", "DET"]
    assert "is" not in words
    assert "london" not in words
    assert all(word == word.lower() and tag in pos_types.TAGS for word, tag in words.items())


def test_a_lexicon_may_have_penn_treebank_tags(tmp_path):
    (tmp_path / "tags").write_text("red\tJJ\ncars\tNNS\nwent\tVBD\nthe\tDT\nParis\tPROPN\n")
    expected = {"red": "ADJ", "cars": "NOUN", "went": "VERB", "the": "DET", "Paris": "PROPN", "paris": "PROPN"}
    assert pos_types.read_lexicon(tmp_path / "tags") == expected


def test_tags_are_found_in_any_case(tmp_path):
    """Neither a capital in the lexicon nor one in the text, but a word that has both forms has both tags."""
    (tmp_path / "tags").write_text("Red\tADJ\nCar\tNOUN\nBrown\tNOUN\nbrown\tADJ\n")
    tags = pos_types.read_lexicon(tmp_path / "tags")
    for words in ("red car", "Red Car", "red Car", "RED CAR", "brown car"):
        assert pos_types.phrase_type(words.split(), tags) == "adjective-noun"
    assert pos_types.phrase_type(["Brown", "car"], tags) == "noun-noun"
    assert pos_types.tag_codes(["RED", "Brown", "brown", "x"], tags).tolist() == [0, 2, 0, -1]
    shape = {"scoring": "count", "min_count": 1, "types": "adjective-noun", "lexicon": str(tmp_path / "tags")}
    for case in ("lower", "keep"):
        with em.Corpus(["Red car"], case=case).encode() as encoded:
            assert [phrase.type for phrase in Phrases(**shape).find(encoded)] == ["adjective-noun"]


def model(words):
    return em.Vectors(words, np.ones((len(words), 2), np.float32), counts=np.arange(len(words), 0, -1))


def test_triples_of_a_model():
    vectors = model(
        ["red", "car", "drive", "red_car", "drive_car", "big_car", "drive_the_car", "a_", "_", "red_car_drive"]
    )
    assert triples(vectors, lexicon=TAGS) == [
        Triple("adjective-noun", "red", "car", "red_car", 7),
        Triple("verb-object", "drive", "car", "drive_car", 6),
        Triple("verb-object", "drive", "car", "drive_the_car", 4),
    ]
    assert triples(vectors, joiner="+") == []
    phrase_list = PhraseList(["drive the car", "red car", "car drive"])
    assert [triple.token for triple in triples(vectors, lexicon=TAGS, phrases=phrase_list)] == [
        "red_car",
        "drive_the_car",
    ]
    assert triples(model(["red", "car", "red+car"]), joiner="+")[0] == Triple(
        "adjective-noun", "red", "car", "red+car", 1
    )
    with pytest.raises(SettingError, match="counts"):
        triples(em.Vectors(["a"], np.ones((1, 2), np.float32)))
