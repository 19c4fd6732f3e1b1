"""Texts and vectors in the folder of a benchmark."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import embeddings as em
from embeddings.corpora import Corpus
from embeddings.corpora.documents import corpus_documents
from embeddings.errors import CorpusError
from embeddings.eval.benchmark import tools, workspace
from embeddings.eval.benchmark.tools import Job, model_configs

sentence = st.lists(st.sampled_from(["a", "bb", "é", "\U0001f600", "c-c"]), max_size=30)


@settings(deadline=None)  # the first time it compiles
@given(st.lists(sentence, min_size=1, max_size=8).filter(any), st.integers(1, 12))
def test_lines_are_cut_without_losing_words(tmp_path_factory, lists, longest):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    with Corpus(lists).encode() as encoded:
        workspace.write_words(encoded, path, max_line=longest)
    naive = [one[start : start + longest] for one in lists for start in range(0, len(one), longest)]
    assert path.read_text(encoding="utf-8") == "".join(" ".join(line) + "\n" for line in naive)


def test_no_line_is_longer_than_a_thousand_words(tmp_path):
    with Corpus([["word"] * 2500, ["end"]]).encode() as encoded:
        workspace.write_words(encoded, tmp_path / "text.txt")
    lines = (tmp_path / "text.txt").read_text().splitlines()
    assert [len(line.split()) for line in lines] == [1000, 1000, 500, 1]


def test_words_with_white_space_are_refused(tmp_path):
    with (
        Corpus([["new york", "end"]]).encode() as encoded,
        pytest.raises(CorpusError, match=r"'new york'.*white space"),
    ):
        workspace.write_words(encoded, tmp_path / "text.txt")


def test_the_text_has_the_same_words(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("The cat, l\u2019été! \u0130stanbul 42\n\n" + "na\u00efve \u03a3\u03a3 " * 1500, encoding="utf-8")
    first = Corpus(source).encode()
    workspace.write_words(first, tmp_path / "text.txt")
    again = Corpus(tmp_path / "text.txt", tokenizer="whitespace", case="keep").encode()
    assert list(again.ids) == list(first.ids)
    assert list(again.vocabulary.words) == list(first.vocabulary.words)


def test_each_document_is_a_line(tmp_path):
    long = "w " * 2500
    with Corpus(["a b\nc", "", long, ","]).encode() as encoded:
        workspace.write_documents(encoded, tmp_path / "text.txt")
    again = Corpus(tmp_path / "text.txt", tokenizer="whitespace", case="keep").encode()
    assert (tmp_path / "text.txt").read_text() == f"a b c\n\n{long.strip()}\n\n"
    assert np.diff(corpus_documents(again).borders).tolist() == [3, 0, 2500, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "tool", [tools.OURS, *(peer for peer in tools.PEERS if peer.is_installed)], ids=lambda tool: tool.name
)
def test_every_tool_has_vectors_of_the_same_words(tool, tmp_path):
    source, out = tmp_path / "text.txt", tmp_path / "out.bin"
    source.write_text("a b c a b\nc a b a rare\n" * 20 + "once\n")
    (config,) = model_configs(
        ["skipgram"], dim=[8], negatives=[2], threads=[1], window=2, subsample=0.0, min_count=2, epochs=1
    )
    done = workspace.run(tool.call(Job(config, 1, str(source), str(out))), os.environ)
    if "Encountered NaN" in done.error:  # fastText itself, on some machines
        pytest.skip(f"{tool.name} could not train: {done.error}")
    assert done.error == ""
    found = em.load(out)
    assert (found.words, found.dim) == (["a", "b", "c", "rare"], 8)
