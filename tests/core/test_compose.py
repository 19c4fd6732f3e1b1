"""Vectors for unseen words: what composes them, how a saved model finds it again, and what cannot be composed."""

import importlib
import json

import numpy as np
import pytest
from subword_models import TOLERANCE, UNSEEN, WORDS, model, naive_vector

import embeddings as em
from embeddings.corpora.vocabulary import UnknownWordError, Vocabulary
from embeddings.errors import EmbeddingsError, FormatError, RegistryError, SettingError
from embeddings.eval import Suite, compare
from embeddings.eval.report import EvaluatedVectors, write_report
from embeddings.models.model import Model
from embeddings.models.subword_vectors import SubwordVectors, composer
from embeddings.testing.trainer_contract import check_composing
from embeddings.vectors.compose import extended
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """An installed trainer, called composing, whose models are made of n-grams."""
    info = tmp_path / "site" / "composing-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: composing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[embeddings.trainers]\ncomposing = composing_trainer:Composing\n")
    source = (
        "from embeddings.models.subword_vectors import composer\nclass Composing: composer = staticmethod(composer)\n"
    )
    (tmp_path / "site" / "composing_trainer.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path / "site")
    importlib.invalidate_caches()
    return "composing"


@pytest.mark.parametrize(("min_n", "max_n"), [(3, 6), (1, 2), (2, 2)])
def test_words_and_unseen_words_are_the_twins(min_n, max_n):
    made = model(min_n=min_n, max_n=max_n)
    for word in WORDS + UNSEEN:
        expected = naive_vector(made, word)
        if expected.any():
            np.testing.assert_allclose(made.vectors[word], expected, **TOLERANCE)
        else:
            with pytest.raises(UnknownWordError, match="none can be composed"):
                made.vectors[word]


def test_many_are_composed_at_once_and_what_has_no_ngrams_is_zero():
    made = model()
    rows = made.compose([*UNSEEN, ""])
    assert rows.dtype == np.float32
    for word, row in zip([*UNSEEN, ""], rows, strict=True):
        np.testing.assert_allclose(row, naive_vector(made, word), **TOLERANCE)
    assert not rows[-1].any()
    assert made.compose([]).shape == (0, 7)


def test_words_of_the_vocabulary_keep_their_own_rows():
    made = model()
    assert made.vectors["the"].tolist() == made.vectors.matrix[0].tolist()
    assert made.vectors["the"].tolist() != made.compose(["the"])[0].tolist()


def test_vocabularies_larger_than_a_block(monkeypatch):
    monkeypatch.setattr("embeddings.models.subword_vectors.BLOCK", 40)
    assert np.array_equal(model().vectors.matrix, np.array([model().vectors[word] for word in WORDS]))
    for word in WORDS:
        np.testing.assert_allclose(model().vectors[word], naive_vector(model(), word), **TOLERANCE)


def test_a_misspelt_word_is_near_the_word():
    made = model(["government", "river", "banana"], dim=50, buckets=10_000)
    assert made.vectors.most_similar("goverment", top=1)[0][0] == "government"
    assert made.vectors.most_similar(["rivver"], top=1)[0][0] == "river"
    assert made.vectors.similarity("bananna", "banana") > 0.5


def test_a_saved_model_composes_by_its_trainer(tmp_path, trainer):
    made = model(name=trainer)
    made.save(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "model.json").read_text())["composes"] is True
    for found in (Model.load(tmp_path / "m").vectors, em.load(tmp_path / "m")):
        assert found["wheres"].tolist() == made.vectors["wheres"].tolist()
    assert em.load_model(tmp_path / "m").compose(["th"]).tolist() == made.compose(["th"]).tolist()


def test_loading_does_not_import_the_trainer_nor_what_is_heavy(tmp_path, trainer, python):
    model(name=trainer).save(tmp_path / "m")
    code = "import sys, embeddings as em; v = em.load(sys.argv[1]); v['the']; print(*sys.modules)"
    assert not {"numba", "pandas", "scipy", "sklearn"} & set(python("-c", code, tmp_path / "m").stdout.split())


def test_a_model_whose_trainer_is_not_installed(tmp_path):
    model(name="stranger").save(tmp_path / "m")
    found = em.load(tmp_path / "m")
    assert found["the"].shape == (7,)
    with pytest.raises(RegistryError, match="no trainer called 'stranger'"):
        found["wheres"]


def test_a_model_that_composes_nothing(tmp_path):
    vectors = Vectors(["a"], np.ones((1, 2)))
    made = Model("skipgram", vectors=vectors, vocabulary=Vocabulary(["a"], [1]))
    with pytest.raises(SettingError, match="a skipgram model composes nothing"):
        made.compose(["b"])
    with pytest.raises(UnknownWordError, match="no vector for 'b' among 1 words"):
        vectors["b"]
    made.save(tmp_path / "m")
    text = (tmp_path / "m" / "model.json").read_text()
    (tmp_path / "m" / "model.json").write_text(text.replace('"composes": false', '"composes": true'))
    with pytest.raises(FormatError, match="models of the trainer 'skipgram' compose nothing"):
        em.load(tmp_path / "m")["b"]
    (tmp_path / "m" / "model.json").write_text(text.replace('"composes": false', '"composes": "yes"'))
    with pytest.raises(FormatError, match="'composes' is missing or not a bool"):
        em.load(tmp_path / "m")


