"""Whatever bytes of a file are changed, cut off or put in: it is read or refused, in one line and little memory."""

import shutil
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from forms import FORMS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embeddings.cli import inspection
from embeddings.errors import EmbeddingsError, FormatError
from embeddings.models.loading import load
from embeddings.vectors import format_dispatch
from embeddings.vectors.vectors import Vectors

MOST = 1 << 27
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
def place(tmp_path_factory):
    """Every format once, written well."""
    folder = tmp_path_factory.mktemp("mutated")
    words = ["the", "king", "été", "日本", *(f"word{i}" for i in range(12))]
    vectors = Vectors(words, np.random.default_rng(1).standard_normal((16, 3)), counts=range(16, 0, -1))
    for name, options in FORMS.items():
        path = folder / name / "v.npy"
        path.parent.mkdir()
        vectors.save(path, name.split()[0], **options)
    return folder


def mutated(data, edits):
    data = bytearray(data)
    for kind, where, byte in edits:
        at = int(where * len(data))
        if kind == "cut":
            del data[at:]
        elif kind == "insert":
            data[at:at] = bytes([byte]) * (byte % 9 + 1)
        elif kind == "number":
            data[at : at + 8] = b"\xff" * (byte % 8) + b"\x7f"
        elif data:
            data[at] = byte
    return bytes(data)


def outcome(read, path):
    """What was read, or why it was refused."""
    try:
        return read(path)
    except EmbeddingsError as error:
        found = error
    assert "\n" not in str(found)
    assert len(str(found)) < 2000
    return found


def tried(count):
    """A test of every format, with so many changes of each."""
    healthy = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

    def wrap(test):
        test = given(which=st.floats(0, 1, exclude_max=True), edits=changes)(test)
        test = settings(max_examples=count, deadline=None, suppress_health_check=healthy)(test)
        return pytest.mark.parametrize("name", FORMS)(test)

    return wrap


@tried(15)
def test_it_is_read_or_refused(place, name, which, edits):
    check_change(place, name, which, edits)


@pytest.mark.slow
@tried(100)
def test_many_are_read_or_refused(place, name, which, edits):
    check_change(place, name, which, edits)


def check_change(place, name, which, edits):
    """One file of a format, changed: what its readers say of it, and what that took."""
    broken = place / "broken"
    shutil.rmtree(broken, ignore_errors=True)
    shutil.copytree(place / name, broken)
    files = sorted(path for path in broken.rglob("*") if path.is_file())
    file = files[int(which * len(files))]
    file.write_bytes(mutated(file.read_bytes(), edits))
    format = format_dispatch.by_name(name.split()[0])
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    found = outcome(format.read, broken / "v.npy")
    outcome(format.describe, broken / "v.npy")
    outcome(inspection.describe, broken / "v.npy")
    outcome(load, broken / "v.npy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MOST
    assert pa.total_allocated_bytes() - before < MOST
    if isinstance(found, Vectors):
        assert np.isfinite(found.matrix).all()
        assert all(word.encode() is not None for word in found.words)
        assert len(set(found.words)) == len(found.words) == len(found.matrix)
    else:
        assert isinstance(found, FormatError)


def test_every_reader_is_among_them():
    listed = {name.split()[0] for name in FORMS}
    ours = {
        name for name in format_dispatch.names() if format_dispatch.by_name(name).__name__.startswith("embeddings.")
    }
    assert ours - listed == {"gensim"}, "a pickle is not read without being asked for"
