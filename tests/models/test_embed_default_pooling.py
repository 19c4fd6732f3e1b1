"""The default pooling of word vectors into those of texts: one for each model and vectors, the same everywhere."""

import numpy as np
import pytest
from commands import expect

import embeddings as em
from embeddings.errors import FormatError
from embeddings.eval.tasks.evaluation_kind import TextVectors
from embeddings.models.embed import default_pool, text_batches_of
from embeddings.models.model import Model
from embeddings.models.text_embedder import TextEmbedder

TEXTS = [f"the the red{number % 5} car the blue{number % 3} bus" for number in range(60)]
QUERIES = ["the red1 car", "the the blue2", "red3 unknown bus"]


def distilled(**settings):
    vectors = np.random.default_rng(1).normal(size=(len(TEXTS), 6)).astype(np.float32)
    return em.Distillation(dim=4, epochs=2, **settings).train(em.corpora.text_vectors(TEXTS, vectors), threads=1)


def paired():
    pairs = [(text, text.replace("car", "bus")) for text in TEXTS]
    return em.train("text-pairs", pairs, dim=4, epochs=1, threads=1)


def skipgram():
    return em.SkipGram(dim=4, min_count=1, epochs=2).train(TEXTS, threads=1)


@pytest.fixture(scope="module", params=["distill", "skipgram"])
def model(request):
    return distilled() if request.param == "distill" else skipgram()


def expected_pool(model):
    return "mean" if model.name == "distill" else "sif"


def test_all_entry_points_pool_a_model_alike(tmp_path, model):
    """`em.embed`, `embed`, `index`, the estimator, and both evaluations of texts."""
    pool, path = expected_pool(model), tmp_path / "model"
    model.save(path)
    expected = em.embed(model, QUERIES, pool=pool)
    assert not np.allclose(expected, em.embed(model, QUERIES, pool="mean" if pool == "sif" else "sif"))
    for source in (model, em.load_model(path), model.vectors, em.load(path)):
        np.testing.assert_allclose(em.embed(source, QUERIES), expected, rtol=0.02, atol=1e-6)
    np.testing.assert_array_equal(em.embed(path, QUERIES), expected)

    (tmp_path / "queries.txt").write_text("\n".join(QUERIES) + "\n")
    expect("embed", path, tmp_path / "queries.txt", "-o", tmp_path / "e.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "e.npy"), expected)

    index = em.TextIndex.build(path, QUERIES, tmp_path / "queries.index")
    assert index.record["pooling"]["pool"] == index.describe()["pool"] == pool
    units = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    indexed = np.concatenate([rows for _, rows in index.embedder.embed(text_batches_of(QUERIES, None))])
    np.testing.assert_allclose(indexed, units, atol=1e-6)

    estimator = em.sklearn.MeanVectorizer(vectors=path).fit(TEXTS)
    np.testing.assert_array_equal(estimator.transform(QUERIES), expected)

    texts = TextVectors(model, {})
    np.testing.assert_array_equal(texts.embed(QUERIES).matrix, expected)
    assert f"pool {pool}" in texts.description

    table = tmp_path / "documents.tsv"
    table.write_text("text\tlabel\n" + "".join(f"{text}\t{row % 2}\n" for row, text in enumerate([*QUERIES, *TEXTS])))
    results = em.evaluate(model, documents=table)
    assert f"pool {pool}" in next(one.protocol for one in results if one.measure == "macro-f1" and not one.method)


def test_models_of_texts_have_means_also_if_saved_before_it_was_recorded(tmp_path):
    for model in (
        distilled(),
        paired(),
        em.train("classifier", ["__label__x a b", "__label__y c d"] * 9, dim=4, min_count=1),
    ):
        assert model.record["text_pool"] == "mean"
        old = {name: value for name, value in model.record.items() if name != "text_pool"}
        again = Model(
            model.name, vectors=em.Vectors(model.vectors.words, model.vectors.matrix, counts=model.vectors.counts),
            vocabulary=model.vocabulary, settings=model.settings, tables=model.tables, record=old,
        )  # fmt: skip
        assert default_pool(model) == default_pool(model.vectors) == default_pool(again) == "mean"


def test_vectors_of_other_programs(tmp_path):
    """Counts decide; a tokenizer.json means a plain mean, since its rows contain the weights."""
    words, matrix = ["the", "car"], np.eye(2)
    counted, plain = em.Vectors(words, matrix, counts=[99, 1]), em.Vectors(words, matrix)
    assert (default_pool(counted), default_pool(plain)) == ("sif", "mean")
    assert default_pool(em.Vectors(words, matrix, counts=[0, 0])) == "mean"
    weighted = em.training.weight_vectors(counted)
    assert default_pool(weighted) == "mean"
    np.testing.assert_allclose(em.embed(weighted, ["the car"]), em.embed(counted, ["the car"]))
    np.testing.assert_allclose(em.embed(plain, ["the car"]), [[0.5, 0.5]])


def test_words_without_counts_are_weighted_by_rank(tmp_path):
    """As in files of word2vec and GloVe, which are in order of frequency."""
    words = [f"w{rank}" for rank in range(1000)]
    vectors = em.Vectors(words, np.random.default_rng(0).normal(size=(1000, 4)))
    texts = ["w0 w999", "w5 w500 w0"]
    shares = 1 / (np.arange(1000) + 2.7)
    weights = 1e-3 / (1e-3 + shares / shares.sum())
    rows = vectors.matrix * weights[:, None]
    expected = [rows[[0, 999]].mean(axis=0), rows[[5, 500, 0]].mean(axis=0)]
    assert default_pool(vectors) == "sif"
    np.testing.assert_allclose(em.embed(vectors, texts), expected, rtol=1e-4)
    index = em.TextIndex.build(vectors, texts, tmp_path / "i")
    again = em.TextIndex(tmp_path / "i")
    for one in (index, again):
        found = np.concatenate([rows for _, rows in one.embedder.embed(text_batches_of(texts, None))])
        np.testing.assert_allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-4)


def test_an_index_keeps_the_pooling_that_it_records(tmp_path, model):
    other = "mean" if expected_pool(model) == "sif" else "sif"
    model.save(tmp_path / "model")
    index = em.TextIndex.build(tmp_path / "model", TEXTS, tmp_path / "i", pool=other)
    assert index.record["pooling"]["pool"] == other
    assert em.TextIndex(tmp_path / "i").embedder.pool == other


def test_weights_of_words_are_computed_once_for_each_rule(monkeypatch):
    vectors = em.Vectors(["b", "a", "c"], np.eye(3), counts=[1, 9, 5])  # not in order of counts
    expected = 1e-3 / (1e-3 + np.array([1, 9, 5]) / 15) / 3
    calls, original = [], TextEmbedder.weigh
    monkeypatch.setattr(TextEmbedder, "weigh", lambda self, words: calls.append(len(words)) or original(self, words))
    for _ in range(3):
        np.testing.assert_allclose(em.embed(vectors, ["a b c"], pool="sif")[0], expected, rtol=1e-5)
        em.embed(vectors, ["a b c"], pool="sif", constant=0.1)
    assert sum(calls) == 6


def test_a_recorded_pooling_that_does_not_exist_is_a_fault_of_the_file(tmp_path):
    vectors = skipgram().vectors
    vectors.text_pool = "nonsense"
    vectors.save(tmp_path / "v.parquet")
    with pytest.raises(FormatError, match=r"record.*'nonsense'.*pool"):
        em.embed(tmp_path / "v.parquet", ["red1"])
    assert em.embed(tmp_path / "v.parquet", ["red1"], pool="mean").any()
