"""Vectors composed of subwords: equality with a naive implementation, saved models, and errors."""

import json

import numpy as np
import pytest
from subword_models import TOLERANCE, UNSEEN, WORDS, fasttext_model, naive_vector

import embeddings as em
from embeddings.corpora.vocabulary import UnknownWordError, Vocabulary
from embeddings.errors import FormatError, RegistryError, SettingError
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def trainer(install):
    """An installed trainer, called composing, whose models are made of n-grams."""
    source = (
        "from embeddings.models.model import Capabilities\n"
        "from embeddings.models.subword_composer import composer\n"
        "class Composing(Capabilities): composer = staticmethod(composer)\n"
    )
    install("composing", "composing = composing_module:Composing", source)
    return "composing"


@pytest.mark.parametrize(("min_n", "max_n"), [(3, 6), (1, 2), (2, 2)])
def test_known_and_unseen_words_equal_the_naive_implementation(min_n, max_n):
    fasttext = fasttext_model(min_n=min_n, max_n=max_n)
    for word in [*WORDS, *UNSEEN, ""]:
        expected = naive_vector(fasttext, word)
        if expected.any():
            np.testing.assert_allclose(fasttext.vectors[word], expected, **TOLERANCE)
        else:
            with pytest.raises(UnknownWordError, match="composed"):
                fasttext.vectors[word]


def test_several_words_at_once_and_zeros_without_ngrams():
    fasttext = fasttext_model()
    rows = fasttext.compose([*UNSEEN, ""])
    assert rows.dtype == np.float32
    for word, row in zip([*UNSEEN, ""], rows, strict=True):
        np.testing.assert_allclose(row, naive_vector(fasttext, word), **TOLERANCE)
    assert not rows[-1].any()
    assert fasttext.compose([]).shape == (0, 7)


def test_vocabulary_larger_than_a_block(monkeypatch):
    monkeypatch.setattr("embeddings.vectors.subwords.MAX_BLOCK_NGRAMS", 40)
    fasttext = fasttext_model()
    for word in WORDS:
        np.testing.assert_allclose(fasttext.vectors[word], naive_vector(fasttext, word), **TOLERANCE)


def test_a_saved_model_composes_by_the_composer_of_its_trainer(tmp_path, trainer):
    fasttext = fasttext_model(name=trainer)
    fasttext.save(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "model.json").read_text())["composes"] is True
    for loaded in (Model.load(tmp_path / "m").vectors, em.load(tmp_path / "m")):
        assert loaded["wheres"].tolist() == fasttext.vectors["wheres"].tolist()
    assert em.load_model(tmp_path / "m").compose(["th"]).tolist() == fasttext.compose(["th"]).tolist()


def test_loading_imports_neither_the_trainer_nor_heavy_libraries(tmp_path, trainer, python):
    fasttext_model(name=trainer).save(tmp_path / "m")
    code = "import sys, embeddings as em; v = em.load(sys.argv[1]); v['the']; print(*sys.modules)"
    assert not {"numba", "pandas", "scipy", "sklearn"} & set(python("-c", code, tmp_path / "m").stdout.split())


def test_the_trainer_of_a_saved_model_is_not_installed(tmp_path):
    fasttext_model(name="stranger").save(tmp_path / "m")
    loaded = em.load(tmp_path / "m")
    assert loaded["the"].shape == (7,)
    with pytest.raises(RegistryError, match="'stranger'"):
        loaded["wheres"]


def test_a_model_that_does_not_compose(tmp_path):
    vectors = Vectors(["a"], np.ones((1, 2)))
    skipgram = Model("skipgram", vectors=vectors, vocabulary=Vocabulary(["a"], [1]))
    with pytest.raises(SettingError, match="skipgram"):
        skipgram.compose(["b"])
    with pytest.raises(UnknownWordError, match="'b'"):
        vectors["b"]
    skipgram.save(tmp_path / "m")
    text = (tmp_path / "m" / "model.json").read_text()
    (tmp_path / "m" / "model.json").write_text(text.replace('"composes": false', '"composes": true'))
    with pytest.raises(SettingError, match="skipgram models cannot compose"):
        em.load(tmp_path / "m")["b"]
    (tmp_path / "m" / "model.json").write_text(text.replace('"composes": false', '"composes": "yes"'))
    with pytest.raises(FormatError, match=r"'composes'.*bool"):
        em.load(tmp_path / "m")


BROKEN = {
    "no table": (lambda m: m.tables.pop("ngrams"), r"'ngrams'.*float32.*7"),
    "narrow": (lambda m: m.tables.update(ngrams=np.ones((5, 6), np.float32)), "float32"),
    "double": (lambda m: m.tables.update(ngrams=np.ones((5, 7))), "float32"),
    "empty": (lambda m: m.tables.update(ngrams=np.ones((0, 7), np.float32)), "buckets"),
    "no range": (lambda m: m.settings.pop("min_n"), r"min_n.*None"),
    "text": (lambda m: m.settings.update(max_n="6"), "max_n.*'6'"),
    "reversed": (lambda m: m.settings.update(min_n=9), r"min_n.*got 9"),
    "huge": (lambda m: m.settings.update(max_n=10**12), "max_n"),
}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_models_are_refused(damage, message):
    fasttext = fasttext_model()
    damage(fasttext)
    with pytest.raises(FormatError, match=message):
        fasttext.vectors["wheres"]
    assert fasttext.vectors["the"].shape == (7,)


def test_composed_vectors_must_be_finite_and_of_the_right_shape():
    for rows, message in (([[1, 2, 3]], r"\(1,2\)"), ([[np.nan, 1]], r"'b'.*NaN")):
        vectors = Vectors(["a"], np.ones((1, 2)), compose=lambda words, rows=rows: np.array(rows))
        with pytest.raises(ValueError, match=message):
            vectors["b"]


def test_evaluation_counts_pairs_with_composed_words(tmp_path):
    fasttext = fasttext_model(["river", "banana", "king"], dim=30, buckets=1000)
    pairs = [
        ("river", "banana", 1),
        ("Rivers", "river", 9),
        ("bananas", "kings", 2),
        ("king", "banana", 1.5),
    ]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\t{rating}\n" for a, b, rating in pairs) + "king\tq\t3\n")
    plain = em.evaluate(fasttext, similarity=path)[0]
    assert (plain.covered, plain.total, plain.composed) == (2, 5, 0)
    scores = em.evaluate(fasttext, similarity=path, compose=True)[0]
    assert (scores.covered, scores.total, scores.composed) == (5, 5, 3)
    cosines = [fasttext.vectors.similarity(a.lower(), b.lower()) for a, b, _ in [*pairs, ("king", "q", 3)]]
    from scipy.stats import spearmanr

    assert scores.value == pytest.approx(spearmanr(cosines, [1, 9, 2, 1.5, 3]).statistic)
    with pytest.raises(SettingError, match="compose"):
        em.evaluate(Vectors(["river", "q"], np.eye(2)), similarity=path, compose=True)
    with pytest.raises(SettingError, match=r"compose.*similarity"):
        em.evaluate(fasttext, analogy=path, compose=True)
    assert "compose" in scores.protocol
    assert "compose" not in plain.protocol
