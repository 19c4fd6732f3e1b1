"""All models with all objectives: the trainer contract, frozen words, and inference of documents."""

import numpy as np
import pytest

import embeddings as em
from embeddings.testing import check_trainer
from embeddings.testing.trainer_contract import check_synonyms, synonym_corpus

OBJECTIVES = {
    "nce": {"objective": "nce"},
    "nce-trained": {"objective": "nce", "nce_normalizer": "trained"},
    "sampled": {"objective": "sampled-softmax"},
    "log-uniform": {"objective": "sampled-softmax", "proposals": "log-uniform"},
    "huffman": {"objective": "hierarchical-softmax"},
    "adaptive": {"objective": "adaptive-softmax", "cutoffs": "24,30"},
    "full": {"objective": "full-softmax"},
}
MODELS = {
    "skipgram": (em.SkipGram, {}),
    "cbow": (em.CBOW, {}),
    "structured": (em.StructuredSkipGram, {}),
    "directional": (em.DirectionalSkipGram, {}),
    "continuous": (em.ContinuousWindow, {}),
    "fasttext": (em.FastText, {"max_n": 4}),
    "fasttext-cbow": (em.FastText, {"architecture": "cbow", "position_weights": True}),
    "dbow-words": (em.ParagraphDBOW, {"train_words": True}),
    "dm": (em.ParagraphDM, {}),
    "dm-concat": (em.ParagraphDM, {"combine": "concat"}),
}
FAST = {("skipgram", "huffman"), ("dm-concat", "nce")}
SMALL = {"dim": 16, "min_count": 1, "subsample": 0.0, "threads": 1, "seed": 7}


@pytest.mark.parametrize(
    ("model", "objective"),
    [
        pytest.param(model, objective, marks=[] if (model, objective) in FAST else pytest.mark.slow)
        for model in MODELS
        for objective in OBJECTIVES
    ],
)
def test_contract(model, objective):
    kind, settings = MODELS[model]
    check_trainer(kind, **settings, **OBJECTIVES[objective])


@pytest.mark.slow
def test_contract_with_own_noise_for_each_pair():
    for name in ("nce", "sampled", "log-uniform"):
        check_trainer(em.SkipGram, negative_sharing="none", **OBJECTIVES[name])


@pytest.mark.parametrize("objective", ["huffman", pytest.param("adaptive", marks=pytest.mark.slow)])
def test_frozen_words_do_not_move(objective):
    corpus = synonym_corpus()
    given = em.train("skipgram", corpus, epochs=1, **SMALL).vectors
    init = em.InitFrom(given.subset(list(given.words[:10])), freeze=True)
    model = em.train("cbow", corpus, epochs=2, init=init, **SMALL, **OBJECTIVES[objective])
    np.testing.assert_array_equal(model.vectors.matrix[:10], given.matrix[:10])
    assert abs(model.vectors.matrix[10:] - given.matrix[10:]).max() > 0.1


TEXTS = [f"{thing}{n % 5} {thing} {thing}{n % 3}" for n in range(150) for thing in ("red", "green", "blue")]


@pytest.mark.parametrize(
    "settings",
    [
        {"objective": "nce"},
        pytest.param({"objective": "sampled-softmax", "train_words": True}, marks=pytest.mark.slow),
    ],
)
def test_inferred_documents_are_near_those_of_training(settings, tmp_path):
    """A line whose words are all about one thing, inferred, is nearer to lines about it than to others."""
    small = {**SMALL, "dim": 8, "learning_rate": 0.1, "epochs": 60}
    em.train("paragraph-dbow", TEXTS, **small, **settings).save(tmp_path / "model")
    model = em.load_model(tmp_path / "model")
    rows, documents = model.infer(["red red1 red2", "green green1 green2", "blue blue1 blue2"]), model.documents.matrix
    cosines = rows @ documents.T / np.linalg.norm(rows, axis=1)[:, None] / np.linalg.norm(documents, axis=1)
    assert cosines.reshape(3, -1, 3).mean(axis=1).argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("trainer", "settings"),
    [
        pytest.param(
            "paragraph-dbow", {"objective": "hierarchical-softmax", "train_words": True}, marks=pytest.mark.slow
        ),
        ("paragraph-dbow", {"objective": "nce"}),
        pytest.param("paragraph-dm", {"objective": "sampled-softmax"}, marks=pytest.mark.slow),
        pytest.param(
            "paragraph-dm",
            {"objective": "adaptive-softmax", "cutoffs": "4,9", "combine": "concat"},
            marks=pytest.mark.slow,
        ),
    ],
    ids=str,
)
def test_inferred_documents_do_not_depend_on_threads(trainer, settings, tmp_path):
    em.train(trainer, TEXTS, **SMALL, epochs=2, window=5, **settings).save(tmp_path / "model")
    model = em.load_model(tmp_path / "model")
    rows = model.infer(TEXTS[:200], threads=1)
    assert np.isfinite(rows).all()
    assert len(np.unique(rows, axis=0)) > 20
    np.testing.assert_array_equal(model.infer(TEXTS[:200], threads=3), rows)


@pytest.mark.parametrize("name", ["continuous-window", pytest.param("paragraph-dm", marks=pytest.mark.slow)])
def test_a_tree_of_one_word_has_no_rows(name):
    settings = {"combine": "concat"} if name == "paragraph-dm" else {}
    settings = {**SMALL, **settings, "objective": "hierarchical-softmax", "epochs": 1}
    model = em.train(name, ["word word word", "word word"], **settings)
    assert model.tables["nodes"].size == 0
    assert name == "continuous-window" or model.infer(["word word"]).shape == (1, 16)


def test_the_record_says_whether_the_loss_is_an_estimate():
    reports = []
    for objective, is_estimate in (("nce", True), ("huffman", False)):
        model = em.train("skipgram", synonym_corpus(), **SMALL, **OBJECTIVES[objective], progress=reports.append)
        assert model.record["loss_is_estimate"] is is_estimate
        assert ("loss (estimate) " in str(reports[-1])) is is_estimate
        check_synonyms(model)
