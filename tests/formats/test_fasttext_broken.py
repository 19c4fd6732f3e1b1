"""Every way a fastText file can be broken: refused in a line, with nothing large allocated."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from subword_models import WORDS, model

from embeddings.errors import FormatError, SettingError
from embeddings.formats import fasttext_bin
from embeddings.formats.fasttext_header import Header
from embeddings.models.loading import load

DIM, BUCKETS = 7, 50
DICTIONARY = 92  # where the first word stands


@pytest.fixture
def path(tmp_path):
    model(dim=DIM, buckets=BUCKETS).export(tmp_path / "m.bin", "fasttext")
    return tmp_path / "m.bin"


def write(tmp_path, data):
    broken = tmp_path / "broken.bin"
    broken.write_bytes(data)
    return broken


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_truncated_files_are_refused(tmp_path, path, pack):
    data = path.read_bytes()
    for cut in {*(len(data) * part // 50 for part in range(50)), *range(0, 130), len(data) - 1}:
        broken = write(tmp_path, pack(data[:cut]))
        for read in (fasttext_bin.read, fasttext_bin.read_model):
            with pytest.raises(FormatError) as error:
                read(broken)
            assert "\n" not in str(error.value)


def test_what_follows_the_end_is_refused(tmp_path, path):
    with pytest.raises(FormatError, match="more follows its last matrix"):
        fasttext_bin.read(write(tmp_path, path.read_bytes() + b"\0"))


INTS = {  # a number of the header, by its place
    "version": (4, "<i", [13, -1, 2**31 - 1], "of fastText's version"),
    "dim": (8, "<i", [0, -1, 1, 8, 2**31 - 1], "impossible numbers|broken|truncated"),
    "loss": (32, "<i", [0, 9, -5], "impossible"),
    "model": (36, "<i", [0, 9, 3], "impossible|supervised|matrix is"),
    "buckets": (40, "<i", [-1, 0, 49, 51, 2**31 - 1], "impossible|no buckets|matrix is"),
    "max_n": (48, "<i", [101, 2**31 - 1], "n-grams of up to"),
    "sample": (56, "<d", [-1.0, 2.0, float("nan")], "impossible"),
    "entries": (64, "<i", [-1, 0, 10, 2**31 - 1], "impossible"),
    "words": (68, "<i", [-1, 0, 10, 2**31 - 1], "impossible"),
    "labels": (72, "<i", [-1, 1], "impossible"),
    "tokens": (76, "<q", [-1, -(2**63)], "impossible"),
    "pruned": (84, "<q", [-2, 1, 2**62], "impossible|quantised"),
}
NUMBERS = [(place, form, value, told) for place, form, values, told in INTS.values() for value in values]


@pytest.mark.parametrize(("place", "form", "value", "told"), NUMBERS)
def test_impossible_numbers_are_refused(tmp_path, path, place, form, value, told):
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, place, value)
    with pytest.raises(FormatError, match=told):
        fasttext_bin.read_model(write(tmp_path, data))


def test_sizes_that_agree_and_lie_allocate_nothing(tmp_path, path):
    data = bytearray(path.read_bytes())
    struct.pack_into("<2i", data, 64, 2**31 - 1, 2**31 - 1)
    for packed in (bytes(data), gzip.compress(data)):
        with pytest.raises(FormatError, match=r"truncated or broken: 2147483647 words would take"):
            fasttext_bin.read(write(tmp_path, packed))


@pytest.mark.parametrize("shape", [(-1, DIM), (0, DIM), (61, -1), (61, 2**62), (2**62, DIM), (61, DIM + 1), (62, DIM)])
@pytest.mark.parametrize("which", ["input", "output"])
def test_matrices_of_other_shapes_are_refused(tmp_path, path, shape, which):
    data = bytearray(path.read_bytes())
    place = data.index(struct.pack("<2q", len(WORDS) + BUCKETS * (which == "input"), DIM))
    struct.pack_into("<2q", data, place, *shape)
    with pytest.raises(FormatError, match=f"its {which} matrix is"):
        fasttext_bin.read(write(tmp_path, data))
    data[place - 1] = 1
    with pytest.raises(FormatError, match="quantised"):
        fasttext_bin.read(write(tmp_path, data))


ENTRIES = {
    "negative count": (DICTIONARY + 4, struct.pack("<q", -1), "broken: its entries"),
    "a label among words": (DICTIONARY + 12, b"\1", "broken: its entries"),
    "unknown kind": (DICTIONARY + 12, b"\7", "broken: its entries"),
    "twice": (DICTIONARY, b"of the\0", "stands twice|truncated|broken"),
    "not UTF-8": (DICTIONARY, b"\xff", "word 1: the word .* is not UTF-8"),
}


@pytest.mark.parametrize(("place", "put", "told"), ENTRIES.values(), ids=ENTRIES)
def test_broken_entries_are_refused(tmp_path, path, place, put, told):
    data = bytearray(path.read_bytes())
    data[place : place + len(put)] = put
    with pytest.raises(FormatError, match=told):
        fasttext_bin.read(write(tmp_path, data))


def packed(words, counts, *, dim=2, **more):
    """A file without n-grams, word by word."""
    size = len(words)
    header = Header(dim=dim, entries=size, words=size, tokens=sum(counts), **more).packed()
    entries = b"".join(word + b"\0" + struct.pack("<qb", count, 0) for word, count in zip(words, counts, strict=True))
    matrix = b"\0" + struct.pack("<2q", size, dim) + np.ones((size, dim), "<f4").tobytes()
    return header + entries + matrix * 2


def test_words_that_stand_twice_are_refused(tmp_path):
    for pack in (bytes, gzip.compress):
        with pytest.raises(FormatError, match="the word 'b' stands twice"):
            fasttext_bin.read(write(tmp_path, pack(packed([b"a", b"b", b"b"], [3, 2, 1]))))


def test_a_file_that_repeats_itself_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.formats.fasttext_reading.BLOCK", 256)
    data = packed([b"a", b"b"] * 500, [1] * 1000)
    with pytest.raises(FormatError, match="stands twice"):
        fasttext_bin.read(write(tmp_path, data[: -1000 * 17]))  # it is truncated too


def test_a_word_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.formats.fasttext_reading.LONGEST_WORD", 1000)
    monkeypatch.setattr("embeddings.formats.fasttext_reading.BLOCK", 256)
    start = packed([b"a"], [1])[: DICTIONARY - 28]
    sizes = struct.pack("<3iqq", 2, 2, 0, 9, -1) + b"a\0" + struct.pack("<qb", 1, 0)
    with pytest.raises(FormatError, match="there is no end within word 2 of 2"):
        fasttext_bin.read(write(tmp_path, start + sizes + b"x" * 5000))
    with pytest.raises(FormatError, match="it ends within word 2 of 2"):
        fasttext_bin.read(write(tmp_path, start + sizes + b"x" * 500))


def test_words_that_are_not_utf8_are_read_if_asked(tmp_path):
    data = packed([b"caf\xe9", b"b"], [2, 1])
    assert fasttext_bin.read(write(tmp_path, data), errors="replace").words == ["caf\ufffd", "b"]
    assert fasttext_bin.read(write(tmp_path, data), errors="ignore").words == ["caf", "b"]
    with pytest.raises(SettingError):
        fasttext_bin.read(write(tmp_path, data), errors="backslashreplace")


def test_words_out_of_the_order_of_frequency_are_read_as_vectors(tmp_path):
    broken = write(tmp_path, packed([b"a", b"b"], [1, 2]))
    assert fasttext_bin.read(broken).counts.tolist() == [1, 2]
    with pytest.raises(FormatError, match="not in order of frequency"):
        fasttext_bin.read_model(broken)


def test_pruned_and_unquantised_ngrams_are_not_used(tmp_path, path):
    data = bytearray(path.read_bytes())
    struct.pack_into("<q", data, 84, 0)
    found = fasttext_bin.read(write(tmp_path, data))
    assert found.compose is None
    assert np.array_equal(found["the"], fasttext_bin.read_model(path).tables["words"][0])


def test_a_vector_with_a_nan_is_refused(tmp_path):
    data = packed([b"a", b"b"], [1, 1])
    with pytest.raises(FormatError, match="the vector of 'b' holds NaN"):
        fasttext_bin.read(
            write(tmp_path, data.replace(np.ones(4, "<f4").tobytes(), np.array([1, 1, 1, np.nan], "<f4").tobytes(), 1))
        )


def test_an_empty_model(tmp_path):
    assert len(fasttext_bin.read(write(tmp_path, packed([], [])))) == 0


def outcome(read, path):
    """What was read, or why it was refused."""
    try:
        return read(path)
    except FormatError as error:
        return str(error)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 700), st.integers(0, 255)), min_size=1, max_size=4))
def test_any_bytes_changed_are_read_or_refused(tmp_path, changes):
    good = tmp_path / "good.bin"
    if not good.exists():
        model(dim=DIM, buckets=BUCKETS).export(good, "fasttext")
    content = bytearray(good.read_bytes())
    for place, byte in changes:
        content[place] = byte
    for read in (fasttext_bin.read, fasttext_bin.read_model):
        found = outcome(read, write(tmp_path, content))
        assert (
            "\n" not in found if isinstance(found, str) else np.isfinite(getattr(found, "vectors", found).matrix).all()
        )


@pytest.mark.parametrize("data", [b"", b"\0", b"\xba\x16\x4f\x2f", b"\xba\x16\x4f\x2f" + b"\xff" * 200, bytes(300)])
def test_other_bytes(tmp_path, data):
    with pytest.raises(FormatError):
        load(write(tmp_path, data))
