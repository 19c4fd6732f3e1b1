"""Saved files load and work: one of each kind is in `tests/data/saved`."""

import json
from pathlib import Path

import numpy as np
import pytest

import embeddings as em
from embeddings import registry

FILES = Path(__file__).parents[1] / "data" / "saved"
MODELS = sorted(path.name for path in FILES.iterdir() if (path / "model.json").exists())
COMPOSING = ["c2w", "distill", "fasttext", "sembei-compositional", "tensor-indexing"]
INFERRING = ["paragraph-dbow", "paragraph-dm", "paragraph-tags"]
CONTINUABLE = [
    "cbow", "continuous-window", "directional-skipgram", "fasttext", "paragraph-dbow", "paragraph-dm", "paragraph-tags",
    "skipgram", "skipgram-phrases", "structured-skipgram",
]  # fmt: skip
TEXT = ["the red cat sat on the mat in new york", "a green bird sat on the rug in old york"] * 3


@pytest.mark.parametrize("name", MODELS)
def test_models_load_with_valid_settings(name):
    model = em.load_model(FILES / name)
    trainer = registry.create("trainer", model.name, model.settings)
    assert trainer.dim == model.vectors.dim == 4
    assert model.settings.get("learning_rate") == getattr(trainer, "learning_rate", None)
    assert "total_words" in model.record
    word = model.vectors.words[3]
    assert em.load(FILES / name).most_similar(word, top=3) == model.vectors.most_similar(word, top=3)
    output = model.tables.get("output")
    assert output is None or np.isfinite(output).all()


@pytest.mark.parametrize("name", MODELS)
def test_saved_again_they_are_the_same(tmp_path, name):
    model = em.load_model(FILES / name)
    model.save(tmp_path / "m")
    content = json.loads((tmp_path / "m" / "model.json").read_text())
    assert content["format_version"] == 2
    assert content["settings"] == model.settings
    assert content["record"] == model.record
    assert em.load_model(tmp_path / "m").vectors.matrix.tobytes() == model.vectors.matrix.tobytes()


@pytest.mark.parametrize("name", COMPOSING)
def test_models_compose(name):
    model = em.load_model(FILES / name)
    text = "tree_white" if name == "tensor-indexing" else "cats"
    vectors = model.compose([text, model.vectors.words[0]])
    assert vectors.shape == (2, 4)
    assert np.isfinite(vectors).all()
    assert vectors.any()


def test_a_classifier_predicts():
    prediction = em.load_model(FILES / "classifier").predict(["before1 after1"])
    assert prediction.labels.shape == (1, 1)


@pytest.mark.parametrize("name", INFERRING)
def test_models_infer(name):
    model = em.load_model(FILES / name)
    vectors = model.infer(["the red cat", "zzz"], epochs=2, threads=1)
    assert vectors.shape == (2, 4)
    assert vectors[0].any()
    assert not vectors[1].any()
    assert model.documents.words[0] == ("d0" if name == "paragraph-tags" else "0")


EARLIER = {"tokenizer": "alphanumeric", "normalize": "none"}  # as all text was read


@pytest.mark.parametrize("name", CONTINUABLE)
def test_models_are_trained_further(name):
    model = em.load_model(FILES / name)
    text = em.Corpus(
        [{"t": line, "id": f"n{i}"} for i, line in enumerate(TEXT)], text_column="t", tag_column="id", **EARLIER
    )
    continued = em.continue_training(
        model, text if name == "paragraph-tags" else TEXT, epochs=1, threads=1, min_count=1
    )
    assert set(model.vectors.words) < set(continued.vectors.words)
    assert "green" in continued.vectors
    assert np.isfinite(continued.vectors.matrix).all()


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_vector_files(ending):
    vectors, expected = em.load(FILES / f"vectors.{ending}"), em.load(FILES / "skipgram")
    assert vectors.words == expected.words
    assert vectors.counts.tolist() == expected.counts.tolist()
    assert vectors.matrix.tobytes() == expected.matrix.tobytes()


def test_phrase_list_and_vocabulary():
    from embeddings.corpora.phrases import read_phrases

    phrases = read_phrases(FILES / "phrases.tsv")
    assert [phrase.words for phrase in phrases] == [("new", "york")]
    vocabulary = em.corpora.Vocabulary.load(FILES / "vocabulary.arrow")
    assert list(vocabulary.words) == em.load(FILES / "skipgram").words
    encoded = em.Corpus(TEXT, phrases=phrases).encode()
    assert "new_york" in encoded.vocabulary
    assert len(em.Corpus(TEXT, vocabulary=FILES / "vocabulary.arrow").encode().vocabulary) == len(vocabulary)
