"""What is no file of vectors, and headers that are nearly right: never read as something else, never waited for."""

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.vectors import format_dispatch
from embeddings.vectors.vectors import Vectors

TEXT = b"2 3\nthe 0.5 1 2\nof 3 4 5\n"


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a file."""

    def write(data):
        (tmp_path / "v").write_bytes(data)
        return tmp_path / "v"

    return write


@pytest.mark.parametrize("beside", ["", ".txt"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, beside):
    if beside:
        Vectors(["a"], [[1.0, 2]]).save(tmp_path / "v.npy")
        (tmp_path / "v.txt").unlink()
    os.mkfifo(tmp_path / f"v{beside}")
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it is waited for"))
    signal.alarm(20)
    try:
        with pytest.raises(FormatError, match=rf"v{beside} is a pipe or device, and vectors are read from files"):
            load(tmp_path / ("v.npy" if beside else "v"))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_a_device_is_refused():
    with pytest.raises(FormatError, match="/dev/null is a pipe or device"):
        load("/dev/null")


def test_a_disk_that_fails_is_told_with_the_file():
    with pytest.raises(FormatError, match="/proc/self/mem cannot be read: Input/output error"):
        load("/proc/self/mem")


def test_a_byte_order_mark_before_the_header(written):
    vectors = load(written(b"\xef\xbb\xbf" + TEXT))
    assert vectors.words == ["the", "of"]
    assert vectors.matrix.tolist() == [[0.5, 1, 2], [3, 4, 5]]
    binary = b"\xef\xbb\xbf1 2\na " + np.array([1.5, 2], "<f4").tobytes()
    assert load(written(binary)).matrix.tolist() == [[1.5, 2]]


HEADERS = [b"+2 3", b"-2 3", b"2.0 3", b"2 -3", b"2 3 3", b"0x2 3", b"2e0 3", b"9" * 24 + b" 3", b"2 3\x0c", b"\0002 3"]


@pytest.mark.parametrize("header", HEADERS)
def test_a_broken_header_is_no_word_of_glove(written, header):
    with pytest.raises(FormatError, match="is in no known format"):
        load(written(TEXT.replace(b"2 3", header, 1)))


@pytest.mark.parametrize("data", [TEXT.replace(b"\n", b"\r"), TEXT[4:].replace(b"\n", b"\r"), b"2 3", b"2 3\r"])
def test_lines_that_do_not_end_as_they_should(written, data):
    with pytest.raises(FormatError, match="is in no known format"):
        load(written(data))


def test_one_and_two_components_of_glove_stay(written):
    assert format_dispatch.sniff(written(b"2 3.5\nthe 0.5\n")) == "glove"
    assert load(written(b"2 3 4\nthe 0.5 1\n")).words == ["2", "the"]


@pytest.mark.parametrize(
    ("data", "what"),
    [("a 1 2\n".encode("utf-16"), "text in UTF-16"), (b"PK\x03\x04", "a ZIP archive"), (b"%PDF-1", "a PDF document")],
)
def test_what_it_is_instead(written, data, what):
    with pytest.raises(FormatError, match=f"v is {what}.*, and no file of vectors"):
        load(written(data))


WIDE = {
    "v": b"a" + b" 1" * 70_000 + b"\n",
    "v.txt": b"1 70000\na" + b" 1" * 70_000 + b"\n",
    "v.txt.gz": gzip.compress(b"1 70000\na 1\n"),
    "v.bin.gz": gzip.compress(b"1 1048577\na " + bytes(9)),
}


@pytest.mark.parametrize("name", WIDE)
def test_more_components_than_can_be_meant(tmp_path, name):
    (tmp_path / name).write_bytes(WIDE[name])
    with pytest.raises(FormatError, match=rf"{name}, line 1: (70000|1048577) components, more than (65536|1048576)"):
        load(tmp_path / name)


@pytest.mark.parametrize("form", ["npy", "safetensors", "gensim"])
def test_no_words_of_endless_vectors(tmp_path, form):
    none = Vectors([], np.empty((0, 10**12), np.float32))
    with pytest.raises(FormatError, match="nothing is written: 1000000000000 components, more than 1048576"):
        none.save(tmp_path / "v.npy", form)
    np.save(tmp_path / "v.npy", none.matrix)
    (tmp_path / "v.txt").write_text("")
    with pytest.raises(FormatError, match=r"v\.npy: 1000000000000 components, more than 1048576"):
        load(tmp_path / "v.npy")


def test_no_rows_of_a_table_with_endless_vectors():
    import pyarrow as pa

    column = pa.array([], pa.list_(pa.float32(), 2**30))
    with pytest.raises(FormatError, match="the column vector: 1073741824 components, more than 1048576"):
        Vectors.from_arrow(pa.table({"word": pa.array([], pa.string()), "vector": column}))


@pytest.mark.parametrize("form", ["word2vec-text", "glove", "projector"])
def test_lines_wider_than_are_read_are_not_written(tmp_path, form):
    with pytest.raises(FormatError, match=f"the {form} format: 70000 components, more than 65536"):
        Vectors(["a"], np.ones((1, 70_000), np.float32)).save(tmp_path / "v", form)
    assert not list(tmp_path.iterdir())


DENIED = """
import sys
from embeddings.errors import FormatError
from embeddings.cli.inspection import describe
from embeddings.models.loading import load
for ask in (load, describe):
    try:
        ask(sys.argv[1])
    except FormatError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/usr/bin/setpriv").exists(), reason="root may read everything, but for setpriv")
@pytest.mark.parametrize("inner", ["", "v", "v/w.bin"])
def test_a_folder_that_may_not_be_looked_into(tmp_path, inner):
    (tmp_path / "no").mkdir(mode=0)
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-c", DENIED]
    told = subprocess.run([*command, str(tmp_path / "no" / inner)], capture_output=True, text=True, timeout=60)
    (tmp_path / "no").chmod(0o700)
    if "Operation not permitted" in told.stderr and "setpriv" in told.stderr:
        pytest.skip("capabilities cannot be dropped here")
    assert told.stderr == ""
    assert [line.endswith("cannot be read: Permission denied") for line in told.stdout.splitlines()] == [True, True]
