from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_corpora import encode

from embeddings.corpora.reading import encodings
from embeddings.corpora.reading.encodings import Utf8Decoder, utf8_blocks
from embeddings.errors import CorpusError

WHOLE = [b"a", b" ", b"\xc3\xa9", b"\xe4\xb8\xad", b"\xf0\x9f\x98\x80", b"\xef\xbf\xbd"]
BROKEN = [b"\xff", b"\x80", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5"]
PIECES = st.lists(st.sampled_from(WHOLE + BROKEN), max_size=20).map(b"".join)
CUTS = st.lists(st.integers(0, 40), max_size=6).map(sorted)


def clean_in_blocks(data, cuts, policy):
    """The data through the decoder in blocks that end at these places."""
    decoder = Utf8Decoder(policy, "text")
    bounds = [0, *cuts, len(data)]
    parts = [decoder.clean(data[start:end]) for start, end in pairwise(bounds)]
    return [*parts, decoder.clean(b"", final=True)], decoder


@pytest.fixture(params=[0, encodings.FAST_SIZE], ids=["checked by Arrow", "decoded by Python"], autouse=True)
def fast_size(request, monkeypatch):
    monkeypatch.setattr(encodings, "FAST_SIZE", request.param)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=PIECES, cuts=CUTS, policy=st.sampled_from(["replace", "ignore"]))
def test_errors_are_repaired_and_counted_like_python(data, cuts, policy):
    parts, decoder = clean_in_blocks(data, cuts, policy)
    assert b"".join(parts) == data.decode("utf-8", policy).encode()
    assert decoder.errors == data.replace(b"\xef\xbf\xbd", b"a").decode("utf-8", "replace").count("\ufffd")
    for part in parts:
        part.decode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=PIECES, cuts=CUTS)
def test_the_first_error_has_its_byte_offset_for_any_block_size(data, cuts):
    try:
        data.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(CorpusError, match=rf"text is not UTF-8 at byte {error.start} \(0x"):
            clean_in_blocks(data, cuts, "strict")
    else:
        parts, _ = clean_in_blocks(data, cuts, "strict")
        assert b"".join(parts) == data


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_only_the_first_byte_order_mark_is_removed(size):
    data = "\ufeffa\ufeffb".encode()
    position = 0

    def read(count):
        nonlocal position
        position += count
        return data[position - count : position]

    assert b"".join(utf8_blocks(read, size, Utf8Decoder("strict", "text"))) == "a\ufeffb".encode()


@pytest.mark.parametrize("size", [1, 7, 1 << 18])
def test_an_error_has_file_offset_and_option(tmp_path, size):
    path = tmp_path / "bad.txt"
    path.write_bytes("é".encode() * 50 + b" \xe4\xb8")  # cut at the end of the file
    with pytest.raises(CorpusError, match=r"bad.txt is not UTF-8 at byte 101 \(0xe4\).*encoding_errors.*replace"):
        encode(path, block_size=size)
    with encode(path, block_size=size, encoding_errors="replace") as encoded:
        assert encoded.decoding_errors == 1
        assert encoded.vocabulary.words == ["é" * 50]


ILL_FORMED = {
    "overlong slash in two bytes": b"\xc0\xaf",
    "overlong slash in three bytes": b"\xe0\x80\xaf",
    "overlong slash in four bytes": b"\xf0\x80\x80\xaf",
    "overlong NUL": b"\xc0\x80",
    "first half of a pair": b"\xed\xa0\x80",
    "second half of a pair": b"\xed\xbf\xbf",
    "a pair, each half encoded by itself": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond the last code point": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
    "a byte of UTF-16": b"\xfe",
}


@pytest.mark.parametrize("data", ILL_FORMED.values(), ids=ILL_FORMED)
def test_ill_formed_bytes_have_file_and_offset_and_are_no_character(tmp_path, data):
    path = tmp_path / "bad.txt"
    path.write_bytes("é\n".encode() + b"one " + data + b" two\n")
    with pytest.raises(CorpusError, match=rf"bad.txt is not UTF-8 at byte 7 \(0x{data[0]:02x}\), line 2: "):
        encode(path)
    for policy in ("ignore", "replace"):
        with encode(path, encoding_errors=policy) as encoded:
            assert encoded.vocabulary.words == ["one", "two", "é"]
            assert encoded.decoding_errors == len(data)


def test_a_lone_surrogate_in_a_string_is_an_encoding_error():
    with pytest.raises(CorpusError, match=r"item 2 is not UTF-8 at byte 1 \(0xed\)"):
        encode(["fine", "a\ud800b"])
    with pytest.raises(CorpusError, match=r"item 1 is not UTF-8 at byte 0"):
        encode([["\ud800"]])
    with encode(["a\ud800b"], encoding_errors="ignore") as encoded:
        assert encoded.vocabulary.words == ["ab"]
        assert encoded.decoding_errors == 3
