"""What several test files use."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import readers
from hypothesis import settings

ROOT = Path(__file__).parents[1]
settings.register_profile("ours", deadline=None)  # no test depends on the speed of a machine
settings.load_profile("ours")


def pytest_addoption(parser):
    parser.addoption("--readers", type=Path, help="write there who has read which format; see tests/readers.py")


def pytest_configure(config):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # ignored where a shell runs this beside other work,
        if signal.getsignal(number) == signal.SIG_IGN:  # and then by all that is started here
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # hundreds of processes would compile the package anew, each of them
    if config.getoption("readers"):
        config.pluginmanager.register(readers.Readers(config.getoption("readers")))


def pytest_make_parametrize_id(config, val, argname):
    """Cases of bytes are counted: packed bytes hold the second they were made, and workers must collect the same."""
    return argname if isinstance(val, bytes) else None


def pytest_runtest_setup(item):
    readers.note(item)


@pytest.fixture(scope="session")
def root():
    """The folder of the checkout."""
    return ROOT


@pytest.fixture
def python(tmp_path):
    """Run code or arguments in a fresh Python, outside the checkout; gives the finished process."""

    def run(*args, check=True, cwd=tmp_path, path=(), **env):
        search = os.pathsep.join([*map(str, path), *filter(None, [os.environ.get("PYTHONPATH")])])
        found = subprocess.run(
            [sys.executable, *map(str, args)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": search, **env},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert not check or found.returncode == 0, found.stdout + found.stderr
        return found

    return run
