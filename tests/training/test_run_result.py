"""Results of a run: diverged, interrupted and finite."""

import re

import pytest

import embeddings as em
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.progress import Tally
from embeddings.training.run import TrainingError


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
