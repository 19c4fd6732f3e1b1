"""Bootstrap resamples of encoded corpora."""

from itertools import pairwise

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora import resampling
from embeddings.corpora.corpus_cache import new_folder
from embeddings.corpora.resampling import MIN_UNITS, resample


def documents(encoded):
    """The words of each line of each document."""
    words = [encoded.vocabulary.words[i] for i in encoded.ids.tolist()]
    lines = [tuple(words[a:b]) for a, b in pairwise(encoded.sentences.tolist())]
    return [tuple(lines[a:b]) for a, b in pairwise(encoded.documents.tolist())]


def draw(encoded, unit, seed=0):
    with new_folder(None) as folder:
        return resample(encoded, unit, np.random.default_rng(seed), folder)


TEXTS = ["\n".join(f"d{i} w{j} x" for j in range(i % 4)) + "\n" for i in range(1, 60)]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 22])
def test_documents_are_drawn_with_replacement(monkeypatch, chunk):
    monkeypatch.setattr(resampling, "CHUNK", chunk)
    encoded = em.Corpus(TEXTS).encode()
    originals = documents(encoded)
    with draw(encoded, "documents") as drawn:
        expected = np.sort(np.random.default_rng(0).integers(len(originals), size=len(originals)))
        assert documents(drawn) == [originals[i] for i in expected]
        assert drawn.vocabulary.words == encoded.vocabulary.words
        assert np.array_equal(drawn.vocabulary.counts, encoded.vocabulary.counts)
        folder = drawn.folder
    assert not folder.exists()


def test_lines_are_drawn_with_replacement():
    encoded = em.Corpus(["a b\nc\n" * 20 + "d e"]).encode()
    lines = [line for document in documents(encoded) for line in document]
    with draw(encoded, "lines", seed=3) as drawn:
        expected = np.sort(np.random.default_rng(3).integers(41, size=41))
        assert documents(drawn) == [(lines[i],) for i in expected]


def test_each_document_is_drawn_as_often_as_chance_says():
    encoded = em.Corpus([f"n{i}" for i in range(40)]).encode()
    counts = np.zeros(40)
    for seed in range(100):
        with draw(encoded, "documents", seed) as drawn:
            counts += np.bincount(drawn.ids, minlength=40)
    assert counts.sum() == 4000
    assert np.abs(counts - 100).max() < 5 * 10  # standard deviation 10


def test_too_few_units_are_refused():
    encoded = em.Corpus(["a\nb\n" * MIN_UNITS]).encode()
    with pytest.raises(em.EmbeddingsError, match=f"documents.* 1, .*{MIN_UNITS}.*lines"):
        draw(encoded, "documents")
    few = em.Corpus(["a\nb"]).encode()
    with pytest.raises(em.EmbeddingsError, match=r"lines.* 2,"):
        draw(few, "lines")
