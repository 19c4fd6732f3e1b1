"""What a trainer must have."""

from dataclasses import replace

import pytest

import embeddings as em
from embeddings.errors import DeclarationError
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import prepare

TEXT = [["a", "b", "c", "d"]] * 200


@pytest.fixture
def data():
    """Data for a small skip-gram."""
    return prepare(em.SkipGram(dim=8, min_count=1, epochs=2), em.Corpus(TEXT), threads=1)


def test_a_trainer_without_a_plan_is_refused():
    class Planless(Trainer):
        trainer_name = "planless"

    with pytest.raises(DeclarationError, match="planless must define plan or learn"):
        Planless().train(TEXT, threads=1)


def test_a_plan_requires_a_schedule():
    class Unscheduled(Trainer):
        trainer_name = "unscheduled"

        def plan(self, data):
            return em.SkipGram(dim=8, min_count=1).plan(replace(data, trainer=em.SkipGram(dim=8, min_count=1)))

    with pytest.raises(DeclarationError, match=r"unscheduled.*Schedule"):
        Unscheduled().train(TEXT, threads=1)
