"""Words predicted from their context, compared with gensim."""

import numpy as np
import pytest
from optional_libraries import import_gensim

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import SettingError
from embeddings.models.model import Model

WORDS = [f"w{i}" for i in range(30)]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(1)
    return Model(
        "cbow",
        vectors=em.Vectors(WORDS, rng.standard_normal((30, 5))),
        vocabulary=Vocabulary(WORDS, range(30, 0, -1)),
        tables={"output": rng.standard_normal((30, 5)).astype(np.float32)},
    )


def gensim_model(model):
    import_gensim()
    from gensim.models import Word2Vec

    trained = Word2Vec(vector_size=5, min_count=1, negative=5)
    trained.build_vocab_from_freq(dict(zip(WORDS, range(30, 0, -1), strict=True)))
    trained.wv.vectors = model.vectors[trained.wv.index_to_key]
    trained.syn1neg = model.tables["output"][[WORDS.index(word) for word in trained.wv.index_to_key]]
    return trained


@pytest.mark.golden
def test_predictions_equal_gensim(model):
    for context in (["w3"], ["w1", "w2", "unknown", "w2"]):
        with np.errstate(invalid="ignore"):  # the product of some processors' libraries reads beyond short rows
            expected = gensim_model(model).predict_output_word(context, topn=7)
        result = model.predict_output_word(context, top=7)
        assert [word for word, _ in result] == [word for word, _ in expected]
        assert [share for _, share in result] == pytest.approx([float(share) for _, share in expected], rel=1e-5)


def test_probabilities_by_hand(model):
    scores = model.tables["output"] @ model.vectors[["w4", "w9"]].mean(axis=0)
    result = dict(model.predict_output_word(["w4", "w9"], top=30))
    assert sum(result.values()) == pytest.approx(1)
    expected = np.exp(scores) / np.exp(scores).sum()
    assert [result[word] for word in WORDS] == pytest.approx(expected.tolist(), rel=1e-5)


def test_models_that_add_context_vectors(model):
    added = Model("cbow", vectors=model.vectors, vocabulary=model.vocabulary, tables=model.tables,
                  settings={"combine": "sum"})  # fmt: skip
    assert added.predict_output_word(["w1", "w1"]) != model.predict_output_word(["w1", "w1"])


def test_invalid_predictions(model):
    plain = Model("sembei", vectors=model.vectors, vocabulary=model.vocabulary)
    for call, message in (
        (lambda: plain.predict_output_word(["w1"]), "sembei"),
        (lambda: model.predict_output_word(["unknown"]), "unknown"),
        (lambda: model.predict_output_word("w1"), "'w1'"),
        (lambda: model.predict_output_word(["w1"], top=0), "top"),
        (lambda: model.predict_output_word(["w1"], topn=3), "topn.*top"),
    ):
        with pytest.raises(SettingError, match=message):
            call()
