"""Iterables that are rows of a table, and those that give no texts at all."""

import numpy as np
import pytest
from naive_corpora import check, decoded, encode

import embeddings as em
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


@pytest.mark.parametrize("size", [1, 7, 1 << 18])
def test_mappings_are_the_same_in_blocks_of_any_size(size):
    rows = [{"text": f"w{i} " * (i % 5), "id": f"t{i}"} for i in range(50)]
    with encode(iter(rows), text_column="text", tag_column="id", block_size=size) as encoded:
        assert decoded(encoded) == [[f"w{i}"] * (i % 5) for i in range(50)]
        assert encoded.tags.to_pylist() == [f"t{i}" for i in range(50)]


@pytest.mark.parametrize(
    ("rows", "columns", "told"),
    [
        ([{"text": "a"}], {}, "item 1 is of type dict .*; allowed are strings, lists of strings, or mappings with"),
        ([{"text": "a"}], {"text_column": "body"}, "item 1: no field 'body'; there are: text"),
        ([{"text": "a"}, {"body": "b"}], {"text_column": "text"}, "item 2: no field 'text'; there are: body"),
        ([{"text": "a"}, "b"], {"text_column": "text"}, r"item 2 is of type str \('b'\), but the first item is a mapp"),
        ([{"text": 3}], {"text_column": "text"}, r"item 1: 'text' is of type int \(3\), not a string"),
        ([{"text": float("nan")}], {"text_column": "text"}, r"item 1: 'text' is of type float \(nan\), not a string"),
        ([{"text": "a", "t": 1.5}], {"text_column": "text", "tag_column": "t"}, "item 1: the tag 't' is of type float"),
        ([{"text": "a", "t": True}], {"text_column": "text", "tag_column": "t"}, "item 1: the tag 't' is of type bool"),
        ([{"text": "a"}], {"text_column": "text", "tag_column": "t"}, "item 1: no field 't'"),
        ([{"text": "\ud800"}], {"text_column": "text"}, "item 1 is not UTF-8 at byte 0"),
        (["a"], {"text_column": "text"}, r"an iterable \(list\) has no column 'text'"),
        (["a"], {"tag_column": "t"}, r"an iterable \(list\) has no column 't'"),
        ([["a"], {"b": 1}], {}, "item 2 is of type dict"),
        ([{"a", "b"}], {}, "item 1 is of type set"),
        ([["a"], frozenset("b")], {}, "item 2 is of type frozenset"),
    ],
)
def test_rows_and_items_that_are_refused(rows, columns, told):
    with pytest.raises(CorpusError, match=told):
        encode(rows, **columns)


class Frame:
    """What iterates over the names of its columns."""

    columns = ("text",)

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"text": ["a"]}, "a mapping gives its keys"),
        ({"a"}, "a set has no order"),
        (Frame(), "a frame gives the names"),
    ],
)
def test_what_gives_no_texts_in_order_is_refused(source, told):
    with pytest.raises(CorpusError, match=told):
        em.Corpus(source)


def test_a_frame_of_pandas_is_refused_and_its_parts_are_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ["a b", "c"], "id": ["x", "y"]})
    with pytest.raises(CorpusError, match="DataFrame is no list of texts: a frame gives the names of its columns"):
        em.Corpus(frame)
    with encode(frame["text"]) as one, encode(frame.to_dict("records"), text_column="text") as other:
        assert decoded(one) == decoded(other) == [["a", "b"], ["c"]]
    with encode(np.array(["a b", "c"])) as array:
        assert decoded(array) == [["a", "b"], ["c"]]
