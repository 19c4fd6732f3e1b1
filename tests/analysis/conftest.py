"""A small model and its replicates."""

import pytest

import embeddings as em

TEXTS = [f"the {a} {b} the {c}" for a in ["king", "queen"] for b in ["rules", "sees"] for c in "abcdefgh"] * 3


@pytest.fixture(scope="package")
def corpus():
    return em.Corpus(TEXTS)


@pytest.fixture(scope="package")
def model(corpus):
    return em.SkipGram(dim=8, min_count=1, subsample=0, epochs=2).train(corpus, threads=1)


@pytest.fixture(scope="package")
def replicates(model, corpus):
    return em.analysis.stability(model, corpus, resamples=4, seeds=3, threads=1, seed=5)
