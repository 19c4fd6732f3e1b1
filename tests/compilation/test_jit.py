"""Compiled code is cached, is never older than its source, and runs where it cannot be cached."""

import os
import pickle
import shutil
import time
from pathlib import Path

import numba
import pytest
from numba import njit
from numba.core.caching import NullCache

from embeddings.compilation import machine_code_cache
from embeddings.compilation.machine_code_cache import (
    MAX_GENERATIONS,
    MAX_UNUSED_DAYS,
    Index,
    KernelCache,
    remove_old_generations,
)
from embeddings.kernels.block import fill_block

PART = """
from elsewhere.deep import deep
from embeddings.compilation.jit import inline

@inline
def part(x):
    return deep(x) + 1
"""
ENTRY = """
import constants
from constants import FACTOR
from embeddings.compilation.jit import allocating_entry_point, entry_point
from room import unused
from room.part import part

@allocating_entry_point
def entry(x):
    return 10 * part(x)

@entry_point
def other(x):
    return FACTOR * part(x) + constants.OFFSET
"""
FILES = {  # of a foreign package with kernels, and of modules that they reach or not
    "room/__init__.py": "",
    "room/part.py": PART,
    "room/entry.py": ENTRY,
    "room/unused.py": "VALUE = 1\n",
    "elsewhere/__init__.py": "",
    "elsewhere/deep.py": "from numba import njit\n\n@njit\ndef deep(x):\n    return 1 * x\n",
    "constants.py": "FACTOR = 100\nOFFSET = 0\n",
    "stranger.py": "VALUE = 1\n",
}
RUN = """
from room.entry import entry, other
print(entry(1), other(1), sum(entry.stats.cache_hits.values()), sum(other.stats.cache_hits.values()))
"""


def write_room(folder):
    """Write the foreign package and what it imports."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder / "room"


@pytest.fixture
def room(tmp_path):
    """A foreign package with kernels."""
    return write_room(tmp_path)


@pytest.fixture(scope="module")
def first_run(tmp_path_factory, start_python):
    """A folder with the package and the cache of its first run."""
    folder = tmp_path_factory.mktemp("first")
    write_room(folder)
    result = start_python("-c", RUN, cwd=folder, path=[folder], **settings(folder / "cache"))
    assert result.stdout.split() == ["20", "200", "0", "0"]
    return folder


@pytest.fixture
def compiled_room(first_run, tmp_path):
    """A foreign package whose kernels are in the cache."""
    shutil.copytree(first_run, tmp_path, dirs_exist_ok=True)
    return tmp_path / "room"


def settings(cache):
    """The environment of a run.

    Python itself takes an edit within a second that keeps the size for no edit, unless there is no bytecode.
    """
    return {"EMBEDDINGS_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def run(tmp_path, python):
    """Run the kernels in a new process; returns their results and cache hits."""

    def run(code=RUN, cache=tmp_path / "cache"):
        return python("-c", code, path=[tmp_path], **settings(cache)).stdout.split()

    return run


def test_an_edit_of_a_called_function_recompiles(compiled_room, run):
    assert run() == ["20", "200", "1", "1"]
    (compiled_room / "part.py").write_text(PART.replace("+ 1", "+ 2"))
    assert run() == ["30", "300", "0", "0"]
    (compiled_room / "part.py").write_text(PART)
    assert run() == ["20", "200", "1", "1"], "the first generation is still cached"


@pytest.mark.parametrize(
    ("file", "old", "new", "results"),
    [
        ("elsewhere/deep.py", "1 * x", "2 * x", ["30", "300", "0", "0"]),
        pytest.param("constants.py", "FACTOR = 100", "FACTOR = 200", ["20", "400", "1", "0"], marks=pytest.mark.slow),
        pytest.param("constants.py", "OFFSET = 0", "OFFSET = 4", ["20", "204", "1", "0"], marks=pytest.mark.slow),
        pytest.param("room/entry.py", "+ const", "- 1 + const", ["20", "199", "0", "0"], marks=pytest.mark.slow),
        ("room/unused.py", "1", "2", ["20", "200", "0", "0"]),
    ],
)
def test_an_edit_of_the_package_or_of_what_it_reaches_recompiles(compiled_room, run, file, old, new, results):
    path = compiled_room.parent / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert run() == results


def test_an_edit_of_what_kernels_do_not_reach_changes_nothing(compiled_room, run):
    (compiled_room.parent / "stranger.py").write_text("VALUE = 2\n")
    assert run() == ["20", "200", "1", "1"]


OURS = """
import embeddings, numpy as np
from embeddings.kernels.line_operations import gather_lines
from room.entry import entry
words, lines = np.zeros(2, np.int32), np.zeros(2, np.int64)
gather_lines(np.arange(3, dtype=np.int32), np.array([1]), np.array([3]), words, lines)
print(embeddings.__file__, *words, entry(1))
"""


@pytest.mark.slow
def test_an_edit_of_our_kernels_recompiles_all_that_call_them(tmp_path, root, room, run):
    """Both `gather_lines`, in another file than `larger`, and a kernel of a foreign package."""
    ignored = shutil.ignore_patterns("__pycache__", "corpora", "eval", "plugins")
    shutil.copytree(root / "embeddings", tmp_path / "embeddings", ignore=ignored)
    entry = ENTRY.replace("room.part import part", "embeddings.kernels.integers import larger")
    (room / "entry.py").write_text(entry.replace("part(x)", "larger(x, 5)"))
    path, *first = run(OURS)
    assert path == str(tmp_path / "embeddings" / "__init__.py")
    assert first == ["1", "2", "50"]
    file = tmp_path / "embeddings" / "kernels" / "integers.py"
    changed = file.read_text().replace('select(">")', 'select("<")')
    assert changed != file.read_text()
    file.write_text(changed)
    assert run(OURS)[1:] == ["0", "1", "10"]


def test_kernels_run_without_a_cache_folder(room, run, tmp_path):
    (tmp_path / "file").write_text("")
    assert run(cache=tmp_path / "file" / "cache") == ["20", "200", "0", "0"]
    assert (tmp_path / "file").read_text() == ""


def test_a_cache_that_cannot_be_written_is_used(compiled_room, run, tmp_path):
    """As in a container whose image was prepared; nothing is unwritable to root, so the check says that it is."""
    for path in (tmp_path / "cache").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    code = "from embeddings.support import cache_folder\ncache_folder.create_writable = lambda path: None\n"
    assert run(code + RUN) == ["20", "200", "1", "1"]


class Harmful:
    """Creates the file `harm` when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("harm"),)


