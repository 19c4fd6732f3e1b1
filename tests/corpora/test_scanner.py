import sys
import tempfile
import unicodedata
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_corpora import check, decoded, encode, naive_file, naive_tokens

from embeddings.corpora import scanner, word_break, word_rules
from embeddings.errors import CorpusError

CHARACTERS = (
    "aAbB09  \r\t\0\x1c\u0130\u03a3\u0301\u00df\u0085\u00a0\ufeff\u2028\u3000\u4e2d\u0915\u093f\u2163\u023a"
    "\U0001f600\U0001d400_-'.,:;\u2019\u05d0\"\u30ab\u200d\u200c\u00ad\ufe0f\U0001f1e6\u2764\u00b2\u055b\u0327\u0344"
)
LINE = st.text(st.one_of(st.sampled_from(CHARACTERS), st.characters(exclude_categories=["Cs"])), max_size=12)
TEXT = st.lists(st.one_of(LINE, st.sampled_from(["", " ", "\r"])), max_size=9).map("\n".join)
RULES = st.sampled_from(["words", "alphanumeric", "whitespace"])
CASES = st.sampled_from(["lower", "keep"])
SIZES = st.one_of(st.integers(1, 16), st.just(1 << 18))


@numba.njit
def compiled_hash(arena, length):
    return scanner.hash_word(arena, 0, length, 1)


@settings(deadline=None, max_examples=60)
@given(text=TEXT, rule=RULES, case=CASES, size=SIZES)
def test_a_file_is_encoded_like_the_reference(text, rule, case, size):
    assume("\n" in text or "\r" not in text)  # else carriage returns end lines
    sentences, documents = naive_file(text, rule, case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text")
        path.write_bytes(text.encode())
        if not any(sentences):
            with pytest.raises(CorpusError, match="no words found"):
                encode(path, tokenizer=rule, case=case, block_size=size)
            return
        with encode(path, tokenizer=rule, case=case, block_size=size) as encoded:
            check(encoded, sentences, documents)


ASCII_WORDS = ["a", "I", "0", "9b", "abZ", "3", "Zab", "zIA09a", "abAZzabc", "abAZzabcd", "bAZz" * 5] * 3
FOREIGN = [
    "\u00e9",
    "ae\u0301",
    "\u4e2d\u56fd",
    "\u0416a",
    "\u0130I",
    "a\u00ad",
    "\U0001f600",
    "\u05d0",
    "x" * 61,
    "x" * 65,
]
SPACES = [" "] * 12 + ["  ", ", ", ". ", "\n", "\r\n", " \n\n", "\t", "\x1c", "\0", "-- "]
JOINS = [".", "'", "'", "-", "_", ":", ",", "''", '"', "\u2019", ""]
PIECE = st.tuples(st.sampled_from(ASCII_WORDS + FOREIGN), st.sampled_from(SPACES + JOINS)).map("".join)
MIXED = st.lists(PIECE, min_size=20, max_size=60).map("".join)
CHOICES = st.sampled_from([
    {}, {"case": "keep"}, {"language": "tr"}, {"hyphens": "join"}, {"apostrophes": "split"},
    *({"tokenizer": name} for name in ("alphanumeric", "whitespace", "ascii-whitespace", "characters")),
])  # fmt: skip


@settings(deadline=None, max_examples=50)
@given(text=MIXED, choice=CHOICES, size=st.sampled_from([7, 100, 1 << 18]), as_items=st.booleans())
def test_words_of_ascii_in_mixed_text_are_those_of_the_rules(text, choice, size, as_items):
    choice = {"tokenizer": "words", **choice}
    rules = word_rules.WordRules(**choice)
    names = ("hyphens", "apostrophes", "emoji")
    others = {name: value for name, value in choice.items() if name not in (*names, "tokenizer")}
    source = [text, "end", text] if as_items else [f"{text}\nend"]
    with (
        encode(source, block_size=size, **choice) as fast,
        encode(source, tokenizer=lambda line: rules.tokenizer(line), **others, normalize=rules.normalize) as slow,
    ):
        expected = [[rules.normalize_one(word) for word in line] for line in decoded(slow)]
        assert decoded(fast) == expected
        assert fast.documents.tolist() == slow.documents.tolist()


@pytest.mark.slow
def test_every_code_point_is_scanned_like_the_reference(tmp_path):
    everything = "".join(
        f"x{chr(point)}\n" for point in range(0, sys.maxunicode + 1, 7) if not 0xD800 <= point < 0xE000
    )
    (tmp_path / "all").write_bytes(everything.encode())
    lines = [line for line in everything.split("\n")[:-1]]
    for rule in ("words", "alphanumeric", "whitespace"):
        with encode(tmp_path / "all", tokenizer=rule) as encoded:
            assert decoded(encoded) == [naive_tokens(line, rule, "lower") for line in lines]


def test_planes_that_are_not_classified_have_no_letters():
    points = np.arange(sys.maxunicode + 1)
    for begin, end in word_break.PLANES:
        points = points[(points < begin) | (points >= end)]
    assert set(map(unicodedata.category, map(chr, points.tolist()))) <= {"Cn", "Co"}


@pytest.mark.parametrize("size", [1 << 12, 1 << 18, 1 << 22])
@pytest.mark.parametrize("end", ["", " after", "\n"])
def test_the_longest_token_is_accepted_and_a_longer_one_refused(tmp_path, size, end):
    path = tmp_path / "f"
    path.write_bytes(b"x" * scanner.MAX_TOKEN + end.encode())
    with encode(path, block_size=size) as encoded:
        assert len(decoded(encoded)[0][0]) == scanner.MAX_TOKEN
    path.write_bytes(b"x" * (scanner.MAX_TOKEN + 1) + end.encode())
    with pytest.raises(CorpusError, match=r"f: .*longer than 1048576 bytes.*tokenizer"):
        encode(path, block_size=size)


def test_tables_grow_with_many_types(tmp_path):
    words = [f"w{i}" for i in range(60_000)]
    (tmp_path / "f").write_text(" ".join(words + words[::-2]), encoding="utf-8")
    with encode(tmp_path / "f", block_size=1 << 12) as encoded:
        check(encoded, [words + words[::-2]], [0, 1])


def test_empty_tokens_of_lists_are_one_word():
    lists = [["longer than eight", "", "x" * length, ""] for length in range(1, 20)]
    with encode(lists) as encoded:
        assert decoded(encoded) == lists
        assert encoded.vocabulary.counts[encoded.vocabulary.index("")] == 38


def test_words_with_equal_hashes_are_distinct(tmp_path, monkeypatch):
    from embeddings.corpora import word_table

    monkeypatch.setattr(word_table.os, "urandom", bytes)  # multiplies by 1, so that four of eight bytes count
    words = ["bodylock", "wearlock", "bodyloch", "body", "wear"]
    hashes = {compiled_hash(np.frombuffer(word.encode() + bytes(8), np.uint8), len(word)) for word in words}
    assert len(hashes) == 3
    (tmp_path / "f").write_text(" ".join([*words, *words, "wear"]), encoding="utf-8")
    with encode(tmp_path / "f") as encoded:
        assert decoded(encoded) == [[*words, *words, "wear"]]
        assert encoded.vocabulary.counts.tolist() == [3, 2, 2, 2, 2]
