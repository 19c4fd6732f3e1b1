"""Vectors and models in notebooks, under pickle, as containers; and what the library prints and logs."""

import copy
import pickle

import numpy as np
import pytest
from html_elements import Page

import embeddings as em
from embeddings.errors import RegistryError

SMALL = {"dim": 8, "min_count": 1, "epochs": 2, "window": 2, "subsample": 0}
HOSTILE = ["<script>alert(1)</script>", '"><img src=x>', "&amp;", "‮abc", "\ud800", "x" * 1000, ""]


@pytest.fixture(scope="module")
def model():
    return em.train("fasttext", ["walking talked", "walked talking"], threads=1, buckets=50, **SMALL)


def test_containers(model):
    for one in (model.vectors, model.vocabulary):
        assert len(one) == 4
        assert sorted(one) == ["talked", "talking", "walked", "walking"]
        assert "walked" in one
        assert "walks" not in one
        assert 3 not in one
    assert bool(em.corpora.Vocabulary([], [])) is False
    assert model.vectors._ipython_key_completions_() == model.vectors.words
    many = em.Vectors(map(str, range(60_000)), np.zeros((60_000, 1)))
    assert many._ipython_key_completions_() == [str(number) for number in range(50_000)]


def test_the_table_of_vectors():
    vectors = em.Vectors([f"w{i}" for i in range(1234)], np.full((1234, 20), 3.0), counts=range(1234, 0, -1))
    html = Page(vectors._repr_html_())
    assert html.names.count("tr") == 11
    assert {"w0", "w9", "1234", "13.4164", "3.0000"} <= set(html.texts)
    assert "w10" not in html.texts
    assert html.texts[:2] == ["Vectors", ": 1,234 words, 20 components"]
    assert html.texts[-1] == "1,224 more words and 14 more components"


def test_the_tables_of_a_model(model):
    html = Page(model._repr_html_())
    assert html.texts[:2] == ["Model", " fasttext"]
    assert {"settings and training", "min_count", "seed"} <= set(html.texts)
    assert html.texts[-1] == "2 more components; vectors of unseen words are composed"


def test_hostile_words_are_escaped():
    vectors = em.Vectors(HOSTILE, np.zeros((len(HOSTILE), 2)))
    text = vectors._repr_html_()
    assert set(Page(text).names) <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    text.encode()
    assert len(text) < 10_000
    named = em.Model(
        "<b>", vectors=vectors, vocabulary=em.corpora.Vocabulary(HOSTILE, [0] * len(HOSTILE)), settings={"<i>": "<u>"}
    )
    assert not {"i", "u"} & set(Page(named._repr_html_()).names)


def test_pickle_and_copy(model, tmp_path):
    """Cached attributes are not pickled and are recomputed."""
    _ = model.vectors["walks"], model.vectors.unit_rows, model.vectors.fingerprint
    size = len(pickle.dumps(em.Vectors(model.vectors.words, model.vectors.matrix)))
    bare = em.Vectors(model.vectors.words, model.vectors.matrix)
    _ = bare.unit_rows, bare.fingerprint
    assert len(pickle.dumps(bare)) == size
    model.save(tmp_path / "m")
    for one in (model, em.load_model(tmp_path / "m")):
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            np.testing.assert_array_equal(again.vectors.matrix, model.vectors.matrix)
            np.testing.assert_array_equal(again.vectors["walks"], model.vectors["walks"])
            assert again.vectors.index("walked") == model.vectors.index("walked")
            assert (again.name, again.settings, again.record) == (model.name, model.settings, model.record)
            assert list(again.vocabulary) == list(model.vocabulary)
    alone = pickle.loads(pickle.dumps(model.vectors))
    np.testing.assert_array_equal(alone["walks"], model.vectors["walks"])


def test_a_composer_that_is_not_installed_is_reported_on_use(model):
    other = em.Model(
        "elsewhere", vectors=model.vectors.subset(2), vocabulary=em.corpora.Vocabulary(*pair(model)), composer=len
    )
    again = pickle.loads(pickle.dumps(other))
    with pytest.raises(RegistryError, match="'elsewhere'"):
        again.compose(["x"])


def pair(model):
    return model.vectors.words[:2], model.vectors.counts[:2]


EVERYTHING = """
import embeddings as em, sys
corpus = em.Corpus(["the cat sat on the mat", "the dog sat on the rug"] * 50)
model = em.SkipGram(dim=8, min_count=1).train(corpus, threads=2)
model.save("m")
vectors = em.load("m")
vectors.save("v.bin"), em.load("v.bin"), vectors.most_similar("cat"), vectors._repr_html_()
em.build_index(vectors, "lsh", bits=16).save("i")
em.evaluate(vectors, similarity="wordsim353")
em.ParagraphDBOW(dim=8, min_count=1).train(corpus, threads=1).infer(["a cat"])
em.sklearn.MeanVectorizer(vectors=vectors, pool="sif", remove_components=1).fit_transform(["a cat"])
"""


def test_the_library_prints_nothing_and_logs_what_it_does(python):
    """First without a word about logging, then with it, in another folder."""
    ask = "import logging, os; logging.basicConfig(); logging.getLogger('embeddings').setLevel(logging.DEBUG)\n"
    ask += "os.mkdir('again'); os.chdir('again'); print('now it logs', file=sys.stderr)\n"
    result = python("-W", "error", "-c", EVERYTHING + ask + EVERYTHING)
    printed, logged = result.stderr.split("now it logs\n")
    assert (result.stdout, printed) == ("", "")
    lines = [line for line in logged.splitlines() if ":embeddings:" in line]
    assert "INFO:embeddings:training skipgram: 600 words x 5 epochs, vocabulary of 7, threads 2, seed 1" in lines
    assert any(line.startswith("INFO:embeddings:trained skipgram: 3000 of 3000 words, ") for line in lines)
    assert "DEBUG:embeddings:wrote m" in lines
    assert any("<Corpus of an iterable (list)>: 600 words, 7 distinct" in line for line in lines)
