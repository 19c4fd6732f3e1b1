"""Vectors of documents by their tags."""

import re

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError, FormatError, SettingError
from embeddings.models import model_files

SMALL = {"dim": 8, "min_count": 1, "subsample": 0, "epochs": 30}


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


def test_an_integer_is_the_tag_of_its_digits():
    rows = [{"text": f"a b {tag}", "tag": tag} for tag in (30, 10, 20)]
    model = em.ParagraphDM(**{**SMALL, "epochs": 2}).train(em.Corpus(rows, text_column="text", tag_column="tag"))
    documents = model.documents
    assert documents.words == ["30", "10", "20"]
    np.testing.assert_array_equal(documents[10], documents["10"])
    np.testing.assert_array_equal(documents[[20, np.int64(30)]], documents[["20", "30"]])
    assert documents.most_similar(10) == documents.most_similar("10") == documents.most_similar([10])
    assert documents.similarity(10, 20) == documents.similarity("10", "20")
    assert documents.doesnt_match([10, 20, 30]) == documents.doesnt_match(["10", "20", "30"])
    assert documents.distances(10, [20]) == documents.distances("10", ["20"])
    assert documents.rank(10, 20) == documents.rank("10", "20")
    assert documents.index(10) == 1
    assert 10 in documents
    assert 1 not in documents
    np.testing.assert_array_equal(model.infer(["a b"], tags=[[10]]), model.infer(["a b"], tags=[["10"]]))
    for key in (1, -1, True, 10.0, None, [10, None]):
        with pytest.raises(EmbeddingsError):
            documents[key]
        with pytest.raises(EmbeddingsError):
            documents.most_similar(key)


@pytest.fixture(scope="module")
def one_model():
    return em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(["the cat sat", "the dog sat"], threads=1)


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array])
def test_several_single_words_may_be_one_document_or_several(one_model, kind):
    model, words = one_model, ["the", "cat", "sat"]
    with pytest.raises(SettingError, match="3 single words") as error:
        model.infer(kind(words))
    one, many = re.findall(r"(infer\(.*?\)) if", str(error.value))
    assert eval(f"model.{one}", {"model": model, "words": words}).shape == (1, 8)
    assert eval(f"model.{many}", {"model": model, "words": words}).shape == (3, 8)
    np.testing.assert_array_equal(model.infer(texts=words), model.infer([[word] for word in words]))
    assert model.infer(em.Corpus(words)).shape == (3, 8)


def test_other_texts_are_not_taken_for_words(one_model):
    for texts in (["cat"], ["the cat", "dog"], ["cat", ""], ["cat", None], ["cat-dog", "dog"]):
        assert one_model.infer(texts).shape == (len(texts), 8)
    characters = em.ParagraphDBOW(**SMALL).train(em.Corpus(["我喜欢", "音乐我"], tokenizer="characters"), threads=1)
    assert characters.infer(["喜欢", "音乐"]).shape == (2, 8)


def test_infer_takes_documents_or_texts(one_model):
    for arguments in ({}, {"documents": ["a b"], "texts": ["a b"]}):
        with pytest.raises(SettingError, match="texts="):
            one_model.infer(**arguments)
    with pytest.raises(SettingError, match="list of texts"):
        one_model.infer("the cat")
