"""Fixtures and hooks of all tests."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
import readers
from hypothesis import settings

from embeddings.support import cache_folder

ROOT = Path(__file__).parents[1]
settings.register_profile("ours", deadline=None)  # no test depends on the speed of a machine
settings.load_profile("ours")


def pytest_addoption(parser):
    parser.addoption("--readers", type=Path, help="record which library has read which format; see tests/readers.py")


def pytest_configure(config):
    for number in (getattr(signal, name, signal.SIGINT) for name in ("SIGINT", "SIGTERM", "SIGHUP")):
        if signal.getsignal(number) == signal.SIG_IGN:  # by a shell that runs pytest in the background; inherited
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of hundreds of processes compiles the package again
    sys.dont_write_bytecode = False  # and pytest rewrites the assertions of all tests in every run
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads of faiss that wait leave the cores to other tests
    if config.getoption("readers"):
        config.pluginmanager.register(readers.Readers(config.getoption("readers")))
    use_own_cache(config)


def use_own_cache(config):
    """Share the compiled kernels with other runs, but nothing else in the cache of the user."""
    root = Path(tempfile.mkdtemp(prefix="embeddings-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(root, ignore_errors=True))
    if share_kernels(root):
        os.environ[cache_folder.VARIABLE] = str(root)


def share_kernels(root):
    """Let another cache have the compiled kernels of the current one; False where that cannot be."""
    try:
        (root / "kernels").symlink_to(cache_folder.cache_folder("kernels").resolve())
    except (AttributeError, OSError):  # no folder can be written to, or Windows refuses links
        return False
    return True


@pytest.fixture(scope="module", autouse=True)
def small_cache():
    """Remove the cached corpora of each file of tests."""
    yield
    folder = cache_folder.existing_folder("corpora")
    if folder and any(folder.iterdir()):
        from embeddings.corpora import corpus_cache

        cache_folder.evict(corpus_cache.list_entries(folder), 0, corpus_cache.remove)


def pytest_make_parametrize_id(config, val, argname):
    """Number cases of bytes: compressed bytes contain a time, but all workers must collect the same names."""
    return argname if isinstance(val, bytes) else None


def pytest_runtest_setup(item):
    readers.record_marks(item)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """The folder of a cache that is empty but for compiled kernels."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    share_kernels(folder)
    monkeypatch.setenv(cache_folder.VARIABLE, str(folder))
    return folder


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that lays out a package with a plugin as an installer does, and returns its folder."""

    def lay(name, entries, module="", version="1.0", group="embeddings.trainers"):
        site = tmp_path / f"site-{name}-{version}"
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{entries}\n")
        if module:
            (site / f"{name}_module.py").write_text(module)
            monkeypatch.delitem(sys.modules, f"{name}_module", raising=False)  # of another test
        monkeypatch.syspath_prepend(site)
        return site

    return lay


@pytest.fixture(scope="session")
def root():
    """The folder of the checkout."""
    return ROOT


@pytest.fixture
def python(tmp_path, start_python):
    """A function that runs Python with arguments in a new process outside the checkout."""
    return partial(start_python, cwd=tmp_path)


@pytest.fixture(scope="session")
def start_python():
    """A function that runs Python with arguments in a new process in a folder, for fixtures of modules."""

    def run(*args, cwd, check=True, path=(), **env):
        search = os.pathsep.join([*map(str, path), *filter(None, [os.environ.get("PYTHONPATH")])])
        result = subprocess.run(
            [sys.executable, *map(str, args)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": search, **env},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result

    return run
