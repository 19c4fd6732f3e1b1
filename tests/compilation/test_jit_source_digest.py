"""Every edit of what a kernel is made of changes its digest, wherever it is."""

import shutil
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from embeddings.compilation import machine_code_cache
from embeddings.compilation.machine_code_cache import reachable_sources
from embeddings.plugins.skipgram import SkipGram

FILES = {
    "kernels_a/__init__.py": "",
    "kernels_a/entry.py": """
import constants_b
from constants_b import FACTOR
from embeddings.compilation.jit import entry_point
from helpers_b.parts import part
from kernels_a import unused

@entry_point
def entry(x):
    return FACTOR * part(x) + constants_b.OFFSET
""",
    "kernels_a/unused.py": "VALUE = 1\n",
    "helpers_b/__init__.py": "",
    "helpers_b/parts.py": """
from embeddings.compilation.jit import inline
from helpers_b.deep import deep

@inline
def part(x):
    return deep(x) + 1
""",
    "helpers_b/deep.py": """
from numba import njit

@njit
def deep(x):
    return x * 2
""",
    "constants_b.py": "FACTOR = 10\nOFFSET = 3\nOTHER = 5\n",
    "stranger_c.py": "VALUE = 1\n",
}
RUN = """
from kernels_a.entry import entry
from embeddings.compilation.machine_code_cache import kernel_digest
print(kernel_digest(entry.py_func), entry(1))
"""


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """The packages and their cache, and the digest and result of a first run."""
    folder = tmp_path_factory.mktemp("first")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder, *run(folder)


@pytest.fixture
def distribution(tmp_path, first_run):
    """A copy of the packages and their cache."""
    shutil.copytree(first_run[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def run(folder):
    """The digest and the result of the kernel in a new process, which shares a cache with the others."""
    paths = {"PYTHONPATH": str(folder), "EMBEDDINGS_CACHE": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run([sys.executable, "-c", RUN], env=paths, capture_output=True, text=True, check=True)
    return process.stdout.split()


@pytest.mark.parametrize(
    ("file", "old", "new", "result"),
    [
        ("helpers_b/deep.py", "x * 2", "x * 3", "43"),
        pytest.param("helpers_b/parts.py", "+ 1", "+ 2", "43", marks=pytest.mark.slow),
        pytest.param("constants_b.py", "FACTOR = 10", "FACTOR = 20", "63", marks=pytest.mark.slow),
        pytest.param("constants_b.py", "OFFSET = 3", "OFFSET = 4", "34", marks=pytest.mark.slow),
        pytest.param("kernels_a/entry.py", "+ constants_b", "- constants_b", "27", marks=pytest.mark.slow),
    ],
)
def test_an_edit_of_a_helper_elsewhere_is_seen(first_run, distribution, file, old, new, result):
    _, digest, before = first_run
    assert before == "33"
    path = distribution / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    edited, after = run(distribution)
    assert after == result
    assert edited != digest


def test_an_edit_of_the_kernels_own_package_is_seen(first_run, distribution):
    _, digest, _ = first_run
    (distribution / "kernels_a" / "unused.py").write_text("VALUE = 2\n")
    assert run(distribution)[0] != digest


def test_an_edit_of_what_it_does_not_reach_changes_nothing(first_run, distribution):
    _, digest, _ = first_run
    (distribution / "stranger_c.py").write_text("VALUE = 2\n")
    assert run(distribution)[0] == digest


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
