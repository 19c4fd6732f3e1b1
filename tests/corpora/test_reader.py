"""Unusual text, file name patterns, limits on lines, and files that are not text."""

import gzip
import struct
import zlib

import pytest
from naive_corpora import check, decoded, encode

from embeddings.corpora import Corpus
from embeddings.errors import CorpusError

# text, its lines as words, its lines as whitespace
ODD = {
    "a carriage return before a line end is white space": ("a b\r\nc\r\n", [["a", "b"], ["c"]], [["a", "b"], ["c"]]),
    "a carriage return within a line does not end it": ("a\rb\r\n", [["a", "b"]], [["a", "b"]]),
    "carriage returns end lines if no line feed does": (
        "a\rb\r\rc",
        [["a"], ["b"], [], ["c"]],
        [["a"], ["b"], [], ["c"]],
    ),
    "a byte order mark at the start is removed": ("\ufeffa", [["a"]], [["a"]]),
    "one elsewhere is removed from words": ("a\ufeffb", [["ab"]], [["a\ufeffb"]]),
    "NUL is neither a letter nor a space": ("a\0b", [["a", "b"]], [["a\0b"]]),
    "Unicode spaces separate tokens": ("a\u00a0b\u2003c\u3000d\u2028e", [list("abcde")], [list("abcde")]),
    "form feed and similar do not end a line": ("a\fb\vc\x85d", [list("abcd")], [list("abcd")]),
    "a zero-width space is not a space": ("a\u200bb", [["a", "b"]], [["a\u200bb"]]),
    "text in brackets is not JSON": ("[1] a", [["1", "a"]], [["[1]", "a"]]),
    "nor is text in braces": ('{"q"} a', [["q", "a"]], [['{"q"}', "a"]]),
    "the last line needs no line end": ("a\nb", [["a"], ["b"]], [["a"], ["b"]]),
}


@pytest.mark.parametrize("size", [1, 1 << 18])
@pytest.mark.parametrize("name", ODD)
def test_unusual_text(tmp_path, name, size):
    text, words, whitespace = ODD[name]
    (tmp_path / "f").write_bytes(text.encode())
    for tokenizer, expected in (("words", words), ("whitespace", whitespace)):
        with encode(tmp_path / "f", tokenizer=tokenizer, block_size=size) as encoded:
            assert decoded(encoded) == expected


def png():
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0\0")), (b"IEND", b"")]
    whole = b"".join(struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in parts)
    return b"\x89PNG\r\n\x1a\n" + whole


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (png(), "PNG"),
        (b"\x7fELF\2\1\1" + bytes(90), "program"),
        (b"%PDF-1.7\n1 0 obj", "PDF"),
        (b"PK\x03\x04" + bytes(9), "ZIP"),
        ("text that is long enough to tell, of more than sixty-four letters".encode("utf-16"), "UTF-16"),
        ("text without a mark".encode("utf-16-le"), "NUL.* utf-16-le"),
        (bytes(5000), "5000 of its first 5000 bytes are NUL"),
    ],
)
def test_binary_files_are_refused(tmp_path, data, message):
    for name, packed in (("f", data), ("f.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(packed)
        with pytest.raises(CorpusError, match=f"{name} .*{message}"):
            encode(tmp_path / name, encoding_errors="ignore")


def test_patterns_match_files_and_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "c.log", ".hidden.txt", "deep/er/d.txt", "deep/e.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name.rsplit("/")[-1][0])
    for pattern, expected in (
        ("*.txt", "ab"),
        ("?.*", "abc"),
        ("[bc].*", "bc"),
        ("**/*.txt", "abd"),
        ("d*", "ed"),
        (str(tmp_path / "*.log"), "c"),
        (tmp_path / "*.log", "c"),
    ):
        with encode(pattern) as encoded:
            assert sorted(decoded(encoded)) == sorted([[name] for name in expected])
    assert [source.path.name for source in Corpus("**/*.txt").sources] == ["a.txt", "b.txt", "d.txt"]
    with pytest.raises(CorpusError, match=r"^no file or folder .*'\*\.md'"):
        Corpus("*.md")
    (tmp_path / "*.md").write_text("itself")
    with encode("*.md") as encoded:
        assert decoded(encoded) == [["itself"]]


@pytest.mark.parametrize("size", [1, 2, 1 << 18])
@pytest.mark.parametrize("rows", range(1, 9))
def test_the_first_lines_of_all_files(tmp_path, rows, size):
    (tmp_path / "1").write_text("a\n\nb b")
    (tmp_path / "2").write_text("c\nd\n")
    (tmp_path / "3").write_text("\n\ne")
    lines = [["a"], [], ["b", "b"], ["c"], ["d"], [], [], ["e"]][:rows]
    with encode(tmp_path, rows=rows, block_size=size) as encoded:
        check(encoded, lines)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_no_more_items_than_the_limit_are_requested(rows):
    requested = []

    def items():
        for item in ("a\nb", "c", "d"):
            requested.append(item)
            yield item

    with encode(items(), rows=rows) as encoded:
        assert len(encoded.documents) - 1 == rows
    assert len(requested) == rows
    with encode([["a", "b"]] * 5, ["x"], rows=rows) as encoded:
        assert len(encoded.ids) == 2 * rows


def test_files_beyond_the_row_limit_are_not_read(tmp_path):
    (tmp_path / "1").write_text("a\nb\n")
    (tmp_path / "2").write_bytes(b"\xff")
    with encode(tmp_path, rows=2) as encoded:
        assert decoded(encoded) == [["a"], ["b"]]


@pytest.mark.parametrize("size", [1, 3, 10, 1 << 18])
def test_a_byte_order_mark_at_the_start_of_a_string_is_kept(size):
    with encode(["\ufeffab cd", "\ufeff"], tokenizer="whitespace", block_size=size) as encoded:
        assert decoded(encoded) == [["\ufeffab", "cd"], ["\ufeff"]]


def test_missing_items_are_counted(caplog):
    assert Corpus(["a b", None, "c", float("nan")]).encode().vocabulary.words == ["a", "b", "c"]
    assert "2 of 4 rows have no text" in caplog.text
    caplog.clear()
    Corpus(["a b", "", "c"]).encode()
    assert "missing" not in caplog.text