def spoil(cache):
    """Write harmful indexes into a cache."""
    for index in cache.rglob("*.nbi"):
        index.write_bytes(pickle.dumps(numba.__version__) + pickle.dumps(Harmful()))


SHOW_WARNINGS = "import logging\nlogging.basicConfig(format='%(message)s')\n"


@pytest.mark.parametrize("name", ["cache", pytest.param("*.nbi", marks=pytest.mark.slow)])
def test_a_cache_that_others_can_write_to_is_not_used(compiled_room, python, tmp_path, name):
    spoil(tmp_path / "cache")
    for path in tmp_path.rglob(name) if "*" in name else [tmp_path / name]:
        path.chmod(0o777)
        for folder in path.relative_to(tmp_path).parents[:-1]:  # else others cannot reach it
            (tmp_path / folder).chmod(0o755)
    result = python("-c", SHOW_WARNINGS + RUN, path=[tmp_path], EMBEDDINGS_CACHE=str(tmp_path / "cache"))
    assert result.stdout.split() == ["20", "200", "0", "0"]
    assert not (tmp_path / "harm").exists()
    assert f"other users can write to {tmp_path}/cache" in result.stderr
    assert "chmod" in result.stderr


def test_a_cache_of_another_user_is_not_used(compiled_room, python, tmp_path):
    spoil(tmp_path / "cache")
    code = "import os\nfrom embeddings.support import cache_folder\ncache_folder.ROOT_USER = os.getuid() + 1\n"
    code += "uid = os.getuid() + 2\nos.getuid = lambda: uid\n"
    result = python("-c", SHOW_WARNINGS + code + RUN, path=[tmp_path], EMBEDDINGS_CACHE=str(tmp_path / "cache"))
    assert result.stdout.split() == ["20", "200", "0", "0"]
    assert not (tmp_path / "harm").exists()
    assert f"{tmp_path}/cache belongs to another user; remove it, or set EMBEDDINGS_CACHE to a" in result.stderr


def test_a_private_cache_runs_what_it_contains(compiled_room, python, tmp_path):
    """So the tests above would notice if the folder was used."""
    spoil(tmp_path / "cache")
    python("-c", RUN, path=[tmp_path], EMBEDDINGS_CACHE=str(tmp_path / "cache"), check=False)
    assert (tmp_path / "harm").exists()


def write_generations(folder, days):
    """Write versions of a kernel that were last used the given numbers of days ago."""
    for name, age in enumerate(days):
        generation = folder / str(name)
        generation.mkdir(parents=True)
        (generation / "code").write_text("x")
        os.utime(generation, (time.time() - 86400 * age,) * 2)


@pytest.mark.parametrize(
    ("days", "kept"),
    [
        ([0.1 * number for number in range(MAX_GENERATIONS + 12)], [*range(MAX_GENERATIONS - 1), MAX_GENERATIONS + 11]),
        ([1, MAX_UNUSED_DAYS - 1, MAX_UNUSED_DAYS + 1, 10 * MAX_UNUSED_DAYS], [0, 1, 3]),
    ],
)
def test_the_latest_generations_are_kept(tmp_path, days, kept):
    write_generations(tmp_path / "kernel", days)
    write_generations(tmp_path / "other", [1000])
    remove_old_generations(tmp_path / "kernel" / str(len(days) - 1))
    assert {path.name for path in (tmp_path / "kernel").iterdir()} == set(map(str, kept))
    assert (tmp_path / "other" / "0" / "code").exists()


