"""What several test files use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


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
