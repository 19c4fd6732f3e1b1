"""Ctrl-C, SIGTERM and SIGHUP."""

import os
import signal
import subprocess
import sys

import pytest
from commands import TEXT, expect, process
from platforms import needs_hangup

import embeddings as em


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", pytest.param("SIGHUP", marks=needs_hangup)])
def test_signals_wait_for_saving(name):
    script = """
import os, signal, sys
from embeddings.cli.signals import ignored_signals, interrupting_signals
with interrupting_signals(), ignored_signals():
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    print("written")
"""
    assert process(name, script=script).stdout == "written\n"


AT_CALL = """
import atexit, os, signal, sys
import embeddings.__main__ as command
at, calls = int(sys.argv.pop(1)), 0
def count(frame, event, argument):
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGINT)
atexit.register(lambda: print(calls, file=sys.stderr))
sys.setprofile(count)
command.main()
"""


FIRST_CALL = 200  # by then the handler is installed


def check_interrupts(moments, *command):
    """Interrupt a command at moments between the start of imports and the end of the process, by calls of functions."""
    process(*command)  # fills caches
    result = process(0, *command, script=AT_CALL)
    assert result.returncode == 0, result.stderr
    calls = int(result.stderr.splitlines()[-1])
    for number in range(moments):
        at = FIRST_CALL + (calls - FIRST_CALL) * number * 49 // (50 * (moments - 1))
        result = process(at, *command, script=AT_CALL)
        assert result.returncode == 130, (at, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.startswith("Interrupted")]
        assert lines[:1] == ["Interrupted"], (at, result.stderr)
        assert "Traceback" not in result.stderr, (at, result.stderr)
        assert "ignored" not in result.stderr, (at, result.stderr)


def test_ctrl_c_while_importing():
    check_interrupts(3, "--help")


AT_EXIT = """
import atexit, os, signal, time
import embeddings.__main__ as command
atexit.register(lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(60)))
command.main()
"""


def test_ctrl_c_after_a_command():
    result = process("--help", script=AT_EXIT)
    assert (result.returncode, result.stderr) == (130, "Interrupted\n")
    assert "Usage" in result.stdout


@pytest.mark.slow
def test_ctrl_c_at_any_moment(tmp_path):
    em.Vectors(["the", "king", "queen"], [[1, 0], [0, 1], [1, 1]]).save(tmp_path / "v.bin")
    check_interrupts(12, "neighbours", tmp_path / "v.bin", "the")
    (tmp_path / "text.txt").write_text(TEXT)
    check_interrupts(12, "vocabulary", tmp_path / "text.txt", "-o", tmp_path / "v.arrow", "--force")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="a signal does not end time.sleep")
def test_a_signal_that_comes_in_a_destructor_is_not_lost(name):
    script = f"""
import os, signal, time
from embeddings.cli.signals import interrupting_signals
class Object:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0)
with interrupting_signals() as signals:
    try:
        Object()
        time.sleep(60)
    except KeyboardInterrupt:
        print(128 + signals[-1])
"""
    result = process(script=script)
    assert (result.stdout, result.stderr) == ("130\n" if name == "SIGINT" else "143\n", "")


def test_an_error_in_a_destructor_is_still_reported():
    script = """
from embeddings.cli.signals import interrupting_signals
class Object:
    def __del__(self):
        raise OSError("no space")
with interrupting_signals():
    Object()
"""
    assert "no space" in process(script=script).stderr


def test_handlers_are_restored_after_a_command():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    expect("cache")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_the_result_is_flushed_and_a_broken_pipe_is_a_failure():
    code = "import sys; from embeddings.__main__ import finish; sys.stdout.write('x' * 1000); finish(0)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (result.returncode, len(result.stdout)) == (0, 1000)
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    pipe = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered)
    pipe.stdout.close()
    with pipe:
        assert pipe.stderr.read() == b""
    assert pipe.returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="a process gets no Ctrl-C alone")
def test_a_signal_that_is_ignored_as_by_nohup_stays_ignored():
    script = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
from embeddings.cli.signals import interrupting_signals
with interrupting_signals():
    os.kill(os.getpid(), signal.SIGTERM)
    print("continues")
"""
    assert process(script=script).stdout == "continues\n"
