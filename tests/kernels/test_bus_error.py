"""Reading a mapped file beyond its end, after another program truncated it."""

import os
import signal

import pytest
from commands import SMALL, TEXT, process

from embeddings.kernels.bus_error import MESSAGE

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="no SIGBUS")
EXIT = 128 + getattr(signal, "SIGBUS", 0)
READ = """
import os, sys, threading
import numpy as np
from embeddings.kernels.bus_error import report_bus_errors
report_bus_errors()
np.save(sys.argv[1], np.zeros(1 << 20))
array = np.load(sys.argv[1], mmap_mode="r")
os.truncate(sys.argv[1], 200)
if sys.argv[2] == "thread":
    thread = threading.Thread(target=array.sum)
    thread.start()
    thread.join()
array.sum()
"""


@pytest.mark.parametrize("place", ["main", "thread"])
def test_one_line_and_an_exit_code(tmp_path, place):
    result = process(tmp_path / "a.npy", place, script=READ)
    assert (result.returncode, result.stderr) == (EXIT, MESSAGE.decode())


def test_another_handler_stays():
    script = """
import faulthandler, signal
from embeddings.kernels.bus_error import report_bus_errors
signal.signal(signal.SIGBUS, signal.SIG_IGN)
report_bus_errors()
signal.raise_signal(signal.SIGBUS)
print("continues")
"""
    assert process(script=script).stdout == "continues\n"


def test_training_on_a_truncated_corpus_ends_in_one_line(tmp_path):
    script = """
import os, sys
from pathlib import Path
from embeddings.cli import main, progress_bar
def truncate(self, progress, total=None):
    for path in Path(os.environ["TMPDIR"]).rglob("ids.npy") if not isinstance(progress, int) else ():
        os.truncate(path, 200)
progress_bar.Bar.__call__ = truncate
main()
"""
    command = ["train", "skipgram", "-", "-o", tmp_path / "v", *SMALL, "--epochs", "1000000"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    result = process(*command, script=script, env=environment, input=TEXT * 300)
    assert result.returncode == EXIT, result.stderr
    assert result.stderr.endswith(MESSAGE.decode())
    assert "Traceback" not in result.stderr
