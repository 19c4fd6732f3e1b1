"""Held-out loss and perplexity against a naive computation, word by word."""

import naive
import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError, FormatError, SettingError

TEXT = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog", "the rug and the mat"] * 30
HELD_OUT = "the cat sat on a zebra rug\nunknown\na dog sat and sat\ncat\n"
SMALL = {"dim": 5, "min_count": 1, "epochs": 3, "threads": 1, "window": 2, "learning_rate": 0.2, "subsample": 0.0}
MODELS = {
    "skipgram": ("skipgram", {}),
    "tied": ("skipgram", {"tie": True}),
    "cbow": ("cbow", {}),
    "cbow-sum": ("cbow", {"combine": "sum"}),
    "structured": ("structured-skipgram", {}),
    "directional": ("directional-skipgram", {}),
    "continuous": ("continuous-window", {}),
    "fasttext": ("fasttext", {"max_n": 4, "buckets": 50}),
    "weighted": ("fasttext", {"max_n": 4, "buckets": 50, "architecture": "cbow", "position_weights": True}),
}


@pytest.fixture
def text(tmp_path):
    (tmp_path / "held-out.txt").write_text(HELD_OUT)
    return tmp_path / "held-out.txt"


def hidden_rows(name, settings, model, i, line):
    """(hidden row, slot) of each prediction of word i of a line of known words."""
    vectors = model.vectors.matrix.astype(float)
    contexts = [c for c in range(max(0, i - 2), min(len(line), i + 3)) if c != i]
    rows = [vectors[line[c]] for c in contexts]
    if name == "structured-skipgram":
        return [(row, [-2, -1, 1, 2].index(c - i)) for row, c in zip(rows, contexts, strict=True)]
    if name == "directional-skipgram":
        return [(row, int(c > i)) for row, c in zip(rows, contexts, strict=True)]
    if name == "continuous-window":
        slots = naive.slot_rows(vectors, (i, line, 0, len(line), []), 2)
        return [(naive.concatenate_rows(slots, 5), 0)] if contexts else []
    if "position_weights" in settings:
        rows = [row * model.tables["positions"][[-2, -1, 1, 2].index(c - i)] for row, c in zip(rows, contexts)]  # noqa: B905
    if name == "cbow" or "architecture" in settings:
        return [(np.sum(rows, axis=0) / (1 if settings.get("combine") == "sum" else len(rows)), 0)] if rows else []
    return [(row, 0) for row in rows]


def naive_loss(name, settings, model):
    """The mean loss by full softmax over the held-out text."""
    output = (model.vectors.matrix if "tie" in settings else model.tables["output"]).astype(float)
    losses = []
    for text in HELD_OUT.splitlines():
        line = [model.vectors.index(word) for word in text.split() if word in model.vectors]
        for i, word in enumerate(line):
            for hidden, slot in hidden_rows(name, settings, model, i, line):
                rows = output.reshape(len(output), -1) if name == "continuous-window" else output
                scores = (rows[:, slot] if rows.ndim == 3 else rows) @ hidden
                losses.append(np.log(np.exp(scores).sum()) - scores[word])
    return np.mean(losses)


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind in ("skipgram", "cbow", "structured", "weighted") else pytest.param(kind, marks=pytest.mark.slow)
        for kind in MODELS
    ],
)
def test_the_loss_equals_the_naive_one(kind, text):
    name, settings = MODELS[kind]
    model = em.train(name, TEXT, objective="full-softmax", **SMALL, **settings)
    loss, perplexity = em.evaluate(model, perplexity=text)
    assert (loss.measure, perplexity.measure, loss.set) == ("held-out loss", "perplexity", "held-out.txt")
    assert loss.value == pytest.approx(naive_loss(name, settings, model), rel=1e-9)
    assert perplexity.value == pytest.approx(np.exp(loss.value))
    assert (loss.covered, loss.total) == (12, 14)


def test_what_has_no_perplexity(text, tmp_path):
    model = em.train("skipgram", TEXT, **SMALL)
    with pytest.raises(SettingError, match="no probabilities of words: negative sampling does not define them"):
        em.evaluate(model, perplexity=text)
    with pytest.raises(SettingError, match="holds only vectors"):
        em.evaluate(model.vectors, perplexity=text, name="x")
    documents = em.train("paragraph-dm", TEXT, objective="nce", **SMALL)
    with pytest.raises(SettingError, match="do not predict words of new text from their contexts alone"):
        em.evaluate(documents, perplexity=text)
    model = em.train("skipgram", TEXT, objective="nce", **SMALL)
    (tmp_path / "other.txt").write_text("entirely unknown\n")
    (tmp_path / "alone.txt").write_text("cat\ndog\n")
    alone = em.evaluate(model, perplexity=tmp_path / "alone.txt")
    assert alone[0].reason == alone[1].reason == "no two words of a line are in the vocabulary"
    assert em.evaluate(model, perplexity=tmp_path / "other.txt")[0].value is None
    with pytest.raises(CorpusError):
        em.evaluate(model, perplexity=tmp_path / "missing.txt")
    del model.tables["bias"]
    with pytest.raises(FormatError, match=r"expected table 'bias' as float32 \(9, 1\), got missing"):
        em.evaluate(model, perplexity=text)


@pytest.mark.parametrize(
    "settings",
    [
        {"objective": "hierarchical-softmax"},
        pytest.param({"objective": "adaptive-softmax", "cutoffs": "3"}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_words_are_predicted_with_the_probabilities_of_the_objective(settings):
    model = em.train("cbow", TEXT, **{**SMALL, "epochs": 20}, **settings)
    words = model.predict_output_word(["the", "sat"], top=len(model.vectors))
    assert sum(probability for _, probability in words) == pytest.approx(1)
    assert {word for word, _ in words[:3]} & {"cat", "dog", "on"}


def test_words_are_not_predicted_from_several_output_rows():
    model = em.train("structured-skipgram", TEXT, objective="full-softmax", **SMALL)
    with pytest.raises(SettingError, match="requires an output vector for each word"):
        model.predict_output_word(["the"])
