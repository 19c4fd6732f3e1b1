"""Classifiers in files."""

import pytest

import embeddings as em


@pytest.fixture
def load(tmp_path):
    """A function that returns the classifier in these bytes."""

    def load(data):
        (tmp_path / "m.bin").write_bytes(data)
        return em.load_classifier(tmp_path / "m.bin")

    return load
