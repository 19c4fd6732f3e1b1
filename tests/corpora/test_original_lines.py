"""Lines of a corpus as in its sources, and where words stand in them."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, naive_lines

from embeddings.corpora import Corpus, PhraseList
from embeddings.corpora import original_lines as module
from embeddings.corpora.original_lines import original_lines, token_spans, word_spans
from embeddings.corpora.reading.reader import SourceReader
from embeddings.corpora.word_rules import WordRules

TEXT = "Alpha Beta.\n\n  Gamma,\tdelta!\r\nÉtude — Œuvre\n\nlast line"
FILES = st.lists(st.text(st.sampled_from(["a", "É", "\n", " ", "."]), max_size=12), min_size=1, max_size=4)


def all_lines(corpus):
    return original_lines(corpus, np.arange(len(corpus.encode().sentences) - 1))


@settings(max_examples=60)
@given(texts=FILES, block_size=st.integers(1, 9), as_items=st.booleans())
def test_lines_are_those_of_the_sources(tmp_path_factory, texts, block_size, as_items):
    folder = tmp_path_factory.mktemp("texts")
    texts.append("x")
    if as_items:
        corpus = Corpus(texts)
        expected = [(line, "") for text in texts for line in naive_lines(text) or [""]]
    else:
        for i, text in enumerate(texts):
            (folder / f"{i}.txt").write_text(text)
        corpus = Corpus(folder)
        expected = [(line, str(folder / f"{i}.txt")) for i, text in enumerate(texts) for line in naive_lines(text)]
    with pytest.MonkeyPatch.context() as patch:
        corpus.encode()
        new = corpus.new_reader
        patch.setattr(corpus, "new_reader", lambda: SourceReader(**{**vars(new()), "size": block_size}))
        assert [(line.text, line.file) for line in all_lines(corpus).values()] == expected
        some = np.arange(0, len(expected), 2)
        assert {n: tuple(line) for n, line in original_lines(corpus, some).items()} == {n: expected[n] for n in some}


def test_all_kinds_of_sources(tmp_path):
    lines = [line.removesuffix("\r") for line in TEXT.split("\n")]
    (tmp_path / "text.txt.gz").write_bytes(gzip.compress(TEXT.encode("utf-16")))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in (TEXT, "more")))
    for corpus, expected in (
        (Corpus(tmp_path / "text.txt.gz", encoding="utf-16"), lines),
        (Corpus(tmp_path / "text.txt.gz", encoding="utf-16", rows=3), lines[:3]),
        (Corpus(tmp_path / "text.txt.gz", encoding="utf-16", lines="paragraph"),
         ["Alpha Beta.", "", "  Gamma,\tdelta! Étude — Œuvre", "", "last line"]),
        (Corpus(tmp_path / "rows.jsonl", text_column="text"), [*lines, "more"]),
        (Corpus([TEXT, "more"]), [*lines, "more"]),
        (Corpus(["", "one\n", "", "two"]), ["", "one", "", "two"]),
    ):  # fmt: skip
        assert [line.text for line in all_lines(corpus).values()] == expected


def test_long_lines_and_sources_that_can_be_read_once_are_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_LINE", 10)
    (tmp_path / "text.txt").write_text("short\n" + "long words " * 9 + "\nlast")
    assert [*all_lines(Corpus(tmp_path / "text.txt"))] == [0, 2]
    assert all_lines(Corpus(text for text in ["one"])) == {}
    assert all_lines(Corpus([["one"], ["two"]])) == {}


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"tokenizer": "alphanumeric"},
        {"tokenizer": "characters"},
        {"tokenizer": "whitespace", "case": "keep"},
        {"tokenizer": "codepoints"},
        {"hyphens": "join", "emoji": "as-words"},
        {"tokenizer": str.split},
        {"phrases": PhraseList(["old new york", "new york", "don't know"]), "joiner": "-"},
        {"phrases": PhraseList(["old new york", "new york"]), "phrase_mode": "alternate", "joiner": "_"},
    ],
)
def test_words_are_found_in_the_text(choice):
    text = "Old New York: “New York” is well-known; I DON\u2019T know 한글 ❤️ 我学 3.14 Don't know new york."
    corpus = Corpus([text], **choice)
    (words,) = decoded(corpus.encode())
    spans = word_spans(corpus.rules, text, words, choice.get("joiner"))
    assert len(spans) == len(words)
    for (start, end), word in zip(spans, words, strict=True):
        part = text[start:end]
        tokens = corpus.rules.normalize_all([part[a:b] for a, b in token_spans(corpus.tokenizer, part)])
        lower = tokens if corpus.rules.is_built_in else [token.lower() for token in tokens]
        assert choice.get("joiner", "").join(lower) == word


def test_words_that_are_not_in_the_text():
    rules = WordRules("words")
    assert word_spans(rules, "one two", ["one"]) is None
    assert word_spans(rules, "one two", ["one_three"], "_") is None
    assert word_spans(rules, "one two three", [None, "two_three"], "_") == [(0, 3), (4, 13)]
    assert token_spans(lambda text: ["##ing"], "going") is None
