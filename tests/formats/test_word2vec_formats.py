"""word2vec text and binary: round trips, the same bytes as gensim, and every way a file can be broken."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.errors import FormatError, OutputError, RegistryError, SettingError
from embeddings.formats import text_vectors, word2vec_binary, word2vec_text
from embeddings.models.loading import load
from embeddings.vectors import format_dispatch
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import LONGEST_WORD

FORMS = {"word2vec-text": word2vec_text, "word2vec-binary": word2vec_binary}

EDGES = [
    "\ufeff",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\x85",
    "\x00",
    "\x1c",
    '"',
    '"a',
    "nan",
    "1",
    "#",
    "'",
    "\\",
    "é",
    "日本語",
    "🙂",
]
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\v\f\r"), min_size=1, max_size=8)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def some_vectors(draw):
    names = draw(st.lists(words | st.sampled_from(EDGES), unique=True, max_size=12))
    dim = draw(st.integers(1, 9))
    flat = draw(st.lists(numbers, min_size=len(names) * dim, max_size=len(names) * dim))
    return Vectors(names, np.array(flat, dtype=np.float32).reshape(len(names), dim))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formats")


@pytest.mark.parametrize("form", [*FORMS, "glove", "projector", "npy", "fasttext"])
def test_the_longest_word_stands_first(tmp_path, form):
    vectors = Vectors(["x" * LONGEST_WORD, "b"], [[1, 2.5], [3, 4]])
    vectors.save(tmp_path / "v.npy", form)
    assert load(tmp_path / "v.npy").words == vectors.words
    with pytest.raises(FormatError, match=r"a word of 32770 bytes, 'éé.*is longer than 32768"):
        Vectors(["b", "é" * (LONGEST_WORD // 2 + 1)], [[1, 2.5], [3, 4]]).save(tmp_path / "w.npy", form)
    assert not list(tmp_path.glob("*w*"))


@pytest.mark.parametrize("form", FORMS)
def test_vectors_without_a_line_end_in_what_is_looked_at(tmp_path, form):
    vectors = Vectors(["b" * 9, "c"], np.zeros((2, 40_000), np.float32))
    vectors.save(tmp_path / "v", form)
    assert format_dispatch.sniff(tmp_path / "v") == form
    assert load(tmp_path / "v").matrix.shape == (2, 40_000)


@pytest.fixture
def small():
    return Vectors(["the", "naïve", "日本"], np.array([[1, -0.5, 1e-7], [0.1, 123456.78, -3], [0, 1 / 3, 2e20]], "f4"))


def gensim_of(vectors):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.dim)
    keyed.add_vectors(vectors.words, vectors.matrix)
    return keyed


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60, deadline=None)
@given(vectors=some_vectors())
def test_round_trip_is_exact(folder, form, vectors):
    path = folder / f"round-{form}"
    vectors.save(path, form, force=True)
    again = FORMS[form].read(path)
    assert again.words == vectors.words
    assert again.matrix.tobytes() == vectors.matrix.tobytes()
    assert again.matrix.shape == vectors.matrix.shape


@pytest.mark.parametrize(
    ("form", "ending"), [("word2vec-text", ".vec"), ("word2vec-text", ".txt"), ("word2vec-binary", ".bin")]
)
def test_ending_chooses_and_content_tells(tmp_path, small, form, ending):
    path = tmp_path / f"v{ending}"
    small.save(path)
    assert format_dispatch.for_path(path) == form
    assert format_dispatch.sniff(path) == form
    hidden = tmp_path / "nameless"
    path.rename(hidden)
    assert load(hidden).words == small.words
    assert load(hidden).matrix.tobytes() == small.matrix.tobytes()


@pytest.mark.writes(
    "word2vec-binary", "gensim", "`save_word2vec_format` writes the same bytes; drawn words and vectors"
)
@pytest.mark.writes("word2vec-text", "gensim", "`save_word2vec_format` writes the same bytes; drawn words and vectors")
@pytest.mark.golden
@pytest.mark.parametrize("binary", [True, False])
@settings(max_examples=40, deadline=None)
@given(vectors=some_vectors())
def test_same_bytes_as_gensim(folder, binary, vectors):
    gensim_of(vectors).save_word2vec_format(str(folder / "theirs"), binary=binary)
    vectors.save(folder / "ours", "word2vec-binary" if binary else "word2vec-text", force=True)
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()


@pytest.mark.reads("word2vec-binary", "gensim", "`load_word2vec_format`: words and every component equal")
@pytest.mark.reads("word2vec-text", "gensim", "`load_word2vec_format`: words and every component equal")
@pytest.mark.golden
@pytest.mark.parametrize("binary", [True, False])
def test_gensim_reads_ours(tmp_path, small, binary):
    from gensim.models import KeyedVectors

    small.save(tmp_path / "ours", "word2vec-binary" if binary else "word2vec-text")
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / "ours"), binary=binary)
    assert keyed.index_to_key == small.words
    assert np.array_equal(keyed.vectors, small.matrix)


def test_text_of_many_blocks_has_the_digits_of_numpy(tmp_path, monkeypatch):
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


def test_word2vec_c_writes_newlines_after_vectors(tmp_path, small):
    rows = zip(small.words, small.matrix, strict=True)
    body = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in rows)
    (tmp_path / "c.bin").write_bytes(b"3 3\n" + body)
    assert load(tmp_path / "c.bin").words == small.words
    assert np.array_equal(load(tmp_path / "c.bin").matrix, small.matrix)


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
def test_text_layouts_that_are_read(tmp_path, text):
    (tmp_path / "v.txt").write_bytes(text)
    assert load(tmp_path / "v.txt").words == ["a", "b"]
    assert load(tmp_path / "v.txt").matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("start", [b"a 1 2\n", b"1 2\na 1 2\n"])
def test_empty_lines_at_the_end_are_not_read_forever(tmp_path, start):
    (tmp_path / "v.txt").write_bytes(start + b"\n" * text_vectors.BLANK)
    assert load(tmp_path / "v.txt").words == ["a"]
    (tmp_path / "v.txt").write_bytes(start + b"\n" * (text_vectors.BLANK + 2))
    with pytest.raises(FormatError, match=f"v.txt: more than 10000 empty lines follow line {start.count(10)}"):
        load(tmp_path / "v.txt")


def test_a_number_too_large_for_float32_is_refused_by_its_word(tmp_path):
    (tmp_path / "v.txt").write_bytes(b"a 1e39 2\nb 1 2 \nc 1 2")
    with pytest.raises(FormatError, match="the vector of 'a' holds NaN or infinity"):
        load(tmp_path / "v.txt")


def test_fast_reader_agrees_with_the_slow_one(tmp_path, small):
    small.save(tmp_path / "v.txt")
    layout = text_vectors.Layout(3, "the header says", words=3, skip=1)
    fast, slow = (
        text_vectors.read_fast(tmp_path / "v.txt", layout),
        text_vectors.read_slowly(tmp_path / "v.txt", layout),
    )
    assert fast is not None
    assert fast.packed.listed() == slow.packed.listed()
    assert np.array_equal(fast.whole(), slow.whole())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello\n", "is in no known format"),
        (b"99999999999999 300\na 1\n", "is truncated, or its header is wrong: 99999999999999 words of 300"),
        (b"3 999999999999999999\na 1 2 3\n", "is truncated, or its header is wrong"),
        (b"2 0\na\nb\n", "line 1: the header says 0 components"),
        (b"2 2\na 1 2\nb 3\n", "line 3: 1 components where the header says 2"),
        (b"2 2\na 1 2 3\nb 3 4 5\n", "line 2: 3 components where the header says 2"),
        (b"2 2\na 1 2\n\nb 3 4\n", "line 3: 0 components where the header says 2"),
        (b"2 2\na 1 2\nb 3 x\n", "line 3: 'x' is not a number"),
        (b"2 2\na 1 2\nb 3 \n   ", "line 3: 1 components where"),
        (b"2 2\na 1 1_0\nb 3 4\n", "line 2: '1_0' is not a number"),
        (b"3 2\na 1 2\nb 3 4\n          ", "line 4: 0 components"),
        (b"2 2\na 1 2\nb 3 4\nc 5 6\n", "line 4: more than the 2 words of the header"),
        (b"3 1\naaaaaaaa 1\nb 3\n", "is truncated: 2 of the 3 words of its header"),
        (b"2 2\na 1 2\na 3 4\n", "the word 'a' stands twice"),
        (b"2 2\na 1 2\nb 3 nan\n", "the vector of 'b' holds NaN or infinity"),
        (b"2 2\na 1 2\nb inf 3\n", "the vector of 'b' holds NaN or infinity"),
        (b"2 2\na 1 2\nb 1e99 3\n", "the vector of 'b' holds NaN or infinity"),
        (b"2 2\na 1 2\nb\xe6\x97 3 4\n", r"line 3: the word b'b\\xe6\\x97' is not UTF-8"),
        (
            b"2 1\na \0\0\0\0b \0\0",
            "is truncated: it ends within word 2 of 2|is truncated, or its header is wrong",
        ),
        (b"2 1\naaaaa \0\0\0\0b \0\0", "is truncated: it ends within word 2 of 2"),
        (b"1 1\na \0\0\0\0b \0\0\0\0", "6 bytes follow the last of 1 vectors"),
        (b"2 1\na \0\0\0\0a \0\0\0\0", "the word 'a' stands twice"),
        (b"2 1\na \0\0\0\0b \0\0\xc0\x7f", "the vector of 'b' holds NaN or infinity"),
        (b"2 1\na \0\0\0\0\xe6\x97 \0\0\0\0", "word 2: the word .* is not UTF-8"),
        (b"\x1f\x8b\x08\x00", "is truncated or corrupt gzip data"),
    ],
)
def test_broken_files_are_told_in_one_line(tmp_path, content, message):
    path = tmp_path / "broken.vec"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_truncation_is_noticed(tmp_path, form):
    rng = np.random.default_rng(0)
    Vectors([f"word{i}" for i in range(50)], rng.standard_normal((50, 7))).save(tmp_path / "v", form)
    whole = (tmp_path / "v").read_bytes()
    for part in range(20):
        (tmp_path / "v").write_bytes(whole[: len(whole) * part // 20])
        with pytest.raises(FormatError, match=r"truncated|empty|no known|header|components"):
            load(tmp_path / "v")


@pytest.mark.parametrize(("errors", "word"), [("replace", "b\ufffd"), ("ignore", "b")])
@pytest.mark.parametrize("content", [b"2 1\na 0.5\nb\xe6\x97 0.25\n", b"2 1\na \0\0\0\x3fb\xe6\x97 \0\0\x80\x3e"])
def test_words_cut_within_a_character(tmp_path, errors, word, content):
    (tmp_path / "cut").write_bytes(content)
    vectors = load(tmp_path / "cut", errors=errors)
    assert vectors.words == ["a", word]
    assert vectors.matrix.tolist() == [[0.5], [0.25]]


def test_unknown_error_policy(tmp_path, small):
    small.save(tmp_path / "v.txt")
    with pytest.raises(SettingError, match="errors must be one of strict, replace, ignore, not 'skip'"):
        load(tmp_path / "v.txt", errors="skip")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("word", ["new york", "a\n", "", "\ud800"])
def test_words_a_format_cannot_hold(tmp_path, form, word):
    vectors = Vectors(["fine", word], np.ones((2, 2)))
    with pytest.raises(FormatError, match=re.escape(f"the {form} format cannot hold the word {word!r}")):
        vectors.save(tmp_path / "v", form)
    assert not list(tmp_path.iterdir())


def test_tab_in_a_word_is_refused_by_text_only(tmp_path):
    vectors = Vectors(["a\tb"], np.ones((1, 2)))
    vectors.save(tmp_path / "v.bin")
    assert load(tmp_path / "v.bin").words == ["a\tb"]
    with pytest.raises(FormatError, match="which holds white space"):
        vectors.save(tmp_path / "v.txt")


def test_nan_is_not_written(tmp_path):
    with pytest.raises(FormatError, match="nothing is written: the vector of 'b' holds NaN"):
        Vectors(["a", "b"], np.array([[1.0], [np.nan]])).save(tmp_path / "v.txt")


def test_outputs_are_not_overwritten(tmp_path, small):
    small.save(tmp_path / "v.bin")
    before = (tmp_path / "v.bin").read_bytes()
    with pytest.raises(OutputError, match=r"v\.bin exists"):
        Vectors(["x"], np.ones((1, 1))).save(tmp_path / "v.bin")
    assert (tmp_path / "v.bin").read_bytes() == before
    with pytest.raises(OutputError, match="is a folder, and a file is written: choose another name"):
        small.save(tmp_path, "word2vec-text", force=True)


def test_unknown_names_and_endings(tmp_path, small):
    with pytest.raises(RegistryError, match=r"no format called 'wav'; installed: arrow, .*gensim, .*word2vec-text"):
        small.save(tmp_path / "v", "wav")
    with pytest.raises(FormatError, match=r"no format goes with the ending '\.wav'; use one of \.arrow \(arrow\)"):
        small.save(tmp_path / "v.wav")
    assert format_dispatch.names()["word2vec-text"] == (".txt", ".vec")
