"""Measured processes of a benchmark."""

import os
import sys

import pytest
from platforms import needs_wait4

from embeddings.errors import OutputError
from embeddings.eval.benchmark import workspace
from embeddings.eval.benchmark.runner import Benchmark

pytestmark = needs_wait4


def test_cpu_is_counted_with_children():
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    assert workspace.run([sys.executable, "-c", code], os.environ).cpu >= 0.3


def test_memory_is_that_of_the_process_itself():
    held = bytearray(200_000_000)
    small = workspace.run([sys.executable, "-c", "import time; time.sleep(0.2)"], os.environ)
    large = workspace.run([sys.executable, "-c", "import time; a = b'x' * 60_000_000; time.sleep(0.2)"], os.environ)
    if small.private is not None:
        assert small.peak < len(held) / 2
        assert large.private >= 60_000_000
        assert small.private < 60_000_000
    assert large.peak >= 60_000_000


def test_ctrl_c_kills_the_running_command(python):
    code = """
import os, signal, sys, threading
from embeddings.eval.benchmark import workspace
threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
workspace.run([sys.executable, "-c", "import time; time.sleep(3600)"], os.environ)
"""
    done = python("-c", code, check=False)  # in 600 s at most
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"


def test_an_error_is_the_last_line_or_the_signal():
    failed = workspace.run([sys.executable, "-c", "raise RuntimeError('too  bad')"], os.environ)
    assert failed.error == "RuntimeError: too bad"
    killed = workspace.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], os.environ)
    assert killed.error == "killed by SIGKILL"


def test_invalid_folders_are_refused(tmp_path):
    with pytest.raises(OutputError, match="nowhere is not a folder"):
        Benchmark([], [], tmp_path / "nowhere" / "results").prepare_folder()
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"file is not a folder$"):
        Benchmark([], [], tmp_path / "file").prepare_folder()
