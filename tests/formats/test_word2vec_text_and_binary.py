"""word2vec text and binary: round trips, the same bytes as gensim, other line ends, and broken files."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pytest
from drawn_vectors import some_vectors
from hypothesis import given, settings
from hypothesis import strategies as st
from optional_libraries import import_gensim, needs_gensim

from embeddings.cli.info import describe
from embeddings.errors import FormatError
from embeddings.formats import word2vec_binary, word2vec_text
from embeddings.formats.word2vec_text import arrow_buffer, read_columns
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def small():
    return Vectors(["the", "naïve", "日本"], np.array([[1, -0.5, 1e-7], [0.1, 123456.78, -3], [0, 1 / 3, 2e20]], "f4"))


@pytest.mark.writes("word2vec-binary", "gensim", "`save_word2vec_format`: the same bytes; random words and vectors")
@pytest.mark.writes("word2vec-text", "gensim", "`save_word2vec_format`: the same bytes; random words and vectors")
@pytest.mark.golden
@pytest.mark.parametrize("form", ["word2vec-text", "word2vec-binary"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_same_bytes_as_gensim(folder, form, data):
    keyed_vectors = import_gensim("gensim.models").KeyedVectors
    vectors = data.draw(some_vectors("word2vec-text"))
    theirs = keyed_vectors(vectors.dim)
    theirs.add_vectors(vectors.words, vectors.matrix)
    theirs.save_word2vec_format(str(folder / "theirs"), binary=form == "word2vec-binary")
    vectors.save(folder / "ours", form, force=True)
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()


@needs_gensim
@pytest.mark.reads("word2vec-binary", "gensim", "`load_word2vec_format`: words and every component equal")
@pytest.mark.reads("word2vec-text", "gensim", "`load_word2vec_format`: words and every component equal")
@pytest.mark.golden
@pytest.mark.parametrize("binary", [True, False])
def test_gensim_reads_our_files(tmp_path, small, binary):
    from gensim.models import KeyedVectors

    small.save(tmp_path / "ours", "word2vec-binary" if binary else "word2vec-text")
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / "ours"), binary=binary)
    assert keyed.index_to_key == small.words
    assert np.array_equal(keyed.vectors, small.matrix)


@needs_gensim
@pytest.mark.reads("word2vec-binary", "gensim", "`fvocab=`: counts in the second file")
@pytest.mark.reads("word2vec-text", "gensim", "`fvocab=`: counts in the second file")
@pytest.mark.golden
@pytest.mark.parametrize("name", ["v.bin", "v.txt"])
def test_gensim_reads_the_file_of_counts(tmp_path, name):
    from gensim.models import KeyedVectors

    vectors = Vectors(["the", "king"], np.array([[1, -0.5], [0.25, 8]], "f4"), counts=[9, 5])
    vectors.save(tmp_path / name, counts=True)
    vocabulary = str(tmp_path / f"{name}.vocab")
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / name), fvocab=vocabulary, binary=name == "v.bin")
    assert [keyed.get_vecattr(word, "count") for word in vectors.words] == [9, 5]


def test_many_blocks_of_text_have_the_digits_of_numpy(tmp_path, monkeypatch):
    monkeypatch.setattr("embeddings.support.cosine.BLOCK_BYTES", 4096)
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2**32, 6000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    values = np.where(np.isfinite(values), values, 0)
    near = (rng.standard_normal(6000) * 10.0 ** rng.integers(-6, 7, 6000)).astype(np.float32)
    matrix = np.concatenate([values, near, np.round(near)]).reshape(-1, 10)
    matrix = np.where(np.isfinite(matrix), matrix, 0).astype(np.float32)
    Vectors([f"w{i}" for i in range(len(matrix))], matrix).save(tmp_path / "v.txt")
    lines = (tmp_path / "v.txt").read_text().splitlines()
    assert lines[1:] == [f"w{i} " + " ".join(str(value) for value in row) for i, row in enumerate(matrix)]
    assert load(tmp_path / "v.txt").matrix.tobytes() == matrix.tobytes()


def test_word2vec_c_ends_lines_with_a_space(tmp_path):
    (tmp_path / "c.txt").write_bytes(b"2 2\nking 0.25 -1.5 \nqueen 2 3e-2 \n")
    assert np.array_equal(load(tmp_path / "c.txt").matrix, np.array([[0.25, -1.5], [2, 0.03]], "f4"))


@pytest.mark.parametrize(
    "text",
    [
        b"2 2\r\na 1 2\r\nb 3 4\r\n",
        b"2 2\na 1 2\nb 3 4",
        b"2 2\na 1 2 \nb 3 4\n\n\n",
        b" 2\t2 \na 1 2\nb 3 4\n",
    ],
)
def test_accepted_text_layouts(tmp_path, text):
    (tmp_path / "v.txt").write_bytes(text)
    assert load(tmp_path / "v.txt").words == ["a", "b"]
    assert load(tmp_path / "v.txt").matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("name", ["v.txt", "v.glove"])
def test_the_first_words_include_a_last_line_without_a_line_break(tmp_path, name):
    header = b"2 2\n" if name == "v.txt" else b""
    (tmp_path / name).write_bytes(header + b"a 1 2\nb 3 4")
    assert describe(tmp_path / name)["first_words"] == ["a", "b"]
    (tmp_path / name).write_bytes(header + b"a 1 2\nb 3 4\n\n")
    assert describe(tmp_path / name)["first_words"] == ["a", "b"]


@pytest.mark.parametrize("start", [b"a 1 2\n", b"1 2\na 1 2\n"])
def test_empty_lines_at_the_end_are_not_read_forever(tmp_path, start):
    (tmp_path / "v.txt").write_bytes(start + b"\n" * word2vec_text.MAX_EMPTY_LINES)
    assert load(tmp_path / "v.txt").words == ["a"]
    (tmp_path / "v.txt").write_bytes(start + b"\n" * (word2vec_text.MAX_EMPTY_LINES + 2))
    with pytest.raises(FormatError, match=f"v.txt, line {start.count(10) + 10_001}: .*10000 empty lines"):
        load(tmp_path / "v.txt")


def test_fast_reader_agrees_with_the_slow_one(tmp_path, small):
    small.save(tmp_path / "v.txt")
    layout = word2vec_text.Layout(3, "the header says", words=3, skip=1)
    fast, slow = (
        word2vec_text.read_fast(tmp_path / "v.txt", layout),
        word2vec_text.read_slowly(tmp_path / "v.txt", layout),
    )
    assert fast is not None
    assert fast.words.to_list() == slow.words.to_list()
    assert np.array_equal(fast.to_matrix(), slow.to_matrix())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"hello\n", "format"),
        (b"99999999999999 300\na 1\n", "truncated.*99999999999999 words of 300"),
        (b"3 999999999999999999\na 1 2 3\n", "truncated.*999999999999999999"),
        (b"2 0\na\nb\n", "line 1: .* 0"),
        (b"2 2\na 1 2\nb 3\n", "line 3: 1 components.*2"),
        (b"2 2\na 1 2 3\nb 3 4 5\n", "line 2: 3 components.*2"),
        (b"2 2\na 1 2\n\nb 3 4\n", "line 3: 0 components.*2"),
        (b"2 2\na 1 2\nb 3 x\n", "line 3: 'x'"),
        (b"2 2\na 1 2\nb 3 \n   ", "line 3: 1 components"),
        (b"2 2\na 1 1_0\nb 3 4\n", "line 2: '1_0'"),
        (b"3 2\na 1 2\nb 3 4\n          ", "line 4: 0 components"),
        (b"2 2\na 1 2\nb 3 4\nc 5 6\n", "line 4: .*2 words"),
        (b"3 1\naaaaaaaa 1\nb 3\n", "truncated: .*2 of the 3"),
        (b"2 2\na 1 2\na 3 4\n", "'a'"),
        (b"2 2\na 1 2\nb 3 nan\n", "'b'.*NaN"),
        (b"2 2\na 1 2\nb inf 3\n", "'b'.*NaN"),
        (b"2 2\na 1 2\nb 1e99 3\n", "'b'.*NaN"),
        (b"2 2\na 1 2\nb\xe6\x97 3 4\n", r"line 3: .*b\\xe6\\x97.*UTF-8"),
        (
            b"2 1\na \0\0\0\0b \0\0",
            "truncated",
        ),
        (b"2 1\naaaaa \0\0\0\0b \0\0", "truncated: .*word 2 of 2"),
        (b"1 1\na \0\0\0\0b \0\0\0\0", "6 bytes"),
        (b"2 1\na \0\0\0\0a \0\0\0\0", "'a'"),
        (b"2 1\na \0\0\0\0b \0\0\xc0\x7f", "'b'.*NaN"),
        (b"2 1\na \0\0\0\0\xe6\x97 \0\0\0\0", "word 2: .*UTF-8"),
        (b"\x1f\x8b\x08\x00", "gzip"),
    ],
)
def test_broken_files_are_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "broken.vec"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("errors", "word"), [("replace", "b\ufffd"), ("ignore", "b")])
@pytest.mark.parametrize("content", [b"2 1\na 0.5\nb\xe6\x97 0.25\n", b"2 1\na \0\0\0\x3fb\xe6\x97 \0\0\x80\x3e"])
def test_words_truncated_within_a_character(tmp_path, errors, word, content):
    (tmp_path / "v").write_bytes(content)
    vectors = load(tmp_path / "v", errors=errors)
    assert vectors.words == ["a", word]
    assert vectors.matrix.tolist() == [[0.5], [0.25]]


def test_arrow_parses_memory_of_its_own_which_its_threads_release_without_the_interpreter() -> None:
    data = b"x" * 100_000
    before = pa.total_allocated_bytes()
    buffer = arrow_buffer(data)
    assert pa.total_allocated_bytes() - before >= len(data)
    assert buffer.to_pybytes() == data


def test_lines_with_an_error_are_parsed_from_such_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(
        word2vec_text.pa, "BufferReader", lambda buffer, make=pa.BufferReader: made.append(buffer) or make(buffer)
    )
    with pytest.raises(pa.ArrowException):
        list(read_columns(io.BytesIO(b"a 1\nb\n"), [pa.string(), pa.float32()], max_line=100))
    assert made
    assert all(isinstance(buffer, pa.Buffer) for buffer in made)  # never bytes of Python


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
