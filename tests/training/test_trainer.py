"""What a trainer must have."""

import pytest

import embeddings as em
from embeddings.training.training_data import prepare

TEXT = [["a", "b", "c", "d"]] * 200


@pytest.fixture
def data():
    """Data for a small skip-gram."""
    return prepare(em.SkipGram(dim=8, min_count=1, epochs=2), em.Corpus(TEXT), threads=1)
