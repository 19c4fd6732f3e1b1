"""Repeated encoding of one corpus object, and sources that are easily mistaken for others."""

import sys

import numpy as np
import pytest

from embeddings.corpora import Corpus
from embeddings.errors import CorpusError


@pytest.mark.parametrize("more", [[], ["another text"]])
def test_a_list_of_file_names_is_refused(tmp_path, more):
    path = tmp_path / "text.txt"
    path.write_text("one two\n")
    with pytest.raises(CorpusError, match=r"text\.txt.*file"):
        Corpus([str(path), *more]).encode()


@pytest.mark.parametrize("first", ["text.tx", "a\0b", "x" * 5000, "", "."])
def test_texts_that_are_not_file_names_are_accepted(tmp_path, monkeypatch, first):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("one two\n")
    with Corpus([first, "three"]).encode() as encoded:
        assert "three" in encoded.vocabulary


def test_tokens_may_be_file_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("one two\n")
    with Corpus([["text"]]).encode() as encoded:
        assert list(encoded.vocabulary.words) == ["text"]


def test_closed_standard_input_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CorpusError, match=r"^standard input is closed$"):
        Corpus("-").encode()


def test_documents_after_token_lists_are_those_after_texts(tmp_path):
    (tmp_path / "f.txt").write_text("three\n\nfour\nfive\n")
    lists, texts = (Corpus(items, tmp_path / "f.txt").encode() for items in ([["one"], ["two"]], ["one", "two"]))
    assert np.asarray(lists.documents).tolist() == np.asarray(texts.documents).tolist() == [0, 1, 2, 4, 6]