def test_a_model_saved_before_models_composed(tmp_path):
    Model("any", vectors=Vectors(["a"], np.ones((1, 2))), vocabulary=Vocabulary(["a"], [1])).save(tmp_path / "m")
    text = (tmp_path / "m" / "model.json").read_text()
    (tmp_path / "m" / "model.json").write_text(text.replace('  "composes": false,\n', ""))
    assert em.load_model(tmp_path / "m").composer is None


BROKEN = {
    "no table": (lambda m: m.tables.pop("ngrams"), "no float32 table 'ngrams' of 7 columns"),
    "narrow": (lambda m: m.tables.update(ngrams=np.ones((5, 6), np.float32)), "no float32 table"),
    "double": (lambda m: m.tables.update(ngrams=np.ones((5, 7))), "no float32 table"),
    "empty": (lambda m: m.tables.update(ngrams=np.ones((0, 7), np.float32)), "buckets must be"),
    "no range": (lambda m: m.settings.pop("min_n"), "its min_n is None and its max_n 6"),
    "text": (lambda m: m.settings.update(max_n="6"), "its max_n '6'"),
    "reversed": (lambda m: m.settings.update(min_n=9), "min_n must be from 0 to max_n, 6, not 9"),
    "huge": (lambda m: m.settings.update(max_n=10**12), "max_n must be"),
}


@pytest.mark.parametrize(("spoil", "told"), BROKEN.values(), ids=BROKEN)
def test_broken_models_are_told(spoil, told):
    made = model()
    spoil(made)
    with pytest.raises(FormatError, match=told):
        made.vectors["wheres"]
    assert made.vectors["the"].shape == (7,)


def test_composed_vectors_are_checked():
    for rows, told in (([[1, 2, 3]], r"must be \(1, 2\)"), ([[np.nan, 1]], "'b' holds NaN")):
        vectors = Vectors(["a"], np.ones((1, 2)), compose=lambda words, rows=rows: np.array(rows))
        with pytest.raises(SettingError, match=told):
            vectors["b"]


def test_extended_vectors_hold_the_unseen_words_that_can_be_composed():
    made = model()
    more = extended(made.vectors, ["wheres", "the", "", "wheres", "th"])
    assert more.words == [*WORDS, "wheres", "th"]
    assert np.array_equal(more.matrix[-2:], made.compose(["wheres", "th"]))
    with pytest.raises(EmbeddingsError, match="not composed here"):
        extended(Vectors(["a"], np.ones((1, 2))), ["b"])


def test_lengths_and_table_must_fit():
    assert composer(model()) is not None
    with pytest.raises(SettingError, match="buckets"):
        SubwordVectors(np.ones((0, 3), np.float32), 3, 6)


def test_the_contract_wants_the_trainers_own_composer():
    class Composing:
        composer = staticmethod(composer)

    class Forgetful:
        pass

    check_composing(Composing, model())
    with pytest.raises(AssertionError, match="Forgetful must have the attribute composer"):
        check_composing(Forgetful, model())
    twice = model()
    twice.composer = lambda made: lambda texts: np.ones((1, 7))
    with pytest.raises(AssertionError, match="a row must be composed for each text"):
        check_composing(Composing, twice)


def test_evaluation_says_how_many_pairs_have_composed_words(tmp_path):
    made = model(["river", "banana", "king"], dim=30, buckets=1000)
    pairs = [
        ("river", "banana", 1),
        ("Rivers", "river", 9),
        ("bananas", "kings", 2),
        ("king", "banana", 1.5),
    ]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\t{rating}\n" for a, b, rating in pairs) + "king\tq\t3\n")
    plain = em.evaluate(made, similarity=path)[0]
    assert (plain.seen, plain.total, plain.composed) == (2, 5, 0)
    found = em.evaluate(made, similarity=path, compose=True)[0]
    assert (found.seen, found.total, found.composed) == (5, 5, 3)
    cosines = [made.vectors.similarity(a.lower(), b.lower()) for a, b, _ in [*pairs, ("king", "q", 3)]]
    from scipy.stats import spearmanr

    assert found.value == pytest.approx(spearmanr(cosines, [1, 9, 2, 1.5, 3]).statistic)
    with pytest.raises(SettingError, match="not composed here"):
        em.evaluate(Vectors(["river", "q"], np.eye(2)), similarity=path, compose=True)
    with pytest.raises(SettingError, match="compose is of use only with similarity"):
        em.evaluate(made, facts=True, compose=True)
    assert "have their vectors composed" in found.protocol
    assert "composed" not in plain.protocol


def test_composed_words_count_in_paired_tests_and_reports(tmp_path):
    made, path = model(["river", "banana", "king"], dim=30, buckets=1000), tmp_path / "pairs.tsv"
    path.write_text("".join(f"river\trivers{i}\t{i}\n" for i in range(12)))
    suite = Suite.read(similarity=path, compose=True)
    other = model(["river", "banana", "king"], dim=20, buckets=900)
    judged = [suite.judge(one, name) for one, name in ((made, "a"), (other, "b"))]
    assert [(one.items, one.measure) for one in compare(judged)] == [(12, "spearman"), (12, "pearson")]
    write_report(tmp_path / "r.html", suite, [EvaluatedVectors.of("a", made, judged[0])])
    page = (tmp_path / "r.html").read_text()
    assert "12 of 12, 12 composed" in page
    assert '"compose": true' in page
