"""The digest of what a kernel is made of; that edits of files change it is tested with the cache."""

from typing import NamedTuple

import numpy as np
import pytest

from embeddings.compilation import machine_code_cache
from embeddings.compilation.machine_code_cache import reachable_sources
from embeddings.plugins.skipgram import SkipGram


class Pair(NamedTuple):
    first: int
    second: int


def make_pair(x):
    return Pair(x, x)


def test_the_standard_library_does_not_count():
    """The methods of a NamedTuple are those of `collections`, whose file differs between releases of Python."""
    modules, _ = reachable_sources(make_pair)
    assert {module.__name__ for module in modules} == {__name__}


STEP = np.uint64(5)
TABLE = np.arange(3)


def scaled(x):
    return x * STEP + TABLE[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STEP", np.uint64(6)),
        ("STEP", np.int64(5)),
        ("TABLE", np.arange(1, 4)),
        ("TABLE", np.arange(3, dtype=np.int32)),
    ],
)
def test_numbers_and_arrays_of_numpy_count(monkeypatch, name, value):
    _, before = reachable_sources(scaled)
    monkeypatch.setitem(scaled.__globals__, name, value)
    _, after = reachable_sources(scaled)
    assert before != after


def test_kernels_of_plugins_depend_only_on_the_modules_that_they_reach(monkeypatch):
    """In a checkout the plugins are in a folder of another name, which is linked into the package."""
    digested = []
    monkeypatch.setattr(machine_code_cache, "file_digest", lambda file: digested.append(file.name) or "0")
    machine_code_cache.kernel_digest(SkipGram.plan)
    assert {"skipgram.py", "jit.py", "machine_code_cache.py"} <= set(digested)
    assert not {"cbow.py", "fasttext.py"} & set(digested)


@pytest.mark.parametrize(("name", "value"), [("__version__", "0.0"), ("IS_CHECKED", not machine_code_cache.IS_CHECKED)])
def test_another_version_of_numba_or_build_is_another_digest(monkeypatch, name, value):
    before = machine_code_cache.kernel_digest(scaled)
    monkeypatch.setattr(machine_code_cache.numba if name == "__version__" else machine_code_cache, name, value)
    assert machine_code_cache.kernel_digest(scaled) != before
