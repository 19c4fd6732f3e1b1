"""Sembei: what it learns from text without spaces, what a model contains, and invalid settings."""

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.vocabulary import UnknownWordError, Vocabulary
from embeddings.errors import SettingError
from embeddings.plugins.sembei.sembei import NgramComposer
from embeddings.testing import check_trainer
from embeddings.testing import trainer_contract as testing

ANIMALS, PLACES = ("猫", "小狗", "大老虎"), ("山", "大河", "小海边")


def text(lines=600):
    """Sentences without spaces: an animal eats something, or somebody goes somewhere."""
    rng = np.random.default_rng(1)
    for _ in range(lines):
        if rng.integers(2):
            yield f"昨天{rng.choice(ANIMALS)}吃了{rng.choice(['鱼', '肉', '草'])}"
        else:
            yield f"他们去{rng.choice(PLACES)}玩了{rng.choice(['一', '三', '几'])}天"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("sembei") / "text"
    path.write_text("\n".join(text()), encoding="utf-8")
    return path


SMALL = {"dim": 20, "epochs": 20, "subsample": 0, "min_count": 5, "threads": 1, "seed": 3}


@pytest.fixture(scope="module")
def model(path):
    return em.train("sembei", path, **SMALL)


@pytest.fixture(scope="module")
def compositional(path):
    return em.train("sembei", path, compositional=True, learning_rate=0.02, **SMALL)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *(pytest.param(n, marks=pytest.mark.slow) for n in ({"negative_sharing": "window"}, {"negatives": 1})),
        {"shuffle": True},
    ],
    ids=str,
)
def test_contract(settings):
    """With n-grams of one token: the words of the contract's corpus."""
    check_trainer(em.Sembei, max_n=1, per_length="all", **settings)


def test_contract_of_compositional(monkeypatch):
    """Tokens are code points, so each word of the contract's corpus becomes one."""
    lines, ids = testing.synonym_corpus().sources[0].items, {}
    coded = [[chr(0x4E00 + ids.setdefault(word, len(ids))) for word in line] for line in lines]
    monkeypatch.setattr(testing, "synonym_corpus", lambda trainer: em.Corpus(coded))
    monkeypatch.setattr(testing, "SYNONYMS", tuple(chr(0x4E00 + ids[word]) for word in testing.SYNONYMS))
    check_trainer(em.Sembei, max_n=1, per_length="all", compositional=True, learning_rate=0.05)


@pytest.mark.parametrize("tokenizer", ["words", "characters"])
def test_compositional_refuses_tokens_of_several_code_points(tokenizer):
    corpus = em.Corpus(["new york q\u0301"] * 9, tokenizer=tokenizer)
    small = {name: value for name, value in SMALL.items() if name not in ("threads", "seed")}
    with pytest.raises(SettingError, match=r"compositional.*code point"):
        em.Sembei(**small, compositional=True).train(corpus)


def test_compositional_accepts_the_letter_whose_lower_case_is_two_code_points():
    corpus = em.Corpus(["\u0130x i\u0307x"] * 9, tokenizer="codepoints", normalize="none")
    settings = {"dim": 4, "epochs": 1, "min_count": 1, "subsample": 0, "per_length": "all", "max_n": 3}
    model = em.train("sembei", corpus, compositional=True, **settings)
    composed = NgramComposer(model.vectors.words, model.tables["ngrams"])
    assert model.vectors["i\u0307x"] == pytest.approx(composed(["i\u0307x"])[0])
    assert model.vectors["i\u0307x"].any()


def test_output_tables_predict_right_and_left_neighbours(model):
    """The vector of a verb scores its objects with the right table, its subjects with the left one."""
    ids = model.vocabulary.ids
    verb, subject, thing = (model.vectors["吃了"], ids["小狗"], ids["鱼"])
    assert model.tables["right"][thing] @ verb > 0 > model.tables["right"][subject] @ verb
    assert model.tables["left"][subject] @ verb > 0 > model.tables["left"][thing] @ verb


def test_only_compositional_models_compose_unseen_strings(model, compositional, tmp_path):
    assert model.vectors.compose is None
    with pytest.raises(UnknownWordError, match="no vector for '猫狗'"):
        model.vectors["猫狗"]
    assert "猫狗" not in compositional.vectors
    parts = compositional.tables["ngrams"][[compositional.vocabulary.index("猫"), compositional.vocabulary.index("狗")]]
    np.testing.assert_allclose(compositional.vectors["猫狗"], parts.sum(axis=0), atol=1e-6)
    compositional.save(tmp_path / "m")
    loaded = em.load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.vectors["猫狗"], compositional.vectors["猫狗"])
    with pytest.raises(UnknownWordError, match="none can be composed"):
        loaded.vectors["xyz"]


def test_compositional_vectors_are_sums_of_all_ngrams_within(compositional):
    rows, words = compositional.tables["ngrams"], compositional.vocabulary.words
    for word, vector in zip(words, compositional.vectors.matrix, strict=True):
        pieces = [word[i:j] for i in range(len(word)) for j in range(i + 1, len(word) + 1)]
        known = [rows[compositional.vocabulary.index(piece)] for piece in pieces if piece in compositional.vocabulary]
        np.testing.assert_allclose(vector, np.sum(known, axis=0), atol=1e-5)


def test_a_vocabulary_is_refused():
    with pytest.raises(SettingError, match="vocabulary"):
        em.train("sembei", em.Corpus(["猫"] * 9, tokenizer="codepoints", vocabulary=Vocabulary(["猫"], [3])), **SMALL)


def test_compositional_ngrams_start_from_given_vectors(path):
    rng = np.random.default_rng(3)
    settings = {**SMALL, "compositional": True, "learning_rate": 0.02}
    start = em.Vectors(["猫", "小", "狗", "小狗"], rng.normal(size=(4, SMALL["dim"])).astype(np.float32))
    still = em.train("sembei", path, **(settings | {"learning_rate": 1e-30}), init=em.InitFrom(start))
    words = [word for word in start.words if word in still.vocabulary]
    assert "小狗" in words
    np.testing.assert_allclose(still.vectors[words], start[words], atol=1e-5)
    with pytest.raises(SettingError, match="cannot freeze"):
        em.train("sembei", path, **settings, init=em.InitFrom(start, freeze=True))
