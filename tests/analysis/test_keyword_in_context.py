"""Lines of a corpus around a word."""

import fnmatch
import gzip
import re

import numpy as np
import pytest

import embeddings as em
from embeddings.analysis.keyword_in_context import concordance
from embeddings.corpora.vocabulary import UnknownWordError


def test_words_are_typed_as_in_the_text_or_otherwise():
    corpus = em.Corpus(["We met in New York.", "York is old, New\nYork new."], phrases=None)
    assert concordance(corpus, "new york").total == 1  # never across lines
    assert concordance(corpus, "YORK").total == 3
    joined = em.Corpus(["We met in New York.", "York is old."], phrases=em.corpora.PhraseList(["new york"]))
    assert [line.keyword for line in concordance(joined, "New York").lines] == ["New York"]
    with pytest.raises(UnknownWordError, match=r"'yrok'.*york"):
        concordance(corpus, "yrok")
    with pytest.raises(UnknownWordError):
        concordance(corpus, "")


def test_words_outside_a_fixed_vocabulary_are_an_ellipsis():
    corpus = em.Corpus(["one two three"], vocabulary=em.corpora.Vocabulary(["two"], [1]))
    (line,) = concordance(corpus, "two", original=False).lines
    assert (line.left, line.right) == ("…", "…")
    (line,) = concordance(corpus, "two").lines
    assert (line.left, line.right) == ("one", "three")


def test_lines_have_their_place_and_fit_the_width():
    texts = [{"text": "aa bb cc dd ee\nff cc", "name": "x"}, {"text": "cc verylongword", "name": "y"}]
    corpus = em.Corpus(texts, text_column="text", tag_column="name")
    found = concordance(corpus, "cc", width=5, context="line").lines
    assert [(line.document, line.line) for line in found] == [("x", 1), ("x", 2), ("y", 3)]
    assert [(line.left, line.right) for line in found] == [("aa bb", "dd ee"), ("ff", ""), ("", "veryl")]
    found = concordance(corpus, "cc", width=4, context="line").lines
    assert (found[0].left, found[0].right) == ("bb", "dd")
    assert [line.document for line in concordance(em.Corpus(["a", "a"]), "a").lines] == ["0", "1"]


@pytest.mark.parametrize(("total", "lines"), [(100, 7), (3, 7), (7, 7), (1, 1)])
def test_lines_are_evenly_spaced(total, lines):
    corpus = em.Corpus([f"word n{i}" for i in range(total)])
    result = concordance(corpus, "word", lines=lines)
    assert result.total == total
    numbers = [line.line for line in result.lines]
    assert len(numbers) == min(total, lines)
    assert len(set(np.diff(numbers).tolist()) - {total // lines, -(-total // lines)}) == 0 or total <= lines
    assert numbers[0] - 1 <= total / lines
    assert total - numbers[-1] <= total / lines


ARTICLES = """First Title
The Cat's “Big” cat sat, quietly; cats sit.
CAT! A cat-like Étude.

Second
It is a catalogue of concatenated CATS: "cat" (see: Cat).
And New York; then new
York again, the cat.
"""


def naive_concordance(text, query, *, by_line):
    """All hits by a loop over lines, words and characters: document, line, left, keyword and right."""
    documents = [block.split("\n") for block in text.rstrip("\n").split("\n\n")]
    rows, number = [], 0
    for document, lines in enumerate(documents):
        for i, line in enumerate(lines):
            number += 1
            spans = [match.span() for match in re.finditer(r"\w+(?:['\u2019]\w+)*", line)]
            words = [line[start:end].lower().replace("\u2019", "'") for start, end in spans]
            for j in range(len(words) - len(query) + 1):
                if all(fnmatch.fnmatchcase(word, part) for word, part in zip(words[j:], query, strict=False)):
                    start, end = spans[j][0], spans[j + len(query) - 1][1]
                    before = [] if by_line else lines[:i]
                    after = [] if by_line else lines[i + 1 :]
                    left, right = " ".join([*before, line[:start]]), " ".join([line[end:], *after])
                    rows.append((str(document), number, left.strip(), line[start:end], right.strip()))
        number += 1  # the blank line
    return rows


@pytest.mark.parametrize("query", ["cat", "cat*", "*cat*", "new york", "the *", "*a* cat*", "* of", "c*t*", "étude"])
@pytest.mark.parametrize("by_line", [True, False])
def test_lines_are_those_of_a_naive_search(tmp_path, query, by_line):
    (tmp_path / "articles.txt.gz").write_bytes(gzip.compress(ARTICLES.encode()))
    for source in (tmp_path / "articles.txt.gz", [ARTICLES]):
        corpus, text = em.Corpus(source), ARTICLES
        if isinstance(source, list):  # one document
            text = ARTICLES.replace("\n\n", "\n \n")
        found = concordance(corpus, query, width=1000, context="line" if by_line else "document").lines
        rows = [(line.document, line.line, line.left, line.keyword, line.right) for line in found]
        expected = naive_concordance(text, query.split(), by_line=by_line)
        assert rows == [(*row[:2], *(" ".join(part.split()) for part in row[2:])) for row in expected]
        assert rows


def test_file_and_tag(tmp_path):
    for name in ("articles.txt", "other.txt"):
        (tmp_path / name).write_text(ARTICLES)
    files = {line.file for line in concordance(em.Corpus(tmp_path), "cat").lines}
    assert files == {str(tmp_path / "articles.txt"), str(tmp_path / "other.txt")}
    tagged = em.Corpus([{"text": ARTICLES, "id": "x1"}], text_column="text", tag_column="id")
    assert {(line.document, line.file) for line in concordance(tagged, "cat").lines} == {("x1", "")}
    columns = [list(concordance(corpus, "cat").tables[0].cells()[0]) for corpus in (em.Corpus(tmp_path), tagged)]
    assert columns == [["document", "line", "left", "keyword", "right", *end] for end in (["file"], [])]


def test_lines_are_sorted_by_the_words_next_to_the_word():
    corpus = em.Corpus(["Zoe's cat ran", "the (old) Cat “Apple”", "a new cat, banana", "old cat"])

    def lines(sort):
        return [line.line for line in concordance(corpus, "cat", sort=sort).lines]

    assert lines("position") == [1, 2, 3, 4]
    assert lines("left") == [3, 4, 2, 1]
    assert lines("right") == [4, 2, 3, 1]


def test_sources_that_can_be_read_once_show_the_words():
    corpus = em.Corpus(text for text in ["The Cat sat.\nThe Cat ran."])
    (first, second) = concordance(corpus, "cat").lines
    assert (first.left, first.keyword, first.right) == ("the", "cat", "sat the cat ran")
    assert concordance(corpus, "cat", context="line").lines[1].left == second.left.split()[-1] == "the"


def test_patterns_that_match_nothing_or_everything(tmp_path):
    corpus = em.Corpus(["One two", "a*b"], tokenizer="whitespace")
    with pytest.raises(UnknownWordError, match=r"'x\*'"):
        concordance(corpus, "x*")
    for everything in ("*", "* **"):
        with pytest.raises(em.EmbeddingsError, match="every word"):
            concordance(corpus, everything)
    assert [line.keyword for line in concordance(corpus, "A*b").lines] == ["a*b"]  # a word of the corpus
    assert [line.keyword for line in concordance(corpus, "T*").lines] == ["two"]
