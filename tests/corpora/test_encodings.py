"""Text in other encodings than UTF-8: conversion, signs in the first bytes, positions of errors."""

import codecs
import encodings.aliases
import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode

from embeddings.corpora.reading import encodings as module
from embeddings.corpora.reading.encodings import Transcoder, Utf8Decoder, check_encoding
from embeddings.errors import CorpusError, SettingError

TEXTS = {
    "cp1252": "Käse für drei Euro\nÜber den Wolken",
    "shift_jis": "吾輩は猫である",
    "iso2022_jp": "吾輩は猫である\n名前はまだ無い",
    "gb18030": "道可道非常道 😀",
    "utf-7": "Käse für drei Euro",
    "utf-16": "Käse\nfür 猫 😀",
    "utf-16-le": "Käse\nfür 猫 😀",
    "utf-32": "Käse\nfür 猫 😀",
    "cp500": "Cheese in EBCDIC",
}


@pytest.mark.parametrize("size", [1, 5, 1 << 18])
@pytest.mark.parametrize("encoding", TEXTS)
def test_text_is_read_in_its_encoding(tmp_path, encoding, size):
    (tmp_path / "utf8.txt").write_text(TEXTS[encoding], "utf-8")
    (tmp_path / "other.txt").write_bytes(TEXTS[encoding].encode(encoding))
    with (
        encode(tmp_path / "utf8.txt", block_size=size) as expected,
        encode(tmp_path / "other.txt", encoding=encoding, block_size=size) as encoded,
    ):
        assert decoded(encoded) == decoded(expected)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", 'id,text\n1,"Käse\nfür"\n2,Über\n'),
        ("t.tsv", "id\ttext\n1\tKäse für\n2\tÜber\n"),
        ("t.jsonl", '{"id": 1, "text": "Käse für"}\n{"id": 2, "text": "Über"}\n'),
    ],
)
def test_tables_in_other_encodings(tmp_path, name, content, encoding):
    (tmp_path / name).write_bytes(content.encode(encoding))
    with encode(tmp_path / name, encoding=encoding, text_column="text", tag_column="id") as encoded:
        assert [word for line in decoded(encoded) for word in line] == ["käse", "für", "über"]
        assert encoded.tags.to_pylist() == ["1", "2"]


@pytest.mark.parametrize("encoding", sorted(set(encodings.aliases.aliases.values())))
def test_every_encoding_of_python_is_read_or_refused(tmp_path, encoding):
    try:
        "a".encode(encoding)
        codecs.getincrementaldecoder(encoding)
    except LookupError:
        with pytest.raises(SettingError, match=encoding):
            check_encoding(encoding)
        return
    name = check_encoding(encoding)
    (tmp_path / "t").write_bytes("abc abc\n".encode(encoding))
    with encode(tmp_path / "t", encoding=name) as encoded:
        assert encoded.vocabulary.words == ["abc"]


@pytest.mark.parametrize(
    "text", ["in short: hi, you", "plain text " * 500, "Широка страна моя родная " * 300, "道可道 非常道\n" * 50]
)
@pytest.mark.parametrize(
    ("actual", "mark", "remedy"),
    [
        ("utf-16-le", "\ufeff", "utf-16"),
        ("utf-16-be", "\ufeff", "utf-16"),
        ("utf-32-le", "\ufeff", "utf-32"),
        ("utf-32-be", "\ufeff", "utf-32"),
        ("utf-16-be", "", "utf-16-be"),
        ("utf-32-le", "", "utf-32-le"),
    ],
)
def test_wide_encodings_are_found_and_the_remedy_works(tmp_path, text, actual, mark, remedy):
    path = tmp_path / "t"
    path.write_bytes((mark + text).encode(actual))
    problem = rf"is text in UTF-\d\d, .*set encoding to {remedy}$" if mark else "bytes are NUL.*set encoding"
    with pytest.raises(CorpusError, match=problem):
        encode(path, encoding_errors="ignore")
    (tmp_path / "utf8").write_text(text, "utf-8")
    with encode(path, encoding=remedy) as encoded, encode(tmp_path / "utf8") as expected:
        assert decoded(encoded) == decoded(expected)
    if mark:
        with pytest.raises(CorpusError, match=f"not in CP1252; set encoding to {remedy}$"):
            encode(path, encoding="cp1252")
    else:
        with pytest.raises(CorpusError, match=f"no byte order mark.*set encoding to .*{remedy}"):
            encode(path, encoding=remedy[:6])


def test_text_with_a_few_nul_bytes_is_not_taken_for_utf_16(tmp_path):
    (tmp_path / "t").write_bytes(b"some text\0with a NUL here\0and there and then more text" * 2)
    with encode(tmp_path / "t") as encoded:
        assert "text" in encoded.vocabulary


