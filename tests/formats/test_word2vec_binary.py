"""Binary files of word2vec: other line ends, and files without vectors."""

import gzip

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.formats import word2vec_binary
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def small():
    return Vectors(["the", "naïve", "日本"], np.array([[1, -0.5, 1e-7], [0.1, 123456.78, -3], [0, 1 / 3, 2e20]], "f4"))


def test_word2vec_c_writes_newlines_after_vectors(tmp_path, small):
    rows = zip(small.words, small.matrix, strict=True)
    body = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in rows)
    (tmp_path / "c.bin").write_bytes(b"3 3\n" + body)
    assert load(tmp_path / "c.bin").words == small.words
    assert np.array_equal(load(tmp_path / "c.bin").matrix, small.matrix)


@pytest.mark.parametrize("filler", [b"\n", b"\n\n\n\nx", b"x", b" ", b" \n"])
def test_a_file_without_vectors_is_refused_at_once(tmp_path, filler):
    """A million line breaks took hours: an expression tried each of them as the start of a word."""
    (tmp_path / "v.bin.gz").write_bytes(gzip.compress(b"5 300\n" + (filler * 1_000_000)[:1_000_000]))
    with pytest.raises(FormatError, match=r"truncated|more|follow|NaN|twice|duplicate|empty"):
        word2vec_binary.read(tmp_path / "v.bin.gz")


def test_a_vector_that_begins_with_a_digit_and_a_line_feed_is_not_text(tmp_path):
    matrix = np.random.default_rng(1).standard_normal((3, 4)).astype("<f4")
    matrix.view(np.uint8)[0, :2] = ord("7"), ord("\n")
    Vectors(["a", "b", "c"], matrix).save(tmp_path / "v.bin")
    assert load(tmp_path / "v.bin").matrix.tolist() == matrix.tolist()
