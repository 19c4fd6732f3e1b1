"""Locks of files and folders between processes."""

import os
import subprocess
import sys

import pytest
from platforms import needs_locks

from embeddings.support.files import acquire_shared, exclusive_lock, is_unlocked

pytestmark = needs_locks
HOLD = """
import sys
from pathlib import Path
from embeddings.support import files
descriptor = files.acquire_shared(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "lock").touch()
    return tmp_path / "lock"


def test_a_shared_lock_lasts_until_its_process_ends(file):
    assert is_unlocked(file)
    with subprocess.Popen([sys.executable, "-c", HOLD, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"locked\n"
        assert not is_unlocked(file)
        descriptor = acquire_shared(file)
        assert descriptor is not None  # others may share it
        os.close(descriptor)
        process.kill()
    assert is_unlocked(file)


def test_what_is_missing_or_replaced_has_no_lock(file, monkeypatch):
    assert acquire_shared(file.with_name("missing")) is None
    assert is_unlocked(file.with_name("missing"))
    real_open, other = os.open, file.with_name("other")
    other.touch()

    def open_and_replace(*arguments):
        descriptor = real_open(*arguments)
        other.replace(file)
        return descriptor

    monkeypatch.setattr(os, "open", open_and_replace)
    assert acquire_shared(file) is None


def test_an_exclusive_lock_of_a_folder(tmp_path):
    with exclusive_lock(tmp_path):
        assert not is_unlocked(tmp_path)
    assert is_unlocked(tmp_path)
    with exclusive_lock(tmp_path / "missing"):
        pass
