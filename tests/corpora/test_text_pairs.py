"""Pairs of texts from tables, lines, Python values and documents."""

import gzip
import io
import itertools
import os
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from platforms import needs_pipes

import embeddings as em
from embeddings.corpora.reading.text_pairs import MIN_BYTES, split_sentences
from embeddings.errors import CorpusError

ROWS = [("a cat, sat", 'the "cat" sits', 4.5), ("chien é", "犬", 0.5), ("x", "y", 2.0)]


def read(pairs):
    """All pairs, as (left, right, negative, rating)."""
    rows = []
    for batch in pairs:
        left, right, *negatives = (text.to_pylist() for text in batch.texts)
        ratings = [None] * len(batch) if batch.ratings is None else batch.ratings.tolist()
        rows += zip(left, right, *(negatives or [[None] * len(batch)]), ratings, strict=True)
    return rows


def pair_rows(*sources, pairs=None, **options):
    return em.Corpus(*sources, pairs=pairs or em.corpora.PairFormat(), **options).pair_rows()


def frame(names=("sentence1", "sentence2", "score")):
    return pd.DataFrame([dict(zip(names, row, strict=True)) for row in ROWS])


@pytest.mark.parametrize("make", [frame, lambda: pa.table(frame()), lambda: frame().to_dict("records"), lambda: ROWS])
def test_python_values_have_the_same_pairs(make):
    assert read(pair_rows(make())) == [(left, right, None, rating) for left, right, rating in ROWS]


def test_columns_can_be_selected_by_name_or_number(tmp_path):
    data = frame(("b", "a", "value")).assign(id=[7, 8, 9], note="n")
    with pytest.raises(CorpusError, match="left_column"):
        read(pair_rows(data))
    columns = em.corpora.PairFormat(left="a", right="b", rating="value")
    assert read(pair_rows(data, pairs=columns)) == [(b, a, None, rating) for a, b, rating in ROWS]
    (tmp_path / "p.txt").write_text("one\ta\tb\ntwo\tc\td\n")
    columns = em.corpora.PairFormat(left="3", right="1")
    assert read(pair_rows(tmp_path / "p.txt", pairs=columns)) == [
        ("b", "one", None, None),
        ("d", "two", None, None),
    ]
    with pytest.raises(CorpusError, match="no column '4'"):
        read(pair_rows(tmp_path / "p.txt", pairs=em.corpora.PairFormat(left="4", right="1")))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_carriage_return_within_a_line_is_white_space(tmp_path, end, monkeypatch):
    lines = [f"a{number}\tb{number}" for number in range(30)]
    if end != "\r":
        lines[3:5] = "a\rb\r\r\tc", "d\te\r"
    (tmp_path / "p.txt").write_bytes(end.join([*lines, ""]).encode())
    for size in (1, 7, 1 << 16):
        monkeypatch.setattr("embeddings.corpora.reading.reader.BLOCK_SIZE", size)
        rows = read(pair_rows(tmp_path / "p.txt"))
        assert [row[0] for row in rows[:5]] == ["a0", "a1", "a2", *(["a3", "a4"] if end == "\r" else ["a b", "d"])]
        assert len(rows) == 30


def test_three_columns_of_text_are_triplets_and_numbers_of_rows_are_not_ratings():
    assert read(pair_rows([("a", "b", "c"), ("d", "e", "f")])) == [
        ("a", "b", "c", None),
        ("d", "e", "f", None),
    ]
    numbered = pd.DataFrame({"question": ["a", "b"], "answer": ["c", "d"], "id": [1, 2]})
    assert read(pair_rows(numbered)) == [("a", "c", None, None), ("b", "d", None, None)]


def test_texts_may_begin_with_numbers(tmp_path):
    (tmp_path / "p.csv").write_text("book,year,score\n1984,a novel,1\nThe Trial,1925,2\nV,an other,3\n")
    assert read(pair_rows(tmp_path / "p.csv")) == [
        ("1984", "a novel", None, 1.0),
        ("The Trial", "1925", None, 2.0),
        ("V", "an other", None, 3.0),
    ]
    (tmp_path / "q.csv").write_text("code,text\n123,a b\n456,c d\n")
    assert read(pair_rows(tmp_path / "q.csv")) == [("123", "a b", None, None), ("456", "c d", None, None)]


