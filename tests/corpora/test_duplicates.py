"""Repeated lines and rows are dropped."""

import json
from itertools import pairwise

import numpy as np
import pytest
from commands import expect
from hypothesis import given
from hypothesis import strategies as st
from naive_corpora import decoded, encode

from embeddings.corpora.reading.duplicates import DuplicateFilter
from embeddings.corpora.reading.text_block import TextBlock

LINES = st.lists(st.sampled_from(["a", "b", "ab", "é", "", " ", "a much longer line", "a\0", "\0"]), max_size=30)


def naive_unique(lines):
    """The lines that do not repeat an earlier one; empty ones all stay."""
    known = set()
    return [line for line in lines if line == "" or not (line in known or known.add(line))]


def file_blocks(data, size):
    """Bytes as blocks of plain text."""
    borders = [*range(0, len(data), size), len(data)]
    for start, stop in pairwise(borders):
        yield TextBlock(data[start:stop], (stop - start,), parts_are_documents=False, is_complete=False)
    yield TextBlock(b"", (0,), parts_are_documents=False, is_complete=True)


@given(LINES, st.integers(1, 50), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_lines(lines, size, end, has_last_end):
    duplicate_filter = DuplicateFilter(max_slots=64)
    data = (end.join(lines) + end * has_last_end).encode()
    lines = data.decode().split(end)
    blocks = list(duplicate_filter.lines(file_blocks(data, size)))
    result = b"".join(block.data for block in blocks).decode()
    assert result.rstrip("\r\n").split(end) == end.join(naive_unique(lines)).rstrip("\r\n").split(end)
    assert duplicate_filter.duplicates == len(lines) - len(naive_unique(lines))
    assert blocks[-1].is_complete


def test_the_table_grows_without_losing_a_line():
    rng = np.random.default_rng(1)
    lines = [b"%d" % number * (number % 5 + 1) for number in rng.integers(0, 150_000, 200_000)]
    known, expected = set(), []
    for line in lines:
        expected.append(line not in known)
        known.add(line)
    duplicate_filter = DuplicateFilter()
    ends = np.cumsum([len(line) for line in lines])
    assert duplicate_filter.find_new(b"".join(lines), ends).tolist() == expected
    assert len(duplicate_filter.table) > 1 << 16
    assert not duplicate_filter.find_new(b"".join(lines), ends).any()


def test_hashes_differ_from_run_to_run_so_that_no_text_can_be_made_to_collide():
    tables = []
    for _ in range(2):
        duplicate_filter = DuplicateFilter()
        assert duplicate_filter.find_new(b"one two", np.array([4, 7])).all()
        tables.append(set(map(tuple, duplicate_filter.table[duplicate_filter.table.any(axis=1)].tolist())))
    assert len(tables[0]) == len(tables[1]) == 2
    assert not tables[0] & tables[1]


def test_at_the_bound_new_lines_are_kept_but_not_remembered(caplog):
    duplicate_filter = DuplicateFilter(max_slots=64)
    lines = [b"%d" % number for number in range(100)]
    data, ends = b"".join(lines), np.cumsum([len(line) for line in lines])
    assert duplicate_filter.find_new(data, ends).all()
    assert duplicate_filter.forgotten == 100 - 48
    assert "first 48 distinct lines" in caplog.text
    assert duplicate_filter.find_new(data, ends).tolist() == [False] * 48 + [True] * 52
    assert len(caplog.records) == 1


@pytest.mark.parametrize("size", [1, 1 << 18])
def test_rows_items_and_several_files(tmp_path, size):
    texts = ["one two", "three", "one two", "", "", "three four", "three"]
    unique = [["one", "two"], ["three"], [], [], ["three", "four"]]
    rows = [{"text": text, "id": number} for number, text in enumerate(texts)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for source in (rows, tmp_path / "t.jsonl"):
        options = {"text_column": "text", "tag_column": "id", "deduplicate": True, "block_size": size}
        with encode(source, **options) as encoded:
            assert decoded(encoded) == unique
            assert encoded.tags.to_pylist() == ["0", "1", "3", "4", "5"]
            assert encoded.meta["duplicates"] == 2
    with encode(texts, deduplicate=True, block_size=size) as encoded:
        assert decoded(encoded) == unique
    with encode([["a", "b"], ["ab"], ["a", "b"]], deduplicate=True, block_size=size) as encoded:
        assert decoded(encoded) == [["a", "b"], ["ab"]]
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("One two\n\nthree\nOne two\n" + name)
    with encode(tmp_path / "a.txt", tmp_path / "b.txt", deduplicate=True, block_size=size) as encoded:
        assert decoded(encoded) == [["one", "two"], [], ["three"], ["a.txt"], [], ["b.txt"]]
        assert encoded.meta["documents"] == 3


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("a b\na b\nc\n")
    assert "dropped 1 repeated line\n" in expect("vocabulary", "t.txt", "-o", "v.txt", "--deduplicate").stderr
    assert (tmp_path / "v.txt").read_text().split() == ["a", "1", "b", "1", "c", "1"]
    assert "repeated" not in expect("vocabulary", "t.txt", "-o", "w.txt").stderr
    assert (tmp_path / "w.txt").read_text().split() == ["a", "2", "b", "2", "c", "1"]
