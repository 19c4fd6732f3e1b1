"""Held-out text: its loss, the share that is cut from a corpus, and early stopping by both."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from commands import expect

import embeddings as em
from embeddings.corpora.resampling import hold_out
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.tasks.perplexity import Validation
from embeddings.objectives import negative_sampling

LINES = [f"the cat{n % 7} sat on the mat{n % 5} with dog{n % 11}" for n in range(200)]
SMALL = {"dim": 5, "min_count": 1, "threads": 1, "window": 2, "subsample": 0.0, "learning_rate": 0.1}


def texts(encoded):
    words = [*encoded.vocabulary.words, "?"]
    borders = np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
    ids = np.asarray(encoded.ids)
    return [" ".join(words[i] for i in ids[a:b]) for a, b in pairwise(borders)]


def test_held_out_documents_are_never_trained_on():
    encoded = em.Corpus(LINES).encode()
    training, held_out, unit = hold_out(encoded, 0.3)
    assert unit == "documents"
    assert sorted(texts(training) + texts(held_out)) == sorted(LINES)
    assert not set(texts(training)) & set(texts(held_out))  # repeated texts are in one part
    assert 0.1 < len(texts(held_out)) / len(LINES) < 0.5
    assert training.vocabulary.words == encoded.vocabulary.words
    again = hold_out(em.Corpus(LINES[::-1]).encode(), 0.3)[1]
    assert sorted(texts(again)) == sorted(texts(held_out))
    stopping = em.EarlyStopping(validation=0.3, patience=9)
    model = em.train("skipgram", LINES, epochs=2, callbacks=[stopping], **SMALL)
    assert model.record["total_words"] == 2 * len(training.ids) == 2 * (len(encoded.ids) - len(held_out.ids))
    assert f"{len(texts(held_out))} documents" in model.record["early_stopping"]["basis"]


def test_a_text_of_few_documents_is_cut_by_lines(tmp_path, monkeypatch):
    (tmp_path / "t.txt").write_text("\n".join(LINES))
    encoded = em.Corpus(tmp_path / "t.txt").encode()
    with monkeypatch.context() as patch:
        patch.setattr("embeddings.corpora.resampling.CHUNK", 20)
        training, held_out, unit = hold_out(encoded, 0.3)
    assert unit == "lines"
    assert sorted(texts(training) + texts(held_out)) == sorted(LINES)
    assert sorted(texts(hold_out(encoded, 0.3)[1])) == sorted(texts(held_out))
    with pytest.raises(CorpusError, match="none of 200 lines is held out by a share"):
        hold_out(encoded, 1e-12)


def test_the_loss_of_negative_sampling(tmp_path, monkeypatch):
    (tmp_path / "held-out.txt").write_text("the cat1 sat on\nthe dog3 zebra sat\n")
    model = em.train("skipgram", LINES, epochs=1, negatives=3, **SMALL)
    whole = -Validation(tmp_path / "held-out.txt").score(model)
    rng, total, count = np.random.default_rng(negative_sampling.LOSS_SEED), 0.0, 0
    weights = np.cumsum(model.vocabulary.counts**0.75)
    vectors, output = (table.astype(float) for table in (model.vectors.matrix, model.tables["output"]))
    pairs = []
    for text in ("the cat1 sat on", "the dog3 sat"):
        line = [model.vectors.index(word) for word in text.split()]
        pairs += [(line[c], word) for i, word in enumerate(line) for c in range(len(line)) if 0 < abs(c - i) <= 2]
    order = np.unique([context for context, _ in pairs], return_inverse=True)[1].argsort(kind="stable")
    for context, word in (pairs[i] for i in order):
        noise = np.searchsorted(weights, rng.random(3) * weights[-1], side="right")
        total += np.log1p(np.exp(-vectors[context] @ output[word]))
        total += sum(np.log1p(np.exp(vectors[context] @ output[other])) for other in noise if other != word)
        count += 1
    assert whole == pytest.approx(total / count, rel=1e-9)


def test_training_stops_by_held_out_loss(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("\n".join(LINES))
    options = ["--dim", 5, "--min-count", 1, "--threads", 1, "--epochs", 30, "--learning-rate", 0.3, "--subsample", 0]
    result = expect("train", "cbow", "t.txt", *options, "--validation", 0.2, "-o", "m", "--log", "run.jsonl")
    stopping = em.load_model("m").record["early_stopping"]
    losses = stopping["held_out_loss"]
    assert stopping["scores"] == [-loss for loss in losses]
    assert stopping["best_epoch"] == losses.index(min(losses)) + 1
    assert f"a held-out loss of {min(losses):.4f} (held-out loss on 0.2 of the text" in result.stderr
    lines = map(json.loads, Path("run.jsonl").read_text().splitlines())
    assert [line["scores"]["held_out_loss"] for line in lines if line["event"] == "epoch"] == losses


def test_errors():
    for share in (0, 1.5, float("nan")):
        with pytest.raises(SettingError, match="validation"):
            em.EarlyStopping(validation=share)
    with pytest.raises(SettingError, match="glove defines no loss of held-out text"):
        em.EarlyStopping(validation=0.1).on_corpus(em.Corpus(LINES).encode(), em.GloVe())
