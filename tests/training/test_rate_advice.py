"""Advice on the learning rate for long training and many replicas."""

import logging

import pytest

import embeddings as em
from embeddings.errors import SettingError
from embeddings.training.rate_advice import rate_advice
from embeddings.training.replicas import Replicas

TINY = {"dim": 4, "min_count": 1, "subsample": 0, "threads": 1, "epochs": 1}
LIMIT, LOWER = em.SkipGram.long_training


def test_advice_follows_the_words_and_the_replicas():
    skipgram = em.SkipGram(epochs=2)
    assert rate_advice(skipgram, LIMIT // 2, None) is None
    assert f"{LOWER:g} is usually better" in rate_advice(skipgram, LIMIT // 2 + 1, None)
    assert rate_advice(em.SkipGram(epochs=2, learning_rate=0.06), LIMIT, Replicas(8)) is None
    assert rate_advice(skipgram, 1, Replicas(7)) is None
    assert "8 replicas" in rate_advice(skipgram, 1, Replicas(8))
    assert "0.0375" in rate_advice(skipgram, LIMIT, Replicas(8))
    assert rate_advice(em.CBOW(), 10**12, None) is None


def test_training_logs_advice_once(monkeypatch, caplog):
    monkeypatch.setattr(em.SkipGram, "long_training", (10, LOWER))

    def advised(**options):
        caplog.clear()
        with caplog.at_level(logging.INFO, "embeddings"):
            em.train("skipgram", ["the cat sat on the mat"] * 9, **TINY, **options)
        return sum("is usually better" in record.message for record in caplog.records)

    assert advised() == 1
    assert advised(learning_rate=0.06) == advised(rate_advice=False) == 0
    with pytest.raises(SettingError, match="rate_advice"):
        advised(rate_advice="no")
