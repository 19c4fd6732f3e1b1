"""Runs the command `embeddings`: in the process of the tests, or in one of its own."""

import subprocess
import sys

from click.testing import CliRunner, Result

from embeddings.cli import main

TEXT = "the king rules the land\nthe queen rules the land\nthe dog eats the bone\nthe cat eats the bone\n" * 50
SMALL = ["--dim", "10", "--epochs", "2", "--threads", "1"]


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
    lines = [line for line in result.stderr.splitlines() if not line.startswith(("read ", "measuring ", "compiling "))]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0].removeprefix("Error: ")


def table(stdout: str) -> list[dict[str, str]]:
    """The rows of a tab-separated table by column name."""
    header, *lines = (line.split("\t") for line in stdout.splitlines())
    return [dict(zip(header, line, strict=True)) for line in lines]


def process(*args: object, script: str = "", **kwargs: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, or a script that calls `main` with these arguments."""
    start = ["-c", script] if script else ["-m", "embeddings"]
    command = [sys.executable, *start, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **kwargs)