def test_a_new_generation_replaces_unused_ones(own_cache):
    (own_cache / "kernels").unlink()
    folder = own_cache / "kernels" / "kernel"
    write_generations(folder, [1, 1000])
    machine_code_cache.prepare_cache_folder.__wrapped__("kernel", "0")
    assert (folder / "1").exists(), "an ordinary start removes nothing"
    assert folder.joinpath("0").stat().st_mtime > time.time() - 3600, "the time of use is recorded"
    machine_code_cache.prepare_cache_folder.__wrapped__("kernel", "new")
    assert {path.name for path in folder.iterdir()} == {"0", "new"}


def kernel(x):
    return x + 1


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "no")])
def test_a_kernel_runs_although_it_cannot_be_saved(monkeypatch, tmp_path, error):
    compiled, saves = njit(kernel), []

    def fail(*args):
        saves.append(args)
        raise error

    monkeypatch.setattr(Index, "save", fail)
    compiled._cache = KernelCache(kernel, tmp_path, {})
    assert compiled(1) == 2
    assert len(saves) == 1


def test_our_kernels_have_this_cache():
    if isinstance(fill_block._cache, NullCache):
        pytest.skip("no cache folder can be written here")
    assert isinstance(fill_block._cache, KernelCache)


def test_compiled_code_can_be_carried_to_another_folder(compiled_room, run):
    """As to another machine of the same kind, where the sources have other paths and times."""
    for path in compiled_room.iterdir():
        os.utime(path, (10**9, 10**9))
    assert run() == ["20", "200", "1", "1"]


@pytest.mark.parametrize(("variable", "value"), [("NUMBA_DISABLE_JIT", "1"), ("NUMBA_NUM_THREADS", "0")])
def test_variables_with_which_kernels_cannot_run_are_named(python, variable, value):
    result = python("-m", "embeddings", "train", "skipgram", "text", "-o", "v", check=False, **{variable: value})
    assert result.returncode == 2
    assert result.stderr.startswith(f"Error: the environment variable {variable} ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_compiled_code_of_another_processor_is_not_used(compiled_room, run, python, tmp_path):
    env = {"EMBEDDINGS_CACHE": str(tmp_path / "cache"), "NUMBA_CPU_NAME": "generic"}
    assert python("-c", RUN, path=[tmp_path], **env).stdout.split() == ["20", "200", "0", "0"]
    assert python("-c", RUN, path=[tmp_path], **env).stdout.split() == ["20", "200", "1", "1"]
    assert run() == ["20", "200", "1", "1"], "both are kept"


OPERAND = """
from typing import NamedTuple
from embeddings.compilation.jit import implements, inline
from room.step import step

class Operand(NamedTuple):
    number: int

@implements(Operand)
@inline
def add(operand, x):
    return operand.number + x
"""
STEP = """
from embeddings.compilation.jit import dispatched, entry_point

@dispatched
def step(operand, x):
    raise NotImplementedError

@entry_point
def entry(operand, x):
    return 10 * step(operand, x)
"""
RUN_OPERAND = """
from room.operand import Operand
from room.step import entry, step
print(entry(Operand(1), 2), step(Operand(1), 2), sum(entry.stats.cache_hits.values()))
"""


@pytest.fixture
def operand_room(room):
    """A foreign package whose kernel, in another file, knows nothing of the operand that it is called with."""
    (room / "step.py").write_text(STEP)
    (room / "operand.py").write_text(OPERAND)
    return room


@pytest.mark.slow
def test_an_edit_of_the_implementation_for_an_operand_recompiles(operand_room, run):
    assert run(RUN_OPERAND) == ["30", "3", "0"]
    assert run(RUN_OPERAND) == ["30", "3", "1"], "a second process finds it"
    (operand_room / "operand.py").write_text(OPERAND.replace("number + x", "number - x"))
    assert run(RUN_OPERAND) == ["-10", "-1", "0"]
    (operand_room / "operand.py").write_text(OPERAND)
    assert run(RUN_OPERAND) == ["30", "3", "1"]


@pytest.mark.slow
def test_types_of_a_missing_module_do_not_spoil_the_cache(operand_room, run, python, tmp_path):
    """Another process that has no such module, or whose module has lost the class, uses the same kernel."""
    assert run(RUN_OPERAND) == ["30", "3", "0"]
    (operand_room / "operand.py").rename(operand_room / "another.py")
    assert run(RUN_OPERAND.replace("operand", "another")) == ["30", "3", "0"]
    (operand_room / "another.py").rename(operand_room / "operand.py")
    assert run(RUN_OPERAND) == ["30", "3", "1"]
    (operand_room / "operand.py").write_text(OPERAND.replace("Operand", "Renamed"))
    assert run(RUN_OPERAND.replace("Operand", "Renamed")) == ["30", "3", "0"]
