"""Other files, and headers that are nearly right: never read as something else, never waited for."""

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from platforms import needs_pipes, needs_proc

from embeddings.cli.info import describe
from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.vectors import file_format
from embeddings.vectors.vectors import Vectors

TEXT = b"2 3\nthe 0.5 1 2\nof 3 4 5\n"


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a file."""

    def write(data):
        (tmp_path / "v").write_bytes(data)
        return tmp_path / "v"

    return write


@needs_pipes
@pytest.mark.parametrize("suffix", ["", ".txt"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, suffix):
    if suffix:
        Vectors(["a"], [[1.0, 2]]).save(tmp_path / "v.npy")
        (tmp_path / "v.txt").unlink()
    os.mkfifo(tmp_path / f"v{suffix}")
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("reading waits for the pipe"))
    signal.alarm(20)
    try:
        with pytest.raises(FormatError, match=rf"v{suffix} is a pipe"):
            load(tmp_path / ("v.npy" if suffix else "v"))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@needs_pipes
def test_a_device_is_refused():
    with pytest.raises(FormatError, match=r"/dev/null is a .*device"):
        load("/dev/null")


@needs_proc
def test_a_failing_disk_is_reported_with_the_file():
    with pytest.raises(FormatError, match=r"/proc/self/mem.*Input/output error"):
        load("/proc/self/mem")


def test_a_byte_order_mark_before_the_header(written):
    vectors = load(written(b"\xef\xbb\xbf" + TEXT))
    assert vectors.words == ["the", "of"]
    assert vectors.matrix.tolist() == [[0.5, 1, 2], [3, 4, 5]]
    binary = b"\xef\xbb\xbf1 2\na " + np.array([1.5, 2], "<f4").tobytes()
    assert load(written(binary)).matrix.tolist() == [[1.5, 2]]


HEADERS = [b"+2 3", b"-2 3", b"2.0 3", b"2 -3", b"2 3 3", b"0x2 3", b"2e0 3", b"9" * 24 + b" 3", b"2 3\x0c", b"\0002 3"]


@pytest.mark.parametrize("header", HEADERS)
def test_a_broken_header_is_not_a_word_of_glove(written, header):
    with pytest.raises(FormatError, match="format"):
        load(written(TEXT.replace(b"2 3", header, 1)))


@pytest.mark.parametrize("data", [TEXT.replace(b"\n", b"\r"), TEXT[4:].replace(b"\n", b"\r"), b"2 3", b"2 3\r"])
def test_wrong_line_ends(written, data):
    with pytest.raises(FormatError, match="format"):
        load(written(data))


def test_glove_files_of_one_and_two_components(written):
    assert file_format.sniff(written(b"2 3.5\nthe 0.5\n")) == "glove"
    assert load(written(b"2 3 4\nthe 0.5 1\n")).words == ["2", "the"]


@pytest.mark.parametrize(
    ("data", "kind"),
    [("a 1 2\n".encode("utf-16"), ".*UTF-16"), (b"PK\x03\x04", ".*ZIP"), (b"%PDF-1", ".*PDF")],
)
def test_the_error_names_the_actual_kind(written, data, kind):
    with pytest.raises(FormatError, match=f"v is {kind}"):
        load(written(data))


WIDE = {
    "v": b"a" + b" 1" * 70_000 + b"\n",
    "v.txt": b"1 70000\na" + b" 1" * 70_000 + b"\n",
    "v.txt.gz": gzip.compress(b"1 70000\na 1\n"),
    "v.bin.gz": gzip.compress(b"1 1048577\na " + bytes(9)),
}


@pytest.mark.parametrize("name", WIDE)
def test_implausibly_many_components(tmp_path, name):
    (tmp_path / name).write_bytes(WIDE[name])
    for function in (load, describe):
        with pytest.raises(FormatError, match=rf"{name}, line 1: (70000|1048577) .*(65536|1048576)"):
            function(tmp_path / name)


def test_huge_vectors_of_no_words(tmp_path):
    empty = Vectors([], np.empty((0, 10**12), np.float32))
    np.save(tmp_path / "v.npy", empty.matrix)
    (tmp_path / "v.txt").write_text("")
    with pytest.raises(FormatError, match=r"v\.npy: 1000000000000.*1048576"):
        load(tmp_path / "v.npy")


def test_a_table_of_no_rows_of_huge_vectors():
    import pyarrow as pa

    column = pa.array([], pa.list_(pa.float32(), 2**30))
    with pytest.raises(FormatError, match=r"column vector: 1073741824.*1048576"):
        Vectors.from_arrow(pa.table({"word": pa.array([], pa.string()), "vector": column}))


DENIED = """
import sys
from embeddings.errors import FormatError
from embeddings.cli.info import describe
from embeddings.models.loading import load
for function in (load, describe):
    try:
        function(sys.argv[1])
    except FormatError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/usr/bin/setpriv").exists(), reason="root can read everything without setpriv")
@pytest.mark.parametrize("inner", ["", "v", "v/w.bin"])
def test_a_folder_without_permission(tmp_path, inner):
    (tmp_path / "no").mkdir(mode=0)
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-c", DENIED]
    result = subprocess.run([*command, str(tmp_path / "no" / inner)], capture_output=True, text=True, timeout=60)
    (tmp_path / "no").chmod(0o700)
    if "Operation not permitted" in result.stderr and "setpriv" in result.stderr:
        pytest.skip("capabilities cannot be dropped here")
    assert result.stderr == ""
    assert [line.endswith("Permission denied") for line in result.stdout.splitlines()] == [True, True]
