"""Iterables of mappings as rows of a table, and iterables that are refused."""

import json

import numpy as np
import pytest
from naive_corpora import check, decoded, encode

import embeddings as em
from embeddings.corpora.reading.reader import read_texts
from embeddings.corpora.reading.sources import File, Items
from embeddings.errors import CorpusError

ROWS = [{"text": "A cat.\nSat", "id": "x"}, {"text": None, "id": 7}, {"text": "a dog", "id": np.int64(7), "more": 1.5}]


def test_mappings_are_rows_of_a_table():
    with encode(iter(ROWS), text_column="text", tag_column="id") as encoded:
        check(encoded, [["a", "cat"], ["sat"], [], ["a", "dog"]], [0, 2, 3, 4])
        assert encoded.tags.to_pylist() == ["x", "7", "7"]
        assert encoded.meta["has_items"]
    nested = [{"a": {"b": "deep down"}}]
    with encode(nested, text_column="a.b") as encoded:
        assert decoded(encoded) == [["deep", "down"]]
    with encode(ROWS, text_column="text", rows=1) as encoded, encode(ROWS[:1], text_column="text") as first:
        assert encoded.fingerprint == first.fingerprint
    with encode([{"text": "a \ud800"}], text_column="text", encoding_errors="ignore") as encoded:
        assert encoded.decoding_errors == 3


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([{"text": "a"}], {"text_column": "body"}, "no column 'body'.*: text$"),
        ([{"text": "a"}, {"text": {}, "n": 1}], {"text_column": "text.body"}, "no column 'text.body'.*: text, n$"),
        ([{"text": "a"}, "b"], {"text_column": "text"}, r"item 2 is of type str \('b'\).*mapping"),
        ([{"text": 3}], {"text_column": "text"}, r"item 1: .*'text'.*string.*type int \(3\)"),
        ([{"text": 1.5}], {"text_column": "text"}, r"item 1: .*'text'.*string.*type float \(1.5\)"),
        ([{"text": "a", "t": 1.5}], {"text_column": "text", "tag_column": "t"}, "item 1: the tag 't'.*type float"),
        ([{"text": "a", "t": True}], {"text_column": "text", "tag_column": "t"}, "item 1: the tag 't'.*type bool"),
        ([{"text": "a"}], {"text_column": "text", "tag_column": "t"}, "no column 't'"),
        ([{"text": "\ud800"}], {"text_column": "text"}, "item 1 is not UTF-8 at byte 0"),
        (["a"], {"text_column": "text"}, r"an iterable \(list\) has no column 'text'"),
        (["a"], {"tag_column": "t"}, r"an iterable \(list\) has no column 't'"),
        ([["a"], {"b": 1}], {}, "item 2.*type dict"),
        ([{"a", "b"}], {}, "item 1.*type set"),
        (["a", ["b"]], {}, r"item 2.*string.*type list"),
        ([["a"], ["b", 7]], {}, r"item 2: a token.*string.*type int \(7\)"),
        ([{"text": "a"}, {"text": ["a"]}], {"text_column": "text"}, "item 2: the text 'text' must be a string, or"),
        ([["a"], frozenset("b")], {}, "item 2.*type frozenset"),
    ],
)
def test_rows_and_items_that_are_refused(rows, columns, message):
    with pytest.raises(CorpusError, match=message):
        encode(rows, **columns)


def test_a_table_whose_columns_semicolons_separate_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id;text\n1;a b\n")
    with pytest.raises(CorpusError, match=r"one column.*text_column: id;text$"):
        em.Corpus(tmp_path / "a.csv").encode()
    with em.Corpus(tmp_path / "a.csv", text_column="id;text").encode() as encoded:
        assert decoded(encoded) == [["1", "a", "b"]]


def test_parts_of_a_pandas_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"body": ["a b", "c"], "id": ["x", "y"]})
    with pytest.raises(CorpusError, match=r"a pandas DataFrame has several text columns.*text_column: body, id"):
        encode(frame)
    with encode(frame["body"]) as one, encode(frame.to_dict("records"), text_column="body") as other:
        assert decoded(one) == decoded(other) == [["a", "b"], ["c"]]
    with encode(frame.rename(columns={"body": "text"})) as default:  # the column `text`, if there is one
        assert decoded(default) == [["a", "b"], ["c"]]
    with encode(np.array(["a b", "c"])) as array:
        assert decoded(array) == [["a", "b"], ["c"]]


def kept_values(rows, name="n"):
    """The values of a kept column, and its types in all blocks."""
    blocks = list(read_texts([Items(iter(rows))], text_column="text", kept=None))
    parts = [block.columns[name] for block in blocks]
    return [value for part in parts for value in part.to_pylist()], [part.type for part in parts]


@pytest.mark.parametrize(
    ("first", "last"),
    [(1, 1.5), (None, 7), (None, "x"), ([1], [0.5]), ({"a": 1}, {"a": 2, "b": 1.5}), (1.5, 2), ("x", None)],
)
def test_a_kept_column_holds_all_values_whatever_the_first_ones_are(first, last, tmp_path):
    values = [first] * 300 + [last] * 300
    rows = [{"text": "a b", "n": value} for value in values]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found, types = kept_values(rows)
    (block,) = read_texts([File(tmp_path / "f.jsonl")], text_column="text", kept=None)
    for read in (found, block.columns["n"].to_pylist()):
        again = [{k: v for k, v in one.items() if v is not None} if isinstance(one, dict) else one for one in read]
        assert again == values
    assert len(set(types)) == 1


@pytest.mark.parametrize(("first", "last"), [(1, "x"), (True, 1), (2**60 + 1, 1.5), (1.5, 2**60 + 1), ("x", 1)])
def test_values_without_a_common_type_are_refused(first, last):
    with pytest.raises(CorpusError, match=r"'n'|than before"):
        kept_values([{"text": "a b", "n": value} for value in [first] * 300 + [last] * 300])


def test_a_field_that_is_missing_at_first_is_kept_or_warned_of(caplog):
    start, end = [{"text": "a", "n": 1}] * 50 + [{"text": "a"}] * 250, [{"text": "a", "late": 1}] * 9
    assert kept_values([{"text": "a"}, *start])[0] == [None] + [1] * 50 + [None] * 250
    caplog.clear()
    kept_values(start + end)
    assert ["late" in message and "item 301" in message for message in caplog.messages] == [True]