def test_a_header_can_be_declared(tmp_path):
    (tmp_path / "p.csv").write_text("left,right\na,b\nc,d\n")
    assert len(read(pair_rows(tmp_path / "p.csv"))) == 2
    assert len(read(pair_rows(tmp_path / "p.csv", pairs=em.corpora.PairFormat(header=False)))) == 3


def test_pairs_with_an_empty_side_are_dropped_and_counted(caplog):
    rows = read(pair_rows([("a", "b"), (" ", "c"), ("d", None), ("e", "f")]))
    assert rows == [("a", "b", None, None), ("e", "f", None, None)]
    assert "dropped 2 of 4 pairs" in caplog.text
    assert "item 2" in caplog.text


@pytest.mark.parametrize(
    ("rows", "facts"),
    [
        ([], ["no pairs"]),
        ([("", "b"), ("a", "")], ["all 2", "empty"]),
        ([("a", "b", 1), ("c", "d", "high")], ["item 2", "'3'", "number", "high"]),
        ([("a", "b", 1), ("c", "d", float("nan"))], ["item 2", "number"]),
        ([("a", "b", 1), ("c", "d", None)], ["item 2", "number"]),
        ([("a", 5), ("c", "d")], ["one column of text", "left_column"]),
        ([("a", "b"), ("c", "d", "e")], ["item 2", "tuple of 2"]),
        (["a\tb", "c\td"], ["tuples or mappings"]),
        ([("a", "b", 1), ("c", ["d"], 2)], ["item 2", "string"]),
    ],
)
def test_unusable_pairs_are_refused(rows, facts):
    with pytest.raises(CorpusError) as error:
        read(pair_rows(rows))
    assert all(fact in str(error.value) for fact in facts), str(error.value)


def test_lines_need_the_same_number_of_tabs(tmp_path):
    (tmp_path / "p.txt").write_text("a\tb\n\nc\n")
    with pytest.raises(CorpusError, match=r"p\.txt, line 3: .*1 cells.* 2"):
        read(pair_rows(tmp_path / "p.txt"))
    (tmp_path / "q.txt").write_text("only words\n")
    with pytest.raises(CorpusError, match=r"one column of text.*neighbours"):
        read(pair_rows(tmp_path / "q.txt"))


def sentence(name, n):
    return f"{name} sentence {n} " + "x" * MIN_BYTES + "."


DOCUMENTS = {name: [[sentence(name + paragraph, n) for n in range(3)] for paragraph in "pq"] for name in ("One", "Two")}


@pytest.fixture(params=["lines", "items", "table"])
def documents(request, tmp_path):
    """The same two documents in plain text, as strings, and as a table with a column of titles."""
    texts = {name: "\n".join(["Heading.", *map(" ".join, body)]) for name, body in DOCUMENTS.items()}
    if request.param == "table":
        return pair_rows, [pd.DataFrame({"title": texts.keys(), "body": texts.values()})], {
            "text_column": "body",
        }  # fmt: skip
    blocks = [f"{name}\n{text}" for name, text in texts.items()]
    if request.param == "items":
        return pair_rows, [blocks], {}
    (tmp_path / "d.txt").write_text("\n\n\n".join(blocks))
    return pair_rows, [tmp_path / "d.txt"], {}


def test_pairs_are_made_from_documents(documents):
    make, sources, options = documents
    bodies = {name: [" ".join(paragraph) for paragraph in body] for name, body in DOCUMENTS.items()}
    titles = [(name, text) for name, texts in bodies.items() for text in texts]
    paragraphs = [tuple(texts) for texts in bodies.values()]
    sentences = [pair for body in DOCUMENTS.values() for p in body for pair in itertools.pairwise(p)]
    expected = {
        "title-body": titles,
        "neighbouring-paragraphs": paragraphs,
        "neighbouring-sentences": sentences,
        "neighbours": paragraphs + sentences,
        "first-sentence": [(p[0], " ".join(p[1:])) for body in DOCUMENTS.values() for p in body],
        "title-body,neighbours": titles + paragraphs + sentences,
    }
    for kinds, pairs in expected.items():
        pairs_format = em.corpora.PairFormat(kinds, title_column="title" if options else None)
        found = [row[:2] for row in read(make(*sources, pairs=pairs_format, **options))]
        assert sorted(found) == sorted(pairs), kinds


