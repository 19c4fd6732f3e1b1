"""A second process compiles kernels into the shared cache, and never outlives the first or disturbs it."""

import os
import signal
import sys
import time

import pytest
from platforms import needs_fork

from embeddings.compilation import compile_process
from embeddings.compilation.compile_process import CompileProcess, can_compile_in_fork
from embeddings.compilation.compile_time import compile_time

pytestmark = needs_fork


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def sleep(process):
    time.sleep(600)


def test_the_work_is_done_in_a_process_that_is_reaped(tmp_path):
    with CompileProcess() as compiler:
        compiler.start(lambda process: (tmp_path / "pid").write_text(str(os.getpid())))
        pid = compiler.pid
        compiler.wait()
        assert (tmp_path / "pid").read_text() == str(pid)
        assert not is_alive(pid)  # not even a zombie
    assert not compiler.pid


def test_stages_can_be_awaited_one_by_one(tmp_path):
    def work(process):
        (tmp_path / "first").touch()
        process.end_stage()
        while not process.is_awaited[0]:
            time.sleep(0.001)
        (tmp_path / "second").touch()

    with CompileProcess() as compiler:
        compiler.start(work)
        compiler.wait_for_stage()
        assert (tmp_path / "first").exists()
        compiler.wait()
        assert (tmp_path / "second").exists()


def test_waiting_counts_as_compilation():
    before = compile_time.seconds
    with CompileProcess() as compiler:
        compiler.start(lambda process: time.sleep(0.05))
        compiler.wait()
    assert compile_time.seconds - before > 0.02


def test_the_end_of_the_block_ends_the_process():
    pids = []

    def interrupt():
        with CompileProcess() as compiler:
            compiler.start(sleep)
            pids.append(compiler.pid)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert not is_alive(pids[0])


@pytest.mark.parametrize("work", [lambda process: 1 / 0, lambda process: os.kill(os.getpid(), 9)])
def test_a_process_that_fails_is_ignored_and_prints_nothing(work, capfd):
    with CompileProcess() as compiler:
        compiler.start(work)
        compiler.wait_for_stage()
        compiler.wait()
    assert capfd.readouterr() == ("", "")


def test_a_process_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(compile_process, "PATIENCE", 0.01)
    with CompileProcess() as compiler:
        compiler.start(sleep)
        pid = compiler.pid
        compiler.wait()
        assert not is_alive(pid)


def test_it_prints_nothing(capfd):
    with CompileProcess() as compiler:
        compiler.start(lambda process: os.write(1, b"text") + os.write(2, b"text"))
        compiler.wait()
    assert capfd.readouterr() == ("", "")


def test_it_ends_with_the_first_process(python, tmp_path):
    code = """
import os, time
from pathlib import Path
from embeddings.compilation.compile_process import CompileProcess
process = CompileProcess()
process.start(lambda process: (process.end_stage(), time.sleep(600)))
process.wait_for_stage()
print(process.pid, flush=True)
os._exit(0)
"""
    pid = int(python("-c", code).stdout)
    for _ in range(1000):
        if not is_alive(pid) or "Z" in stat(pid):  # whoever inherits it may not have reaped it yet
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("it outlives the process that started it")


def stat(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_nothing_to_compile_starts_no_process():
    with CompileProcess() as compiler:
        compiler.start(None)
        assert not compiler.pid
        compiler.wait_for_stage()
        compiler.wait()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("available_threads", lambda: 1),
        ("cache_folder", lambda *parts: None),
        ("threading", type("Threads", (), {"active_count": staticmethod(lambda: 2)})),
    ],
)
def test_it_is_used_only_where_it_is_safe_and_useful(monkeypatch, name, value):
    monkeypatch.setattr(compile_process, "available_threads", lambda: 2)
    monkeypatch.setattr(compile_process.threading, "active_count", lambda: 1)
    assert can_compile_in_fork()
    monkeypatch.setattr(compile_process, name, value)
    assert not can_compile_in_fork()


def test_other_systems_start_no_process(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert not can_compile_in_fork()
