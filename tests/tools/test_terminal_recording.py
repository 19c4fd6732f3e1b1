"""The recording of a terminal shows what commands print, and the picture ends with all of it."""

import re
import shlex
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("pty", reason="only POSIX has terminals of this kind")

import terminal_recording

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "terminal.svg"
TEXT = "{http://www.w3.org/2000/svg}text"


def test_lines_are_replaced_after_a_carriage_return():
    assert terminal_recording.written(["$ a", ""], "10 %\r\x1b[Kdone\r\nnext") == ["$ a", "done", "next"]
    width = terminal_recording.COLUMNS
    assert terminal_recording.written([""], "x" * (width + 1)) == ["x" * width, "x"]


def test_output_is_recorded_and_drawn(tmp_path):
    code = "import os, sys; print(sys.stdout.isatty(), os.get_terminal_size().columns, end='<&>\\n')"
    frames = terminal_recording.record([f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"], tmp_path)
    times = [at for at, _ in frames]
    assert times == sorted(times)
    assert frames[-1][1][1:] == [f"True {terminal_recording.COLUMNS}<&>", "$ "]
    picture = terminal_recording.drawn(frames)
    last = ElementTree.fromstring(picture).findall(TEXT)
    assert f"True {terminal_recording.COLUMNS}<&>" in [one.text for one in last]


def test_the_picture_shows_the_commands_and_stays_at_its_end():
    """Without animation, or after it, each line shows its last state only."""
    picture = PICTURE.read_text(encoding="utf-8")
    hidden = set(re.findall(r"#(t\d+)\{[^}]*visibility:hidden", picture))
    root = ElementTree.fromstring(picture)
    final = [one for one in root.findall(TEXT) if one.get("id") not in hidden]
    assert len({one.get("y") for one in final}) == len(final)
    typed = [unescape(one.text).removeprefix("$ ") for one in final if one.get("class") == "command"]
    assert [one for one in typed if one] == list(terminal_recording.COMMANDS)