def test_a_corpus_without_blank_lines_has_no_titles(tmp_path):
    (tmp_path / "d.txt").write_text("\n".join(sentence("A", n) for n in range(200)))
    with pytest.raises(CorpusError, match="blank line"):
        read(pair_rows(tmp_path / "d.txt", pairs=em.corpora.PairFormat("title-body")))


def test_tables_are_mixed_with_documents(documents, tmp_path):
    make, sources, options = documents
    if options:
        return
    (tmp_path / "p.csv").write_text("left,right\na,b\nc,d\n")
    alone = read(make(*sources, pairs=em.corpora.PairFormat("title-body")))
    both = em.corpora.PairFormat("title-body,columns")
    for table in (tmp_path / "p.csv", pd.DataFrame({"l": ["a", "c"], "r": ["b", "d"]}), [("a", "b"), ("c", "d")]):
        assert read(make(*sources, table, pairs=both)) == [*alone, ("a", "b", None, None), ("c", "d", None, None)]
    with pytest.raises(CorpusError, match="some pairs have ratings"):
        read(make(*sources, ROWS, pairs=both))
    with pytest.raises(CorpusError, match="some pairs have negative texts"):
        read(pair_rows([("a", "b"), ("c", "d")], [("a", "b", "c"), ("d", "e", "f")]))


@needs_pipes
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("kind", ["text", "table"])
def test_nothing_of_a_pipe_is_lost_when_its_type_is_found(tmp_path, monkeypatch, kind, pack, encoding):
    lines = [f"{sentence('A', n)}\t{sentence('B', n)}" if kind == "table" else sentence("A", n) for n in range(3000)]
    name = "d.tsv" if kind == "table" else "d.txt"
    data = pack("\n".join(lines).encode(encoding))
    (tmp_path / name).write_bytes(data)
    pairs = em.corpora.PairFormat("columns,neighbours", header=False)
    expected = read(pair_rows(tmp_path / name, pairs=pairs, encoding=encoding))
    assert len(expected) > 2900
    if kind == "text":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read(pair_rows("-", pairs=pairs, encoding=encoding)) == expected
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / name)
    writer = threading.Thread(target=(tmp_path / "pipe" / name).write_bytes, args=(data,), daemon=True)
    writer.start()
    assert read(pair_rows(tmp_path / "pipe" / name, pairs=pairs, encoding=encoding)) == expected


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Mr. A. Smith left. He did.", ["Mr. A. Smith left.", "He did."]),
        ("It cost 3.50 dollars. Yes.", ["It cost 3.50 dollars.", "Yes."]),
        ("He said (twice). \"Never.\" Then", ["He said (twice).", '"Never."', "Then"]),
        ("see etc. and more... or so", ["see etc. and more... or so"]),
        ("\u4ed6\u6765\u4e86\u3002\u5979\u8d70\u4e86\u3002", ["\u4ed6\u6765\u4e86\u3002", "\u5979\u8d70\u4e86\u3002"]),
        ("", []),
    ],
)  # fmt: skip
def test_sentence_borders(text, sentences):
    assert split_sentences(text) == sentences


def test_ratings_are_numbers():
    (batch,) = pair_rows(pa.table({"l": ["a", "b"], "r": ["c", "d"], "label": [True, False]}))
    np.testing.assert_array_equal(batch.ratings, [1.0, 0.0])


@pytest.mark.parametrize("columns", [["text", "label"], ["id", "text"], ["premise", "hypothesis", "Label"]])
def test_labels_and_ids_are_not_texts_of_a_pair_unless_they_are_selected(columns):
    table = pd.DataFrame([{name: f"{name} {n}" for name in columns} for n in range(3)])
    with pytest.raises(CorpusError, match="set left_column and right_column"):
        read(pair_rows(table))
    selected = em.corpora.PairFormat(left=columns[0], right=columns[1])
    assert read(pair_rows(table, pairs=selected))[0][:2] == (f"{columns[0]} 0", f"{columns[1]} 0")


def test_vectors_of_texts_that_are_not_unicode_are_refused():
    with pytest.raises(CorpusError, match=r"not valid Unicode: 'b\\ud800'"):
        em.corpora.text_vectors(["a", "b\ud800"], np.ones((2, 3)))
    with pytest.raises(CorpusError, match=r"\(2,\)"):
        em.corpora.text_vectors(["a", "b"], np.ones(2))
