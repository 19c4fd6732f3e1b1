"""Names of other tools are answered with ours."""

import copy
import dataclasses
import pickle

import pytest

import embeddings as em
from embeddings.errors import SettingError
from embeddings.setting_names import ADVICE, OUR_NAMES, advice, normalize_name, our_name

KNOWN = ["dim", "window", "negatives", "learning_rate", "epochs", "min_count", "max_vocab", "subsample"]


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("vector_size", "dim"), ("size", "dim"), ("alpha", "learning_rate"), ("lr", "learning_rate"),
        ("rate", "learning_rate"), ("negative", "negatives"), ("ws", "window"), ("sample", "subsample"),
        ("minCount", "min_count"), ("min-count", "min_count"), ("iter", "epochs"), ("epoch", "epochs"),
        ("max_final_vocab", "max_vocab"), ("dimm", "dim"), ("sg", None), ("zzz", None),
    ],
)  # fmt: skip
def test_our_names(name, ours):
    assert our_name(name, KNOWN) == ours


def test_tables_are_normalized_and_disjoint():
    assert all(normalize_name(name) == name for name in (*OUR_NAMES, *ADVICE))
    assert not OUR_NAMES.keys() & ADVICE.keys()


@pytest.mark.parametrize(
    ("name", "fact"), [("vector_size", "dim"), ("workers", "train()"), ("sg", "skipgram or cbow"), ("hs", "objective")]
)
def test_python_errors_name_the_setting(name, fact):
    with pytest.raises(SettingError, match=rf"{name}.*{fact}".replace("(", r"\(").replace(")", r"\)")):
        em.SkipGram(**{name: 1})
    with pytest.raises(SettingError, match=name):
        em.train("skipgram", ["a b"], **{name: 1})


def test_names_that_mean_nothing():
    assert advice("zzz", KNOWN) is None
    with pytest.raises(SettingError, match=r"zzz.*its settings: .*window"):
        em.SkipGram(zzz=1)


@pytest.mark.parametrize("name", ["tables", "labels", "threads", "dim"])
def test_advice_names_only_settings_of_the_same_thing(name):
    vectors = em.Vectors(["a"], [[1.0]])
    with pytest.raises(SettingError, match=rf"{name}.*bits, ") as caught:
        em.build_index(vectors, f"lsh:{name}=2")
    assert "Corpus" not in str(caught.value)
    with pytest.raises(SettingError, match=r"sides.*epochs") as caught:
        em.train("text-pairs", ["a b"], sides=["a", "b"])
    assert "Corpus" not in str(caught.value)


def test_settings_are_copied_and_pickled():
    settings = em.SkipGram(dim=4)
    assert pickle.loads(pickle.dumps(settings)) == copy.deepcopy(settings) == settings
    assert dataclasses.replace(settings, dim=5).dim == 5


@pytest.mark.parametrize(("attribute", "remedy"), [("index_to_key", "words"), ("similar_by_word", "most_similar")])
def test_attributes_of_gensims_vectors_name_ours(attribute, remedy):
    vectors = em.Vectors(["a"], [[1.0]])
    with pytest.raises(AttributeError, match=f"{attribute}.*{remedy}"):
        getattr(vectors, attribute)
    assert not hasattr(vectors, "unknown")
    model = em.train("skipgram", ["a b"], dim=2, min_count=1, threads=1, subsample=0)
    with pytest.raises(AttributeError, match=r"Model.*'wv'.*\.vectors"):
        _ = model.wv


def test_the_import_of_another_name_gives_the_advice_of_the_attribute():
    for name, ours in (
        ("Word2Vec", "em.SkipGram"),
        ("evaluate_classifier", "em.evaluate"),
        ("explain", "analysis.explain"),
    ):
        with pytest.raises(ImportError, match=ours):
            exec(f"from embeddings import {name}")
        with pytest.raises(AttributeError, match=ours):
            getattr(em, name)
        assert not hasattr(em, name)
    with pytest.raises(ImportError, match="cannot import name 'zzz'"):
        exec("from embeddings import zzz")
    exec("from embeddings import registry, vectors, SkipGram")
