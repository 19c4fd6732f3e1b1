"""Runs the command `embeddings`: in the process of the tests, or in one of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from embeddings.cli import main

TEXT = "the king rules the land\nthe queen rules the land\nthe dog eats the bone\nthe cat eats the bone\n" * 50
SMALL = ["--dim", "10", "--epochs", "2", "--threads", "1"]
MODEL = ["--min-count", "1", *SMALL]  # of all words of a short text


def run(*args: object, stdin: bytes | None = None) -> Result:
    """Run a command, however it ends."""
    return CliRunner().invoke(main, [*map(str, args)], input=stdin)


def expect(*args: object, code: int = 0, stdin: bytes | None = None) -> Result:
    """Run a command that must end with this exit code."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == code, result.output
    return result


def refused(*args: object, code: int) -> str:
    """The error message, one line, of a command that must fail with this exit code and print nothing."""
    result = expect(*args, code=code)
    assert result.stdout == ""
    notes = ("read ", "measuring ", "compiling ", "simlex999 is left out")
    lines = [line for line in result.stderr.splitlines() if not line.startswith(notes)]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0].removeprefix("Error: ")


def table(stdout: str) -> list[dict[str, str]]:
    """The rows of a tab-separated table by column name."""
    header, *lines = (line.split("\t") for line in stdout.splitlines())
    return [dict(zip(header, line, strict=True)) for line in lines]


def first_table(stdout: str) -> list[dict[str, str]]:
    """The first of several tables with an empty line between them."""
    return table(stdout.split("\n\n")[0])


def write_labelled_lines(path: Path, count: int, seed: int) -> None:
    """Write texts in fastText's layout, half of whose words tell which of three labels they have."""
    rng, lines = np.random.default_rng(seed), []
    for number in range(count):
        label = "abc"[number % 3]
        lines.append(f"__label__{label} " + " ".join(f"{rng.choice(['x', label])}{rng.integers(40)}" for _ in range(6)))
    path.write_text("\n".join(lines) + "\n")


def process(*args: object, script: str = "", **kwargs: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, or a script that calls `main` with these arguments."""
    start = ["-c", script] if script else ["-m", "embeddings"]
    command = [sys.executable, *start, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **kwargs)
