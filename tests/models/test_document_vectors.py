"""Vectors of documents by their tags."""

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import FormatError, SettingError
from embeddings.models import model_files

SMALL = {"dim": 8, "min_count": 1, "subsample": 0, "epochs": 30}
PLACES, THINGS = ("sea", "hill", "town"), 12


def texts(count=240, seed=1):
    """Texts about one of three places, each with its own words among common ones."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        place = PLACES[number % 3]
        yield " ".join(f"{place}{rng.integers(THINGS)} w{rng.integers(9)}" for _ in range(5))


def tagged_corpus(tmp_path, tags):
    path = tmp_path / "d.csv"
    path.write_text("text,tag\n" + "".join(f"a b {tag},{tag}\n" for tag in tags))
    return em.Corpus(path, text_column="text", tag_column="tag")


def test_tags_are_saved_and_loaded(tmp_path):
    model = em.ParagraphDM(**{**SMALL, "epochs": 2}).train(tagged_corpus(tmp_path, ["x", "new york", "é"]))
    model.save(tmp_path / "m")
    loaded = em.load_model(tmp_path / "m")
    assert loaded.documents.words == ["x", "new york", "é"]
    np.testing.assert_array_equal(loaded.documents.matrix, model.documents.matrix)
    assert em.load(tmp_path / "m", table="documents").words == ["x", "new york", "é"]


def test_tags_of_texts_in_memory():
    rows = [{"text": f"a b {tag}", "tag": tag} for tag in ("x", "y", "x")]
    corpus = em.Corpus(rows, text_column="text", tag_column="tag")
    assert em.ParagraphDM(**{**SMALL, "epochs": 2}).train(corpus).documents.words == ["x", "y"]


def test_broken_tags_are_refused(tmp_path):
    model = em.ParagraphDM(**{**SMALL, "epochs": 2}).train(tagged_corpus(tmp_path, ["x", "y"]))
    model.save(tmp_path / "m")
    (tmp_path / "m" / model_files.TAGS).write_bytes(b"no")
    with pytest.raises(FormatError, match=r"documents\.arrow"):
        em.load_model(tmp_path / "m")
    (tmp_path / "m" / model_files.TAGS).unlink()
    em.ParagraphDM(**{**SMALL, "epochs": 2}).train(tagged_corpus(tmp_path, ["x", "y", "z"])).save(tmp_path / "o")
    (tmp_path / "o" / model_files.TAGS).rename(tmp_path / "m" / model_files.TAGS)
    with pytest.raises(FormatError, match=r"3.*2"):
        em.load_model(tmp_path / "m")


def test_concatenated_models():
    corpus = em.Corpus(list(texts()))
    first, second = (trainer(**{**SMALL, "epochs": 2}).train(corpus) for trainer in (em.ParagraphDBOW, em.ParagraphDM))
    both = em.training.concatenate(first, second)
    assert both.documents.words == first.documents.words
    np.testing.assert_array_equal(both.documents.matrix[:, :8], first.documents.matrix)
    np.testing.assert_array_equal(both.documents.matrix[:, 8:], second.documents.matrix)
    vectors = both.infer(text for text in texts(9))
    np.testing.assert_array_equal(vectors[:, :8], first.infer(list(texts(9))))
    np.testing.assert_array_equal(vectors[:, 8:], second.infer(list(texts(9))))
    other = em.ParagraphDM(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b"]))
    with pytest.raises(SettingError, match="240 and 1"):
        _ = em.training.concatenate(first, other).documents
    with pytest.raises(SettingError, match="at least one model"):
        em.training.concatenate()
    lines = em.ParagraphDM(**{**SMALL, "epochs": 1, "documents": "lines"}).train(corpus)
    with pytest.raises(SettingError, match=r"documents.*auto, lines"):
        em.training.concatenate(first, lines).infer(corpus)
