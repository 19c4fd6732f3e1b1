"""The rooms in CONTRIBUTING.md are those that the code has now, and a training run makes its stops."""

import subprocess
import sys

import architecture

TRACE = """
import sys, threading
from embeddings import cli

stops = sys.argv[1:]
def note(frame, event, argument):
    if event == "call" and stops and f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}" == stops[0]:
        stops.pop(0)
threading.setprofile(note)
sys.setprofile(note)
try:
    cli.main(["train", "skipgram", "text.txt", "-o", "model", "--dim", "8", "--threads", "1", "--quiet"])
except SystemExit as stop:
    sys.setprofile(None)
    assert not stop.code
assert not stops, f"{stops[0]} is not called after the stops before it"
"""


def test_the_page_is_that_of_the_code():
    page = architecture.PAGE.read_text(encoding="utf-8")
    assert architecture.drawn(page) == page, "run `python tools/architecture.py`"


def test_a_pair_that_follows_from_others_is_not_drawn(monkeypatch):
    imports = {"top": {"middle", "bottom"}, "middle": {"bottom"}, "bottom": set()}
    monkeypatch.setattr(architecture, "layers", lambda: [["top"], ["middle"], ["bottom"]])
    assert architecture.direct(imports) == [("top", "middle"), ("middle", "bottom")]


def test_a_training_run_makes_the_stops_in_this_order(tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat\n" * 50)  # a new file, which no cache holds
    command = [sys.executable, "-c", TRACE, *architecture.STOPS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
