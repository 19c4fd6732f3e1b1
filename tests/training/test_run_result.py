"""Results of a run: diverged, interrupted and finite."""

import re
from threading import Event

import pytest

import embeddings as em
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.progress import Tally
from embeddings.training.run import Interrupted, TrainingError

TRAINERS = pytest.mark.parametrize("trainer", [em.SkipGram, em.CBOW])


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_diverged_loss_stops_the_run_early(monkeypatch, loss):
    """All epochs would take days, so the test ends only if the run does."""
    progress_of, reports = Tally.progress, []

    def broken(self):
        progress = progress_of(self)
        object.__setattr__(progress, "loss", loss)
        return progress

    monkeypatch.setattr(Tally, "progress", broken)
    with pytest.raises(TrainingError, match=r"diverged.*loss.*learning_rate"):
        em.SkipGram(dim=8, epochs=1_000_000).train(synonym_corpus(), threads=2, progress=reports.append)
    assert reports == []


def test_a_diverged_model_says_so(monkeypatch):
    def notes():
        return em.SkipGram(dim=8, epochs=1).train(synonym_corpus(), threads=1).record.get("notes", [])

    assert notes() == []
    monkeypatch.setattr("embeddings.training.run.DIVERGED_LOSS", 0.1)
    (note,) = notes()
    assert re.search("diverged.*loss.*lower learning rate", note)


@TRAINERS
def test_overflowing_vectors_are_an_error(trainer):
    configured = trainer(dim=8, min_count=1, learning_rate=100, negatives=50, subsample=0, epochs=300)
    with pytest.raises(TrainingError, match=r"diverged.*learning_rate"):
        configured.train(em.Corpus([["a", "b", "a", "b"] * 200] * 3), threads=1)


def test_interrupt_names_its_model(monkeypatch):
    def interrupted(work, threads, report):
        work(0, Event())
        raise KeyboardInterrupt

    monkeypatch.setattr("embeddings.training.executor.run_threads", interrupted)
    with pytest.raises(Interrupted, match=r"\.model") as error:
        em.SkipGram(dim=8, epochs=1).train(synonym_corpus(), threads=1)
    assert isinstance(error.value, KeyboardInterrupt)
    assert error.value.model.vectors.dim == 8
    assert error.value.model.record["words"] == error.value.model.record["total_words"]
