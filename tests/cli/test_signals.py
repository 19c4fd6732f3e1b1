"""Ctrl-C, SIGTERM and SIGHUP."""

import os
import signal

import pytest
from commands import SMALL, TEXT, process

import embeddings as em
from embeddings.cli import signals


def test_ctrl_c_while_saving_is_ignored(capsys):
    before = signal.getsignal(signal.SIGINT)
    written = []
    with signals.ignored_signals():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        written.append("whole")
    assert written == ["whole"]
    assert signal.getsignal(signal.SIGINT) is before
    assert "Saving" in capsys.readouterr().err


def test_ctrl_c_interrupts_again_when_saving_failed():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(OSError, match="full"), signals.ignored_signals():
        raise OSError("full")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_that_end_a_run_save_the_result(tmp_path, name, code):
    """The signal comes with the first progress report, while the threads train."""
    (tmp_path / "text.txt").write_text(TEXT)
    script = f"""
import os, signal
from embeddings.cli import main, progress_bar
def end(self, progress):
    os.kill(os.getpid(), signal.{name})
progress_bar.TrainingBar.__call__ = end
main()
"""
    command = ["train", "skipgram", tmp_path / "text.txt", "-o", tmp_path / "v", *SMALL, "--epochs", "1000000"]
    result = process(*command, script=script)
    assert result.returncode == code, result.stderr
    assert "interrupted after" in result.stderr
    assert em.load(tmp_path / "v").words[0] == "the"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_wait_for_saving(name):
    script = """
import os, signal, sys
from embeddings.cli.signals import TerminationSignals, ignored_signals
TerminationSignals()
with ignored_signals():
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    print("written")
"""
    assert process(name, script=script).stdout == "written\n"


@pytest.mark.parametrize("is_ignored", [True, False])
def test_a_signal_that_nohup_ignores_stays_ignored(is_ignored):
    script = f"""
import os, signal
signal.signal(signal.SIGHUP, signal.{"SIG_IGN" if is_ignored else "SIG_DFL"})
from embeddings.cli.signals import TerminationSignals
TerminationSignals()
try:
    os.kill(os.getpid(), signal.SIGHUP)
    print("continues")
except KeyboardInterrupt:
    print("ends")
"""
    assert process(script=script).stdout == ("continues\n" if is_ignored else "ends\n")
