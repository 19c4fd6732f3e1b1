"""Words with contexts: columns of tables, and clear refusals."""

import numpy as np
import pytest
from commands import refused

import embeddings as em
from embeddings.corpora import ContextFormat


def rows_of(source, **columns):
    """The words, tags and counts of tags of each row of an encoded corpus."""
    corpus = em.Corpus(source, pairs=ContextFormat(**columns), tokenizer="whitespace", case="keep")
    with corpus.encode() as encoded:
        starts = np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
        tags = encoded.tags.to_pylist()
        bounds = np.arange(len(starts)) if encoded.tag_starts is None else np.asarray(encoded.tag_starts)
        words = [encoded.vocabulary.words[row] for row in encoded.ids]
        return [
            (*words[starts[i] : starts[i + 1]], *map(str.strip, tags[bounds[i] : bounds[i + 1]]))
            for i in range(len(starts) - 1)
        ]


@pytest.mark.parametrize(
    ("name", "text", "columns", "expected"),
    [
        ("a.tsv", "word\tcontext\nCat\tdobj of\n", {}, [("Cat", "dobj of")]),
        ("a.tsv", "weight\tcontext\tword\n.5\tdobj\tcat\n", {}, [("cat", "dobj", "0.5")]),
        ("a.csv", "from,to,when\na,b,c\n", {}, [("a", "b")]),
        ("a.csv", "from,to,when\na,b,3\n", {"weight": "when", "word": "to", "context": "from"}, [("b", "a", "3.0")]),
        ("a.txt", "1\t2\n2\t3\n", {}, [("1", "2"), ("2", "3")]),
        ("a.tsv", "1\t2\t0.5\n2\t0.25\t0.25\n", {}, [("1", "2", "0.5"), ("2", "0.25", "0.25")]),
        ("a.tsv", "1\t2\t0.5\n", {"context": "3", "word": "2"}, [("2", "0.5")]),
        ("a.jsonl", '{"word": "new york", "context": "a b"}\n', {}, [("new", "york", "a b")]),
        ("a.tsv", "word\tcontext\na\t\n\tb\n c \t d \n", {}, [("c", "d")]),
        ("a.tsv", "a\tb\n", {"header": False}, [("a", "b")]),
    ],
)
def test_columns(tmp_path, name, text, columns, expected):
    (tmp_path / name).write_text(text)
    assert rows_of(tmp_path / name, **columns) == expected


def test_integers_are_words():
    assert rows_of([(1, 2), (3, 1)]) == [("1", "2"), ("3", "1")]


@pytest.mark.parametrize(
    ("text", "arguments", "facts"),
    [
        ("word\tcontext\na\tb\n", ["--context-column", "other"], ["pairs.tsv", "'other'", "word, context"]),
        ("word\tcontext\na\tb\n", ["--context-column", "word"], ["--word-column", "--context-column"]),
        ("word\nb\n", [], ["pairs.tsv", "--context-column", "columns: word"]),
        ("word\tcontext\tweight\na\tb\t1\na\tc\t-2\n", [], ["pairs.tsv, row 2", "'weight'", "[0, 1e+100]", "-2"]),
        ("word\tcontext\tweight\na\tb\t1e308\na\tc\t1e308\n", [], ["pairs.tsv, row 1", "'weight'", "1e+308"]),
        ("word\tcontext\tweight\na\tb\t1\na\tc\tx\n", [], ["pairs.tsv, row 2", "'weight'", "number", "'x'"]),
        ("word\tcontext\n", [], ["pairs.tsv", "no rows"]),
        ("", [], ["pairs.tsv", "no rows"]),
        ("word\tcontext\na\t\n", [], ["pairs.tsv", "all 1 rows", "empty cell"]),
        ("word\tcontext\na\tb\na\tc\n", ["--min-count", "1"], ["two words", "--min-count"]),
    ],
)
def test_refusals(tmp_path, monkeypatch, text, arguments, facts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text(text)
    message = refused("train", "given-contexts", "pairs.tsv", "-o", "m", "--quiet", *arguments, code=1)
    assert all(fact in message for fact in facts), message
    assert not (tmp_path / "m").exists()
