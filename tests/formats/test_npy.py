"""A matrix as .npy with its words in a second file: numpy reads it, it is memory-mapped, mismatches are refused."""

import io

import numpy as np
import pytest
from drawn_vectors import some_vectors
from hypothesis import given, settings

from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def small(tmp_path):
    vectors = Vectors(["the", "new york", "日本"], np.array([[1, -0.5], [0.25, 8], [0, 1e-7]], "f4"))
    vectors.save(tmp_path / "v.npy")
    return vectors


@pytest.mark.reads("npy", "numpy", "`np.load`: every byte; words by line")
@settings(max_examples=50, deadline=None)
@given(vectors=some_vectors("npy"))
def test_numpy_reads_the_matrix(folder, vectors):
    vectors.save(folder / "v.npy", force=True)
    assert np.load(folder / "v.npy").tobytes() == vectors.matrix.tobytes()
    assert (folder / "v.txt").read_text(encoding="utf-8").splitlines() == vectors.words


@pytest.mark.writes("npy", "numpy", "`np.save` of four types, by rows and by columns")
@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_written_by_numpy(tmp_path, small, dtype, order):
    np.save(tmp_path / "v.npy", np.asarray(small.matrix, dtype, order=order))
    assert np.allclose(load(tmp_path / "v.npy").matrix, small.matrix, atol=1e-6)
    assert load(tmp_path / "v.npy").matrix.dtype == np.float32


def header(text, version=b"\x01\x00"):
    body = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY" + version + len(body).to_bytes(2 if version[0] == 1 else 4, "little") + body


def npy(rows):
    """The bytes of a matrix as numpy writes it."""
    stream = io.BytesIO()
    np.save(stream, np.array(rows))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x93NUMPY", "truncated"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 300), }"), "truncated"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }"), r"\(3, 0\)"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 2), }"), "negative"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }") + bytes(12), r"\(3,\)"),
        (header("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }") + bytes(24), "int32"),
        (header("{'descr': '|O', 'fortran_order': False, 'shape': (3, 2), }"), "objects"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }") + bytes(25), "154.*153"),
        (header("__import__('os').system('true')"), "broken"),
        *((header(text), "broken|truncated") for text in ("{'descr': '<i8', \0", "(" * 20, "{" * 20)),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", b"\x09\x00"), "version|broken"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "longer than the file"),
        (npy([[1, 2], [np.nan, 3], [4, 5]]), "'new york'.*NaN"),
        (npy([[1, 2], [3, 4], [1e300, 5]]), "'日本'.*NaN"),
        (npy([[1.0, 2], [3, 4]]), r"3 words.*\(2, "),
    ],
)
def test_broken_matrices(tmp_path, small, content, message):
    (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        load(tmp_path / "v.npy", allow_pickle=True)
    assert str(caught.value).startswith(str(tmp_path / "v.npy"))
    assert "\n" not in str(caught.value)


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('it ran')",)


def test_objects_are_never_unpickled(tmp_path, small):
    objects = np.empty((3, 2), object)
    objects[:] = Bomb()
    stream = io.BytesIO()
    np.save(stream, objects, allow_pickle=True)
    (tmp_path / "v.npy").write_bytes(stream.getvalue())
    with pytest.raises(FormatError, match="objects"):
        load(tmp_path / "v.npy", allow_pickle=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"the\nof\n", r"v.npy.*2 words.*\(3, "),
        (b"", r"v.npy.*0 words.*\(3, "),
        (b"a\nb\na\n", "'a'"),
        (b"a\nb\n\xff\n", "v.txt, line 3: .*UTF-8"),
    ],
)
def test_words_that_do_not_match_the_matrix(tmp_path, small, text, message):
    (tmp_path / "v.txt").write_bytes(text)
    with pytest.raises(FormatError, match=message):
        load(tmp_path / "v.npy")


def test_line_ends_of_windows_and_a_missing_file_of_words(tmp_path, small):
    (tmp_path / "v.txt").write_bytes(b"a\r\nb\r\nc")
    assert load(tmp_path / "v.npy").words == ["a", "b", "c"]
    (tmp_path / "v.txt").unlink()
    with pytest.raises(FormatError, match=r"v\.npy.*v\.txt"):
        load(tmp_path / "v.npy")


@pytest.mark.parametrize("text", ["a red car\nthe blue bus\n\n", "one line\n"])
def test_the_texts_next_to_their_vectors_are_no_words_that_may_be_replaced(tmp_path, small, text):
    """`embed text.txt -o text.npy` leaves such a pair."""
    (tmp_path / "text.txt").write_text(text)
    np.save(tmp_path / "text.npy", np.ones((3, 2), np.float32))
    with pytest.raises(OutputError, match=r"text\.txt"):
        small.save(tmp_path / "text.npy", force=True)
    assert (tmp_path / "text.txt").read_text() == text


def test_neither_file_is_overwritten(tmp_path, small):
    before = [(tmp_path / name).read_bytes() for name in ("v.npy", "v.txt")]
    (tmp_path / "v.npy").rename(tmp_path / "w.npy")
    with pytest.raises(OutputError, match=r"v\.txt"):
        Vectors(["x"], np.ones((1, 2))).save(tmp_path / "v.npy")
    with pytest.raises(OutputError, match=r"v\.txt exists.*v\.npy"):
        Vectors(["x"], np.ones((1, 2))).save(tmp_path / "v.npy", force=True)
    (tmp_path / "w.npy").rename(tmp_path / "v.npy")
    with pytest.raises(SettingError, match="NaN"):
        Vectors(["x"], np.array([[np.nan]])).save(tmp_path / "v.npy", force=True)
    assert [(tmp_path / name).read_bytes() for name in ("v.npy", "v.txt")] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v.npy", "v.txt"]


def test_words_that_are_too_large_for_the_rows_are_not_read(tmp_path, small):
    with (tmp_path / "v.txt").open("ab") as stream:
        stream.truncate(1 << 40)  # a sparse file, which would not fit into memory
    with pytest.raises(FormatError, match=r"v\.txt.*3 rows"):
        load(tmp_path / "v.npy")
