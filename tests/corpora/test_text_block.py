"""Blocks of text: parts, slices and selections keep what belongs to each row together."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import cells_block, tokens_block

from embeddings.corpora.reading.tag_arrays import distinct_tags, merge_tags
from embeddings.corpora.reading.text_block import (
    FILE_END,
    TextBlock,
    concatenate_rows,
    merge_blocks,
    parts_of_size,
    split_text,
    text_batches,
)

CELLS = st.lists(st.text(st.sampled_from("aé\U0001f600 \n"), max_size=5), max_size=8)


def rows(cells):
    """Rows with tags, columns and vectors that repeat their texts."""
    block = cells_block([cell.encode() for cell in cells])
    tags = pa.array([cell or None for cell in cells], pa.large_string())
    vectors = np.array([[len(cell), 1] for cell in cells], np.float32).reshape(-1, 2)
    return TextBlock(block.data, block.ends, tags=tags, columns=pa.table({"c": cells}), vectors=vectors)


def check(block, cells):
    """The rows of a block are those of these texts."""
    assert block.texts() == cells
    assert block.tags.to_pylist() == [cell or None for cell in cells]
    assert block.columns["c"].to_pylist() == cells
    assert block.vectors[:, 0].tolist() == list(map(len, cells))


@settings(deadline=None, max_examples=100)
@given(cells=CELLS, start=st.integers(0, 8), stop=st.integers(0, 8), size=st.integers(1, 9), data=st.data())
def test_rows_keep_their_tags_columns_and_vectors(cells, start, stop, size, data):
    block = rows(cells)
    start, stop = sorted((min(start, len(cells)), min(stop, len(cells))))
    check(block.slice(start, stop), cells[start:stop])
    is_kept = data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)))
    check(block.select(np.array(is_kept, bool)), [cell for cell, kept in zip(cells, is_kept, strict=True) if kept])
    parts = list(block.split(size))
    assert all(len(part) == 1 or len(part.data) <= size for part in parts)
    if parts:
        check(concatenate_rows(parts), cells)
        check(concatenate_rows(list(merge_blocks(parts, size))), cells)


def test_lists_of_tokens_are_kept_apart_from_texts():
    tokens = tokens_block([["a", "b"], []])
    texts = cells_block([b"c", b"d"])
    merged = list(merge_blocks([texts, texts, tokens, texts], 100))
    assert [block.token_lists is not None for block in merged] == [False, True, False]
    assert [block.texts() for block in merged] == [["c", "d", "c", "d"], ["a b", ""], ["c", "d"]]
    assert tokens.sizes.tolist() == [2, 0]
    assert tokens.select(np.array([False, True])).token_lists.to_pylist() == [[]]


@settings(deadline=None, max_examples=100)
@given(text=st.text(st.sampled_from("ab\n"), max_size=12), cuts=st.lists(st.integers(0, 12), max_size=4))
def test_lines_are_complete_wherever_blocks_end(text, cuts):
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    blocks = [TextBlock.of_file(text[a:b].encode()) for a, b in pairwise(borders)]
    lines = [line for block in text_batches([*blocks, FILE_END]) for line in block.texts()]
    assert lines == (text.split("\n")[:-1] if text.endswith("\n") or not text else text.split("\n"))


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_long_text_is_split_between_code_points(size):
    text = "aé\U0001f600b" * 3
    *parts, end = split_text(text.encode(), size)
    assert "".join(part.data.decode() for part in parts) == text
    assert end.is_complete
    assert not any(part.is_complete for part in parts)


def test_parts_have_a_limit_of_bytes_and_rows():
    ends = np.array([3, 4, 20, 21, 22, 22])
    assert list(parts_of_size(ends, 5)) == [(0, 2), (2, 3), (3, 6)]
    assert list(parts_of_size(ends, 100, 4)) == [(0, 4), (4, 6)]


TAG = st.none() | st.sampled_from(["", "a", "b", "c"])


@settings(deadline=None, max_examples=200)
@given(table=st.lists(st.tuples(TAG, st.lists(TAG, max_size=4), TAG), max_size=6))
def test_tags_of_columns_are_merged_and_distinct(table):
    single, lists, other = ([row[place] for row in table] for place in range(3))
    arrays = [
        pa.array(single, pa.large_string()), pa.array(lists, pa.large_list(pa.large_string())),
        pa.array(other, pa.large_string()),
    ]  # fmt: skip
    for columns in ([0], [1], [0, 1, 2], [2, 0]):
        values, sizes = distinct_tags(merge_tags([arrays[place] for place in columns]))
        expected = [[tag for place in columns for tag in (row[place] if place == 1 else [row[place]])] for row in table]
        expected = [list(dict.fromkeys(filter(None, tags))) or [None] for tags in expected]
        assert values.to_pylist() == [tag for tags in expected for tag in tags]
        assert sizes.tolist() == list(map(len, expected))
