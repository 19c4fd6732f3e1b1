"""Records commands on a terminal as an animated picture: `python tools/terminal_recording.py`.

Runs COMMANDS in a new folder and writes docs/images/terminal.svg, which plays once and then shows everything. The
output is what the commands print, and it appears when they print it, but pauses are cut to LONGEST_PAUSE. All commands
run once before, to compile kernels. Use an otherwise idle machine, since the first command prints its speed.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "terminal.svg"
COMMANDS = (
    "embeddings train skipgram sample --epochs 10 -o vectors",
    "embeddings neighbours vectors music france --top 3",
    "embeddings evaluate vectors --similarity wordsim353",
)
COLUMNS = 94
LONGEST_PAUSE, KEY, READING = 0.8, 0.03, 1.5  # seconds: of silence, of a typed character, after a command
CELL, LINE, MARGIN, TITLE = 8.43, 19, 14, 28  # pixels, of a character 14 pixels high
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
Frame = tuple[float, list[str]]  # seconds from the start, and the lines on the screen


def output_of(command: str, folder: str) -> Iterator[tuple[float, str]]:
    """What a command writes to a terminal, as it comes: seconds since its start, and text."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    start = time.monotonic()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "TERM": "xterm"}
    with subprocess.Popen(command, shell=True, cwd=folder, stdout=end, stderr=end, env=environment):
        os.close(end)
        while True:
            try:
                data = os.read(terminal, 1 << 16)
            except OSError:  # how Linux says that nobody writes any more
                data = b""
            if not data:
                break
            yield time.monotonic() - start, data.decode("utf-8", "replace")
    os.close(terminal)


def written(lines: Sequence[str], text: str) -> list[str]:
    """The lines of a screen after a text with carriage returns was written to it; long lines are wrapped."""
    screen = list(lines)
    for part in re.split(r"(\r\n|\n|\r)", ESCAPE.sub("", text)):
        if part in ("\r\n", "\n"):
            screen.append("")
        elif part == "\r":
            screen[-1] = ""
        else:
            whole = screen.pop() + part
            screen += [whole[start : start + COLUMNS] for start in range(0, max(len(whole), 1), COLUMNS)]
    return screen


def record(commands: Sequence[str], folder: str) -> list[Frame]:
    """The frames of a session in which these commands are typed and run."""
    now, screen, frames = 0.0, [""], []
    for command in commands:
        for length in range(len(command) + 1):
            frames.append((now, [*screen[:-1], f"$ {command[:length]}"]))
            now += KEY
        screen, before = [*frames[-1][1], ""], 0.0
        for seconds, text in output_of(command, folder):
            now += min(seconds - before, LONGEST_PAUSE)
            screen, before = written(screen, text), seconds
            frames.append((now, screen))
        now += READING
    return [*frames, (now, [*screen[:-1], "$ "])]


def drawn(frames: Sequence[Frame]) -> str:
    """The frames as an SVG: a text for each state of a line, seen from when it appears until it is replaced."""
    total, height = frames[-1][0], max(len(lines) for _, lines in frames)
    shown: list[tuple[int, str, float, float]] = []  # line, text, from, until
    for row in range(height):
        changes: list[tuple[float, str]] = []
        for at, lines in frames:
            text = lines[row] if row < len(lines) else ""
            if not changes or changes[-1][1] != text:
                changes.append((at, text))
        ends = [*(at for at, _ in changes[1:]), float("inf")]
        shown += [(row, text, at, end) for (at, text), end in zip(changes, ends, strict=True) if text]
    styles, texts = [], []
    for number, (row, text, at, end) in enumerate(shown):
        first, last = 100 * at / total, 100 * min(end / total, 1)
        hidden, seen = "{visibility:hidden}", "{visibility:visible}"
        final = f"{last:.3f}%{hidden}100%{hidden}" if end < total else f"100%{seen}"
        styles.append(f"@keyframes f{number}{{0%{hidden}{first:.3f}%{seen}{final}}}")
        styles.append(f"#t{number}{{animation-name:f{number}{';visibility:hidden' if end < total else ''}}}")
        kind = "command" if text.startswith("$ ") else "output"
        y = TITLE + MARGIN + LINE * (row + 0.75)
        width = f'textLength="{CELL * len(text):.1f}" lengthAdjust="spacingAndGlyphs"'
        texts.append(f'<text id="t{number}" class="{kind}" x="{MARGIN}" y="{y:g}" {width}>{escape(text)}</text>')
    width, height = round(CELL * COLUMNS + 2 * MARGIN), TITLE + LINE * height + 2 * MARGIN
    dots = "".join(f'<circle cx="{18 + 18 * n}" cy="16" r="5" fill="#{c}"/>' for n, c in enumerate(DOTS))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f"<title>{escape('; '.join(COMMANDS))}</title>\n<style>\n{STYLE.format(total=total)}\n"
        + "\n".join(styles)
        + f'\n</style>\n<rect width="{width}" height="{height}" rx="8" fill="#1b2027"/>\n{dots}\n'
        + "\n".join(texts)
        + "\n</svg>\n"
    )


DOTS = ("ef6b5f", "f3bd4f", "61c454")
STYLE = """text {{ font: 14px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre;
  animation-duration: {total:.2f}s; animation-timing-function: step-end; animation-fill-mode: both }}
.command {{ fill: #ffffff; font-weight: bold }} .output {{ fill: #c9d4df }}
@media (prefers-reduced-motion: reduce) {{ text {{ animation: none }} }}"""

if __name__ == "__main__":
    for _ in range(2):
        with TemporaryDirectory() as place:
            recording = record(COMMANDS, place)
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(recording), encoding="utf-8")
