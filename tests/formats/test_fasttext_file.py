"""Broken fastText files: refused in one line, with nothing large allocated."""

import gzip
import struct

import numpy as np
import pytest
from subword_models import WORDS, fasttext_model

from embeddings.errors import FormatError, SettingError
from embeddings.formats import fasttext_bin
from embeddings.formats.fasttext_file import Header
from embeddings.models.loading import load

DIM, BUCKETS = 7, 50
DICTIONARY = 92  # offset of the first word


@pytest.fixture
def path(tmp_path):
    fasttext_model(dim=DIM, buckets=BUCKETS).export(tmp_path / "m.bin", "fasttext")
    return tmp_path / "m.bin"


def write(tmp_path, data):
    broken = tmp_path / "broken.bin"
    broken.write_bytes(data)
    return broken


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_truncated_files_are_refused(tmp_path, path, pack):
    data = path.read_bytes()
    for size in {*(len(data) * part // 50 for part in range(50)), *range(0, 130), len(data) - 1}:
        broken = write(tmp_path, pack(data[:size]))
        for read in (fasttext_bin.read, fasttext_bin.read_model):
            with pytest.raises(FormatError) as error:
                read(broken)
            assert "\n" not in str(error.value)


def test_trailing_bytes_are_refused(tmp_path, path):
    with pytest.raises(FormatError, match="last matrix"):
        fasttext_bin.read(write(tmp_path, path.read_bytes() + b"\0"))


HEADER_NUMBERS = {  # offset, format and broken values of each
    "version": (4, "<i", [13, -1, 2**31 - 1], "version"),
    "dim": (8, "<i", [0, -1, 1, 8, 2**31 - 1], "impossible numbers|broken|truncated"),
    "loss": (32, "<i", [0, 9, -5], "impossible"),
    "model": (36, "<i", [0, 9, 3], "impossible|supervised|matrix is"),
    "buckets": (40, "<i", [-1, 0, 49, 51, 2**31 - 1], "impossible|no buckets|matrix is"),
    "max_n": (48, "<i", [101, 2**31 - 1], "impossible"),
    "subsample": (56, "<d", [-1.0, 2.0, float("nan")], "impossible"),
    "entries": (64, "<i", [-1, 0, 10, 2**31 - 1], "impossible"),
    "words": (68, "<i", [-1, 0, 10, 2**31 - 1], "impossible"),
    "labels": (72, "<i", [-1, 1], "impossible"),
    "tokens": (76, "<q", [-1, -(2**63)], "impossible"),
    "pruned": (84, "<q", [-2, 1, 2**62], "impossible|quantised"),
}
ENTRIES = [
    (DICTIONARY + 4, "<q", -1, "broken: its entries"),  # a count
    (DICTIONARY + 12, "<b", 1, "broken: its entries"),  # a label among words
    (DICTIONARY + 12, "<b", 7, "broken: its entries"),  # an unknown kind
    (DICTIONARY, "<7s", b"of the", "duplicate|truncated|broken"),  # a word that occurs twice
    (DICTIONARY, "<B", 255, "word 1: .*UTF-8"),
]
BROKEN_NUMBERS = [(at, code, value, match) for at, code, values, match in HEADER_NUMBERS.values() for value in values]


@pytest.mark.parametrize(("at", "code", "value", "match"), [*BROKEN_NUMBERS, *ENTRIES])
def test_impossible_numbers_and_entries_are_refused(tmp_path, path, at, code, value, match):
    data = bytearray(path.read_bytes())
    struct.pack_into(code, data, at, value)
    with pytest.raises(FormatError, match=match):
        fasttext_bin.read_model(write(tmp_path, data))


def test_consistent_but_false_sizes_allocate_nothing(tmp_path, path):
    data = bytearray(path.read_bytes())
    struct.pack_into("<2i", data, 64, 2**31 - 1, 2**31 - 1)
    for packed in (bytes(data), gzip.compress(data)):
        with pytest.raises(FormatError, match="truncated or broken: 2147483647 words"):
            fasttext_bin.read(write(tmp_path, packed))


@pytest.mark.parametrize("shape", [(-1, DIM), (0, DIM), (61, -1), (61, 2**62), (2**62, DIM), (61, DIM + 1), (62, DIM)])
@pytest.mark.parametrize("which", ["input", "output"])
def test_matrices_of_other_shapes_are_refused(tmp_path, path, shape, which):
    data = bytearray(path.read_bytes())
    at = data.index(struct.pack("<2q", len(WORDS) + BUCKETS * (which == "input"), DIM))
    struct.pack_into("<2q", data, at, *shape)
    with pytest.raises(FormatError, match=f"{which} matrix"):
        fasttext_bin.read(write(tmp_path, data))
    data[at - 1] = 1
    with pytest.raises(FormatError, match="quantised"):
        fasttext_bin.read(write(tmp_path, data))


def model_file(words, counts, *, dim=2):
    """The bytes of a file without n-grams."""
    size = len(words)
    header = Header(dim=dim, entries=size, words=size, tokens=sum(counts)).pack()
    entries = b"".join(word + b"\0" + struct.pack("<qb", count, 0) for word, count in zip(words, counts, strict=True))
    matrix = b"\0" + struct.pack("<2q", size, dim) + np.ones((size, dim), "<f4").tobytes()
    return header + entries + matrix * 2


def test_duplicate_words_are_refused(tmp_path):
    for pack in (bytes, gzip.compress):
        with pytest.raises(FormatError, match=r"duplicate.*'b'"):
            fasttext_bin.read(write(tmp_path, pack(model_file([b"a", b"b", b"b"], [3, 2, 1]))))


def test_a_repetitive_file_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.formats.fasttext_file.BLOCK_BYTES", 256)
    data = model_file([b"a", b"b"] * 500, [1] * 1000)
    with pytest.raises(FormatError, match="duplicate"):
        fasttext_bin.read(write(tmp_path, data[: -1000 * 17]))  # also truncated


def test_a_word_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.formats.fasttext_file.MAX_WORD_BYTES", 1000)
    monkeypatch.setattr("embeddings.formats.fasttext_file.BLOCK_BYTES", 256)
    start = model_file([b"a"], [1])[: DICTIONARY - 28]
    sizes = struct.pack("<3iqq", 2, 2, 0, 9, -1) + b"a\0" + struct.pack("<qb", 1, 0)
    with pytest.raises(FormatError, match=r"no end.*word 2 of 2"):
        fasttext_bin.read(write(tmp_path, start + sizes + b"x" * 5000))
    with pytest.raises(FormatError, match="ends within word 2 of 2"):
        fasttext_bin.read(write(tmp_path, start + sizes + b"x" * 500))


def test_error_handlers_of_words_that_are_not_utf8(tmp_path):
    data = model_file([b"caf\xe9", b"b"], [2, 1])
    assert fasttext_bin.read(write(tmp_path, data), errors="replace").words == ["caf\ufffd", "b"]
    assert fasttext_bin.read(write(tmp_path, data), errors="ignore").words == ["caf", "b"]
    assert load(write(tmp_path, data), errors="backslashreplace").words == ["caf\\xe9", "b"]
    with pytest.raises(SettingError):
        load(write(tmp_path, data), errors="namereplace")


def test_words_that_are_not_sorted_by_frequency_are_read_as_vectors(tmp_path):
    broken = write(tmp_path, model_file([b"a", b"b"], [1, 2]))
    assert fasttext_bin.read(broken).counts.tolist() == [1, 2]
    with pytest.raises(FormatError, match="frequency"):
        fasttext_bin.read_model(broken)


def test_pruned_ngrams_are_not_used(tmp_path, path):
    data = bytearray(path.read_bytes())
    struct.pack_into("<q", data, 84, 0)
    vectors = fasttext_bin.read(write(tmp_path, data))
    assert vectors.compose is None
    assert np.array_equal(vectors["the"], fasttext_bin.read_model(path).tables["words"][0])


def test_a_vector_with_a_nan_is_refused(tmp_path):
    data = model_file([b"a", b"b"], [1, 1])
    with pytest.raises(FormatError, match=r"'b'.*NaN"):
        fasttext_bin.read(
            write(tmp_path, data.replace(np.ones(4, "<f4").tobytes(), np.array([1, 1, 1, np.nan], "<f4").tobytes(), 1))
        )
