"""The trainer: the contract, training from a corpus with phrases, and settings that are honoured or refused."""

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.phrases import PhraseList, Phrases
from embeddings.errors import CorpusError, SettingError
from embeddings.testing import check_trainer
from embeddings.training.run import Interrupted

SMALL = {"dim": 8, "min_count": 1, "epochs": 2, "min_phrases": 10, "fit_epochs": 3}
COLOURS = ("red", "green", "black", "white")
THINGS = ("car", "house", "door", "boat", "tree", "bird", "hat", "dress")


def lines(number=400):
    """Sentences about coloured things."""
    rng = np.random.default_rng(1)
    drawn = [
        (COLOURS[i], THINGS[j])
        for i, j in zip(rng.integers(4, size=2 * number), rng.integers(8, size=2 * number), strict=True)
    ]
    return [f"the {' '.join(a)} and a {' '.join(b)}" for a, b in zip(drawn[::2], drawn[1::2], strict=True)]


def listed():
    return PhraseList([(colour, thing) for colour in COLOURS for thing in THINGS])


def corpus(**more):
    return em.Corpus(lines(), phrases=listed(), phrase_mode="alternate", **more)


def test_contract():
    check_trainer(em.TensorIndexing, min_phrases=0, base="cbow", typed=False)


def test_it_learns_from_a_corpus_with_phrases():
    model = em.TensorIndexing(**SMALL).train(corpus(), threads=1, seed=2)
    assert model.name == "tensor-indexing"
    assert model.record["phrases"] == {"adjective-noun": 32, "any": 32}
    assert {"red", "car", "red_car"} <= set(model.vectors.words)
    assert model.compose("red", "car").shape == (8,)
    assert model.compose("red", "car", type="adjective-noun", function="full-additive").shape == (8,)
    assert model.settings["base"] == "skipgram"
    assert "output" in model.tables
    again = em.TensorIndexing(**SMALL).train(corpus(), threads=1, seed=2)
    for name, table in model.tables.items():
        np.testing.assert_array_equal(table, again.tables[name])


def test_the_words_are_those_of_the_base_trainer():
    model = em.TensorIndexing(**SMALL, window=2, negatives=3).train(corpus(), threads=1, seed=2)
    how = {name: SMALL[name] for name in ("dim", "min_count", "epochs")}
    base = em.SkipGram(**how, window=2, negatives=3).train(corpus(), threads=1, seed=2)
    np.testing.assert_array_equal(model.vectors.matrix, base.vectors.matrix)
    fitted = em.TensorIndexing(min_phrases=10, fit_epochs=3).fit(base, listed(), threads=1, seed=2)
    for name in fitted.tables:
        np.testing.assert_array_equal(model.tables[name], fitted.tables[name])


@pytest.mark.parametrize("base", ["cbow", "structured-skipgram", "paragraph-dm"])
def test_what_is_not_set_is_as_the_base_trainer_has_it(base):
    """Its rate, windows and noise, which are not those of skip-gram."""
    how = {name: SMALL[name] for name in ("dim", "min_count", "epochs")}
    model = em.TensorIndexing(**SMALL, base=base).train(corpus(), threads=1, seed=2)
    expected = em.train(base, corpus(), **how, threads=1, seed=2)
    assert expected.settings["learning_rate"] == model.record["base"]["settings"]["learning_rate"]
    np.testing.assert_array_equal(model.vectors.matrix, expected.vectors.matrix)
    assert (model.settings["learning_rate"], model.settings["dim"]) == (None, 8)
    slower = em.TensorIndexing(**SMALL, base=base, learning_rate=0.001).train(corpus(), threads=1, seed=2)
    assert slower.record["base"]["settings"]["learning_rate"] == 0.001
    assert (slower.vectors.matrix != model.vectors.matrix).any()


def test_documents_of_the_base_keep_their_tags(tmp_path):
    rows = "".join(f"t{number % 9},{line}\n" for number, line in enumerate(lines()))
    (tmp_path / "t.csv").write_text("tag,text\n" + rows)
    columns = {"text_column": "text", "tag_column": "tag"}
    text = em.Corpus(tmp_path / "t.csv", phrases=listed(), phrase_mode="alternate", **columns)
    model = em.TensorIndexing(**SMALL, base="paragraph-dm").train(text, threads=1)
    assert model.documents.words == [f"t{i}" for i in range(9)]


def test_a_phrase_list_wins_over_that_of_the_corpus(tmp_path):
    some = [(colour, thing) for colour in COLOURS for thing in THINGS[:3]]
    (tmp_path / "some.tsv").write_text("".join(f"{first.title()} {second}\n" for first, second in some))
    how = em.TensorIndexing(**SMALL, phrase_list=str(tmp_path / "some.tsv"))
    model = how.train(corpus(), threads=1)
    assert model.record["phrases"] == {"adjective-noun": 12, "any": 12}


def test_another_joiner_and_found_phrases():
    found = Phrases(scoring="count", min_count=3, threshold=3, types="adjective-noun")
    text = em.Corpus(lines(), phrases=found, joiner="~", phrase_mode="alternate")
    model = em.TensorIndexing(**SMALL).train(text, threads=1)
    assert "red~car" in model.vectors
    assert model.record["joiner"] == "~"
    assert model.record["phrases"]["adjective-noun"] == 32
    np.testing.assert_array_equal(model.compose("red", "car", function="own"), model.vectors["red~car"])
    base = em.SkipGram(dim=8, min_count=1, epochs=1).train(text, threads=1)
    assert em.TensorIndexing(min_phrases=10, fit_epochs=1).fit(base).record["phrases"]["adjective-noun"] == 32


def test_a_corpus_without_phrases_is_refused_before_training():
    def report(progress):
        raise AssertionError("nothing is trained")

    with pytest.raises(CorpusError, match=r"min_phrases=10 .*got 0"):
        em.TensorIndexing(**SMALL).train(em.Corpus(lines()), progress=report)


def test_the_rank_must_fit_the_vectors():
    with pytest.raises(SettingError, match=r"rank.*8.*9"):
        em.TensorIndexing(**SMALL, rank=9).train(corpus())
    vectors = em.Vectors(["a", "b"], np.ones((2, 101), np.float32))
    assert em.TensorIndexing(rank=101, min_phrases=0).fit(vectors).record["phrases"] == {}


VECTORS = em.Vectors(["a", "b"], np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("settings", "vectors", "message"),
    [
        ({"window": 3}, VECTORS, "window.*leave it out"),
        ({}, em.Vectors(["a", "b"], [[1, 2], [np.nan, 1]]), "the vector of 'b' holds NaN or infinity"),
    ],
)
def test_settings_and_vectors_that_do_not_fit_are_refused(settings, vectors, message):
    with pytest.raises(SettingError, match=message):
        em.TensorIndexing(min_phrases=0, **settings).fit(vectors)


def test_counts_that_rise_are_given_up():
    vectors = em.Vectors(["a", "b"], np.ones((2, 2), np.float32), counts=[1, 5])
    assert em.TensorIndexing(min_phrases=0).fit(vectors).vocabulary.counts.tolist() == [0, 0]


def test_an_interrupted_fit_leaves_the_words(monkeypatch):
    def interrupted(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("embeddings.plugins.tensor_indexing.tensor_indexing.fit", interrupted)
    with pytest.raises(Interrupted) as stopped:
        em.TensorIndexing(**SMALL).train(corpus(), threads=1)
    assert stopped.value.model.name == "skipgram"
    assert "red_car" in stopped.value.model.vectors