@given(
    data=st.lists(st.sampled_from([b"a", b"\n", b"\x83\x41", b"\xff", b"\x83\n", b"\xb1"]), max_size=20),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=30),
    policy=st.sampled_from(["strict", "replace", "ignore"]),
)
def test_blocks_do_not_matter_and_errors_have_positions(data, sizes, policy):
    """Against Python on the whole text, with the stream in pieces of any sizes."""
    text, position, number = b"".join(data), 0, 0

    def read(size):
        nonlocal position, number
        size = min(size, sizes[number % len(sizes)])
        position, number = position + size, number + 1
        return text[position - size : position]

    decoder = Utf8Decoder(policy, "t")
    transcoder = Transcoder(read, "shift_jis", decoder)
    try:
        text.decode("shift_jis")
        first = None
    except UnicodeDecodeError as error:
        line = text[: error.start].decode("shift_jis").count("\n") + 1
        first = f"byte {error.start} (0x{text[error.start]:02x}), line {line}"
    if first and policy == "strict":
        with pytest.raises(CorpusError, match=f"t is not SHIFT_JIS at {re.escape(first)}:"):
            list(iter(lambda: transcoder.read(4), b""))
        return
    parts = list(iter(lambda: transcoder.read(4), b""))
    assert b"".join(parts).decode() == text.decode("shift_jis", policy)
    assert (first is None) == (decoder.errors == 0)
    assert decoder.positions[:1] == ([] if first is None else [f"t, {first}"])


def test_mixed_encodings_have_positions(tmp_path):
    path = tmp_path / "mixed.txt"
    path.write_bytes("Käse\nÜber\n".encode() + "für\n".encode("cp1252") + b"x\xff\n")
    with pytest.raises(CorpusError, match=r"mixed.txt is not UTF-8 at byte 13 \(0xfc\), line 3: .*mixes encodings"):
        encode(path)
    with encode(path, encoding_errors="replace") as encoded:
        assert encoded.decoding_errors == 2
        assert encoded.meta["decoding_error_positions"] == [
            f"{path}, byte 13 (0xfc), line 3",
            f"{path}, byte 17 (0xff), line 4",
        ]
    path.write_bytes("für\n".encode("cp1252"))
    with pytest.raises(CorpusError, match=r"byte 1 \(0xfc\), line 1: .*set encoding to its name"):
        encode(path)


def test_only_the_first_positions_are_kept(tmp_path):
    (tmp_path / "t").write_bytes(b"a\xff\n" * 100)
    for encoding in ("utf-8", "shift_jis"):
        with encode(tmp_path / "t", encoding_errors="ignore", encoding=encoding) as encoded:
            assert encoded.decoding_errors == 100
            assert [place.split()[-1] for place in encoded.meta["decoding_error_positions"]] == list("12345")


WHOLE = [b"a", b" ", b"\xc3\xa9", b"\xe4\xb8\xad", b"\xf0\x9f\x98\x80", b"\xef\xbf\xbd"]
BROKEN = [b"\xff", b"\x80", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5", b"\xfe"]
BROKEN += [
    b"\xe0\x80\xaf",
    b"\xf0\x80\x80\xaf",
    b"\xed\xa0\xbd\xed\xb8\x80",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
]
PIECES = st.lists(st.sampled_from(WHOLE + BROKEN), max_size=20).map(b"".join)
CUTS = st.lists(st.integers(0, 40), max_size=6).map(sorted)


def clean_in_blocks(data, cuts, policy):
    """The data through the decoder in blocks that end at these places."""
    decoder = Utf8Decoder(policy, "text")
    bounds = [0, *cuts, len(data)]
    parts = [decoder.clean(data[start:end]) for start, end in pairwise(bounds)]
    return [*parts, decoder.clean(b"", final=True)], decoder


@pytest.fixture(params=[0, module.FAST_SIZE], ids=["checked by Arrow", "decoded by Python"])
def fast_size(request, monkeypatch):
    monkeypatch.setattr(module, "FAST_SIZE", request.param)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=PIECES, cuts=CUTS, policy=st.sampled_from(["replace", "ignore"]))
def test_errors_are_repaired_and_counted_like_python(fast_size, data, cuts, policy):
    parts, decoder = clean_in_blocks(data, cuts, policy)
    assert b"".join(parts) == data.decode("utf-8", policy).encode()
    assert decoder.errors == data.replace(b"\xef\xbf\xbd", b"a").decode("utf-8", "replace").count("\ufffd")
    for part in parts:
        part.decode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=PIECES, cuts=CUTS)
def test_the_first_error_has_its_byte_offset_for_any_block_size(fast_size, data, cuts):
    try:
        data.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(CorpusError, match=rf"text is not UTF-8 at byte {error.start} \(0x"):
            clean_in_blocks(data, cuts, "strict")
    else:
        parts, _ = clean_in_blocks(data, cuts, "strict")
        assert b"".join(parts) == data


def test_a_lone_surrogate_in_a_string_is_an_encoding_error():
    with pytest.raises(CorpusError, match=r"item 2 is not UTF-8 at byte 1 \(0xed\)"):
        encode(["fine", "a\ud800b"])
    with pytest.raises(CorpusError, match=r"item 1 is not UTF-8 at byte 0"):
        encode([["\ud800"]])
    with encode(["a\ud800b"], encoding_errors="ignore") as encoded:
        assert encoded.vocabulary.words == ["ab"]
        assert encoded.decoding_errors == 3
