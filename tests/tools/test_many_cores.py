"""The speed of all that has threads is measured with several numbers of threads, until the time is over."""

import os
import subprocess
import sys

import many_cores
import pytest

TEXT = "\n".join(" ".join(f"w{number % 30}" for number in range(row, row + 40)) for row in range(100))

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="cores are limited by the affinity of Linux"
)


def table(tmp_path, *options):
    """The rows of the table of a run."""
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    command = [sys.executable, many_cores.__file__, str(text), *options]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_row_has_a_speed_for_each_number_of_threads(tmp_path):
    header, _, encoding, embed = table(tmp_path, "--threads", "1", "2", "--only", "encoding", "embed")
    assert header == ["work", "a second", "1", "2"]
    assert (encoding[:2], embed[:2]) == (["encoding", "words"], ["embed", "texts"])
    assert all("(" in cell for cell in encoding[2:] + embed[2:])


def test_nothing_is_measured_when_the_time_is_over(tmp_path):
    assert len(table(tmp_path, "--threads", "1", "--seconds", "0")) == 2
