"""A few broken files of each reader and all faults of each writer; more by the scripts beside, and as slow tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is measured as Linux tells it"
)

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "training"))


def run(*args, timeout=3600):
    """A script beside; its output, if it found nothing."""
    done = subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def figures(output):
    """The rows of a table with a heading, as whole numbers by name."""
    heading, *rows = (line.split("\t") for line in output.splitlines() if "\t" in line)
    return {name: dict(zip(heading[1:], map(int, numbers), strict=True)) for name, *numbers in rows}


@pytest.mark.slow
def test_broken_files_are_read_or_refused():
    found = figures(run(HERE / "fuzz.py", "--cases", 12))
    assert found["all"]["cases"] == 12 * (len(found) - 1) >= 600
    assert found["all"]["refused"] > found["all"]["cases"] / 4
    assert found["all"]["read"] > 0


HOUR = pytest.mark.skipif("EMBEDDINGS_FUZZ" not in os.environ, reason="takes long: EMBEDDINGS_FUZZ=500 asks for it")


@pytest.mark.slow
@HOUR
def test_thousands_of_broken_files_are_read_or_refused():
    run(HERE / "fuzz.py", "--cases", os.environ["EMBEDDINGS_FUZZ"], "--seed", 2)


def test_every_format_is_among_them():
    from good_files import FORMAT_OPTIONS

    from embeddings.vectors import format_dispatch

    ours = {
        name for name in format_dispatch.names() if format_dispatch.load_format(name).read.__module__.startswith("embeddings.")
    }
    assert ours == {form.split()[0] for form in FORMAT_OPTIONS}


@pytest.mark.slow
def test_faults_of_writers_leave_the_old_or_the_new():
    found = figures(run(HERE / "faults.py", "format npy", "format projector", "model", "encoded corpus", "checkpoint"))
    assert all(row["refused"] and row["killed"] for row in found.values())


@pytest.mark.slow
@HOUR
def test_faults_of_all_writers_leave_the_old_or_the_new():
    found = figures(run(HERE / "faults.py"))
    assert all(row["refused"] and row["killed"] for row in found.values())


@pytest.mark.slow
@HOUR
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_is_killed_twenty_times_ends_as_one_that_never_was(threads):
    found = json.loads(run(HERE / "killing.py", "--threads", threads))
    assert found["kills"] == 20
    assert max(found["reached"]) > 0
    assert found["left behind"] == []
    if threads == 1:
        assert found["same bytes"]
    assert found["neighbours in common"] > 0.5
