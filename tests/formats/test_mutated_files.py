"""Files with bytes changed, cut off or inserted are read, or refused in one line, with little memory."""

import shutil
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from format_options import FORMAT_OPTIONS, LIBRARIES, is_installed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from optional_libraries import needs

from embeddings.cli import info
from embeddings.errors import EmbeddingsError, FormatError
from embeddings.models.loading import load, load_model
from embeddings.vectors import file_format
from embeddings.vectors.vectors import Vectors

MAX_MEMORY = 1 << 27
NAMES = [pytest.param(name, marks=needs(*LIBRARIES.get(name, ()))) for name in FORMAT_OPTIONS]
changes = st.lists(
    st.tuples(
        st.sampled_from(["set", "set", "set", "cut", "insert", "number"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 255),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def good_files(tmp_path_factory):
    """A valid file of every format that can be written here."""
    folder = tmp_path_factory.mktemp("mutated")
    words = ["the", "king", "été", "日本", *(f"word{i}" for i in range(12))]
    vectors = Vectors(words, np.random.default_rng(1).standard_normal((16, 3)), counts=range(16, 0, -1))
    for name, options in FORMAT_OPTIONS.items():
        path = folder / name / "v.npy"
        path.parent.mkdir()
        if is_installed(name):
            vectors.save(path, name.split()[0], **options)
    return folder


def mutate(data, edits):
    data = bytearray(data)
    for kind, position, byte in edits:
        at = int(position * len(data))
        if kind == "cut":
            del data[at:]
        elif kind == "insert":
            data[at:at] = bytes([byte]) * (byte % 9 + 1)
        elif kind == "number":
            data[at : at + 8] = b"\xff" * (byte % 8) + b"\x7f"
        elif data:
            data[at] = byte
    return bytes(data)


def read_or_error(read, path):
    """What was read, or the error."""
    try:
        return read(path)
    except EmbeddingsError as error:
        message = str(error)
        assert "\n" not in message
        assert len(message) < 2000
        return error


def for_every_format(count):
    """Run a test for every format with `count` mutations each."""
    healthy = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

    def wrap(test):
        test = given(which=st.floats(0, 1, exclude_max=True), edits=changes)(test)
        test = settings(max_examples=count, deadline=None, suppress_health_check=healthy)(test)
        return pytest.mark.parametrize("name", NAMES)(test)

    return wrap


@for_every_format(15)
def test_a_few_are_read_or_refused(good_files, name, which, edits):
    check_change(good_files, name, which, edits)


@pytest.mark.slow
@for_every_format(100)
def test_many_are_read_or_refused(good_files, name, which, edits):
    check_change(good_files, name, which, edits)


def check_change(good_files, name, which, edits):
    """Mutate one file of a format, and check all readers."""
    broken = good_files / "broken"
    shutil.rmtree(broken, ignore_errors=True)
    shutil.copytree(good_files / name, broken)
    files = sorted(path for path in broken.rglob("*") if path.is_file())
    file = files[int(which * len(files))]
    file.write_bytes(mutate(file.read_bytes(), edits))
    format = file_format.load_format(name.split()[0])
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    result = read_or_error(format.read, broken / "v.npy")
    read_or_error(format.describe, broken / "v.npy")
    read_or_error(info.describe, broken / "v.npy")
    read_or_error(load, broken / "v.npy")
    read_or_error(load_model, broken / "v.npy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MAX_MEMORY
    assert pa.total_allocated_bytes() - before < MAX_MEMORY
    if isinstance(result, Vectors):
        assert np.isfinite(result.matrix).all()
        assert all(word.encode() is not None for word in result.words)
        assert len(set(result.words)) == len(result.words) == len(result.matrix)
    else:
        assert isinstance(result, FormatError)


def test_every_format_is_tested():
    listed = {name.split()[0] for name in FORMAT_OPTIONS}
    assert set(file_format.names()) - listed == {"gensim"}, "pickles are read only when allowed"
