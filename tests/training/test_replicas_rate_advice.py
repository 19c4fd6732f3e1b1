"""Advice on the learning rate for many replicas."""

import logging

import embeddings as em
from embeddings.training.replicas import Replicas
from embeddings.training.run_options import RunOptions
from embeddings.training.training_data import log_rate_advice

TINY = {"dim": 4, "min_count": 1, "subsample": 0, "threads": 1, "epochs": 1}


def test_advice_follows_the_replicas(caplog):
    def advice(trainer, replicas):
        caplog.clear()
        with caplog.at_level(logging.INFO, "embeddings"):
            log_rate_advice(trainer, RunOptions(replicas=replicas))
        return caplog.text

    assert advice(em.SkipGram(), None) == advice(em.SkipGram(), Replicas(7)) == ""
    assert "8 replicas a learning rate of 0.075" in advice(em.SkipGram(), Replicas(8))
    assert advice(em.SkipGram(learning_rate=0.06), Replicas(8)) == advice(em.GloVe(), Replicas(8)) == ""


def test_training_logs_advice_once(caplog):
    def advised(replicas=8, **options):
        caplog.clear()
        with caplog.at_level(logging.INFO, "embeddings"):
            em.train("skipgram", ["the cat sat on the mat"] * 9, **TINY, replicas=Replicas(replicas), **options)
        return sum("is usually better" in record.message for record in caplog.records)

    assert advised() == 1
    assert advised(replicas=2) == advised(learning_rate=0.06) == advised(rate_advice=False) == 0
