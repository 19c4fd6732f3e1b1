"""JSON arrays as lines, and JSON under any name."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode

from embeddings.corpora.reading.json_arrays import array_lines
from embeddings.errors import CorpusError

STRINGS = st.text(st.sampled_from('a é\U0001f600"\\/[]{},:\n\r\t()'), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3),
    max_leaves=8,
)
SPACES = st.text(st.sampled_from(" \t\n\r"), max_size=3)


def cut(data, places):
    """Data in parts."""
    borders = [0, *sorted({min(place, len(data)) for place in places}), len(data)]
    return [data[start:stop] for start, stop in pairwise(borders) if start < stop]


@settings(deadline=None, max_examples=200)
@given(
    items=st.lists(st.dictionaries(STRINGS, VALUES, max_size=4) | VALUES, max_size=5),
    indent=st.sampled_from([None, 0, 1, "\t"]),
    ascii_only=st.booleans(),
    around=st.tuples(SPACES, SPACES),
    places=st.lists(st.integers(0, 300), max_size=9) | st.just(range(300)),
)
def test_lines_have_the_items_of_json(items, indent, ascii_only, around, places):
    data = json.dumps(items, indent=indent, ensure_ascii=ascii_only).join(around).encode()
    lines = b"".join(array_lines(cut(data, places), "f")).decode().split("\n")
    assert [json.loads(line) for line in lines if line] == items


@pytest.mark.parametrize("data", [b"[{}", b'[{"a": "b', b'[{"a": "b]', b"[[]", b"[", b'["\\'])
def test_an_array_that_is_cut_short_is_refused(data):
    for places in ([], range(len(data))):
        with pytest.raises(CorpusError, match="truncated"):
            list(array_lines(cut(data, places), "f"))


@pytest.mark.parametrize("data", [b"[,{}]", b"[{},,{}]", b"[{},]", b"[{} , ]", b"[{}]]", b"[{}] [", b"[] x", b"[{}],"])
def test_misplaced_commas_and_text_after_the_array_are_refused(data):
    for places in ([], range(len(data))):
        with pytest.raises(CorpusError, match="not a JSON array"):
            list(array_lines(cut(data, places), "f"))


ROWS = [{"id": f"d{number}", "text": f'word{number} "[{{,", é'} for number in range(300)]
WRITTEN = {
    "lines": "".join(json.dumps(row) + "\n" for row in ROWS),
    "an array in a line": json.dumps(ROWS),
    "an array over lines": json.dumps(ROWS, indent=2, ensure_ascii=False),
    "an array after a byte order mark": "\ufeff" + json.dumps(ROWS),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", ["a.jsonl", "a"])
@pytest.mark.parametrize("size", [50, 1 << 18])
def test_json_is_read_under_any_name(tmp_path, written, name, size):
    (tmp_path / name).write_text(WRITTEN[written], "utf-8")
    with encode(tmp_path / name, text_column="text", tag_column="id", block_size=size) as encoded:
        assert decoded(encoded) == [[row["text"].split()[0], "é"] for row in ROWS]
        assert encoded.tags.to_pylist() == [row["id"] for row in ROWS]
    with encode(tmp_path / name, text_column="text", rows=120, block_size=size) as encoded:
        assert len(decoded(encoded)) == 120


def test_errors_name_the_item(tmp_path):
    (tmp_path / "a.json").write_text('[{"text": "a"},\n\n{"text": 1}]')
    with pytest.raises(CorpusError, match=r"a\.json, item 2: the text 'text' must be a string"):
        encode(tmp_path / "a.json", text_column="text")
    (tmp_path / "a.json").write_text('[{"text": "a"}, {"text": "b" "c"}]')
    with pytest.raises(CorpusError, match=r"a\.json, item 2: invalid JSON"):
        encode(tmp_path / "a.json")
